"""A paper's values beside ours: for each data set a ring, and dots with intervals by either stop rule, as one chart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from mklviz.reproduce import ClaimAnswer, ClaimRow, Estimate, PaperClaim
from mklviz.reproduce.estimates import ALL_DATA
from mklviz.reproduce.texts import VERDICT_SIGNS, estimate_text
from mklviz.views.chart.axes import axis_span
from mklviz.views.chart.description import Axis, Chart, LineMark, Mark, PointMark, Scale, Table, Tables
from mklviz.views.look.palette import Theme

__all__ = ["claim_chart", "claim_height", "claim_signs", "claim_tables"]

_BESIDE = 0.2  # of a row lies what has no bound of its own above the middle, and the certified value below
_TIPS = (("", "@title"), ("", "@text"))


def claim_signs(answer: ClaimAnswer) -> tuple[tuple[str, str], ...]:
    """Return the markers that the chart of an answer draws, as text, and what they are."""
    ours = "ours, certified" if _certified_alone(answer.claim) else "ours, by the paper's stop rule"
    signs = {"paper": ("○", "the paper's value"), "ours": ("●", ours), "certified": ("◇", "ours, certified")}
    tables = claim_tables(answer)
    return tuple(sign for name, sign in signs.items() if tables[name]["x"])


def _certified_alone(claim: PaperClaim) -> bool:
    """Return whether one stop rule is both."""
    return claim.paper_rule in ("", claim.certified_rule)


def claim_height(answer: ClaimAnswer) -> int:
    """Return how high the chart of an answer is, pixels."""
    return 50 + 31 * max(len(answer.rows), 2)


def claim_chart(answer: ClaimAnswer, theme: Theme) -> Chart:
    """Describe what came of a claim that has rows."""
    size = theme.scale
    ring = PointMark("paper", colour=theme.text, size=14.0 * size, width=2.0 * size, tips=_TIPS)
    dot = PointMark("ours", colour=theme.accent, fill=theme.accent, size=8.0 * size, tips=_TIPS)
    diamond = PointMark(
        "certified", colour=theme.accent, fill=theme.card, marker="diamond", size=11.0 * size, width=2.0, tips=_TIPS
    )
    spans = [LineMark(f"{of}-spans", colour=theme.accent, width=2.0 * size, many=True) for of in ("ours", "certified")]
    even = LineMark("even", colour=theme.muted, dash="dashed", width=1.2)
    marks: list[Mark] = [even, *spans, dot, diamond, ring]
    up = Axis(start=-0.6, end=len(answer.rows) - 0.4, names=_names(_upwards(answer)))
    label = "" if answer.claim.quantity is None else answer.claim.quantity.label
    return Chart("claim", f"{label[:1].upper()}{label[1:]}", _along(answer), up, marks)


def _names(rows: Sequence[ClaimRow]) -> list[str]:
    """Return the titles of rows behind the signs of their verdicts; of one data set with settings these alone."""
    alone = len({row.title.partition(", ")[0] for row in rows}) == 1
    titles = [row.title.rpartition(", ")[2] if alone else row.title for row in rows]
    return [f"{VERDICT_SIGNS[row.verdict]} {title}" for row, title in zip(rows, titles, strict=True)]


def _along(answer: ClaimAnswer) -> Axis:
    """Return the axis of the values, with room for all of a marker at its ends."""
    quantity = answer.claim.quantity
    assert quantity is not None
    scale: Scale = "log" if quantity.even == 1.0 else "linear"
    axis = Axis(scale=scale)
    tables = claim_tables(answer)
    drawn = [*tables["even"]["x"], *(value for name in ("paper", "ours", "certified") for value in tables[name]["x"])]
    drawn += [end for name in ("ours-spans", "certified-spans") for ends in tables[name]["x"] for end in ends]
    start, end = axis_span([value for value in drawn if axis.shows(value)], axis, 0.1)
    return replace(axis, start=start, end=end)


def claim_tables(answer: ClaimAnswer) -> Tables:
    """Return what the chart of an answer draws; ours is certified already where the paper's rule is that."""
    claim, rows = answer.claim, _upwards(answer)
    published = [Estimate(row.published) for row in rows]
    ours, certified = [row.by_paper_rule for row in rows], [row.certified for row in rows]
    if _certified_alone(claim):
        certified = [Estimate() for _ in rows]
    even = math.nan if claim.quantity is None else claim.quantity.even
    return {
        "paper": _points(claim, rows, published, "the paper: ", _BESIDE),
        "ours": _points(claim, rows, ours, "ours: ", _BESIDE),
        "certified": _points(claim, rows, certified, "ours, certified: ", -_BESIDE),
        "ours-spans": _spans(ours, _BESIDE),
        "certified-spans": _spans(certified, -_BESIDE),
        "even": {"x": [even, even], "y": [-0.6, len(rows) - 0.4]},
    }


def _upwards(answer: ClaimAnswer) -> list[ClaimRow]:
    """Return the rows from the lowest to the highest: data sets as they are listed, and above them all together."""
    return [*answer.rows][::-1] if answer.rows[-1].title != ALL_DATA else [*answer.rows[-2::-1], answer.rows[-1]]


def _points(claim: PaperClaim, rows: Sequence[ClaimRow], values: Sequence[Estimate], who: str, up: float) -> Table:
    drawn = [(k, row, one) for k, (row, one) in enumerate(zip(rows, values, strict=True)) if math.isfinite(one.value)]
    return {
        "x": [one.value for _, _, one in drawn],
        "y": [k + up for k, _, _ in drawn],
        "title": [row.title for _, row, _ in drawn],
        "text": [who + estimate_text(claim, one) for _, _, one in drawn],
    }


def _spans(values: Sequence[Estimate], up: float) -> Table:
    ends = [(one.low, one.high) for one in values]
    kept = [(k, low, high) for k, (low, high) in enumerate(ends) if math.isfinite(low) and math.isfinite(high)]
    return {"x": [[low, high] for _, low, high in kept], "y": [[k + up, k + up] for k, _, _ in kept]}
