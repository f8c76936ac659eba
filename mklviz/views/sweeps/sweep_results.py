"""What came of a sweep, computed and drawn in a thread: one section for each question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mklviz.engine.task import ProgressReport
from mklviz.errors import MklvizError
from mklviz.sweeps.statistics import Outcomes, paired_differences, spreads
from mklviz.views.look.palette import Theme
from mklviz.views.look.styles import written_styles
from mklviz.views.pictures.growth import draw_growth
from mklviz.views.pictures.profile import draw_profile
from mklviz.views.pictures.spread import draw_spread
from mklviz.views.pictures.style import rendered
from mklviz.views.sweeps.sweep_text import difference_table, runs_said, spread_table

__all__ = ["SweepResults", "SweepSection", "results_of"]

_PROFILE = (
    "The share of cases, a data set with its split and settings, that a solver solves at up to so many times the least"
    " cost. At the left end it is the share in which it is best. Compare with one solver to see pairs: the order of two"
    " may change with the others."
)
_SPREAD = "Dots: runs, one for each split. Bar: the middle half. Marker: the median. Hollow: did not converge."
_GROWTH = "On log scales a cost that grows as n to the power b is a line of slope b. Band: from runs drawn again."
_MEANS = "Mean and standard deviation over splits, of the runs that converged."
_PAIRS = "On the same data, split and settings. Bold: the interval does not hold what equal solvers would have."


@dataclass(frozen=True)
class SweepSection:
    """One question and its answer: a figure, a table in HTML, or the reason why there is neither."""

    title: str
    why: str
    figure: Any = None
    table: str = ""
    refused: str = ""


@dataclass(frozen=True)
class SweepResults:
    """All sections, the solvers they compare, and what is said above them."""

    words: str
    solvers: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    sections: tuple[SweepSection, ...] = ()


def results_of(table: Any, measure: str | None, against: str, theme: Theme, report: ProgressReport) -> SweepResults:
    """Compute and draw what came of the members that have finished."""
    outcomes = Outcomes.of(table, measure)
    report(0.1, "Comparing the runs.")
    styles = written_styles(outcomes.solvers, theme)
    against = against if against in outcomes.solvers else ""

    def drawn(draw: Callable[..., Any], *arguments: Any) -> Callable[[], dict[str, Any]]:
        return lambda: {"figure": rendered(draw(outcomes, theme, *arguments))}

    def means() -> dict[str, Any]:
        return {"table": spread_table(spreads(outcomes), styles, outcomes.measure)}

    def pairs() -> dict[str, Any]:
        found = paired_differences(outcomes, against)
        if not found:
            return {"refused": "There is one solver: two are needed."}
        return {"table": difference_table(found, styles, outcomes.measure)}

    questions: tuple[tuple[str, str, Callable[[], dict[str, Any]]], ...] = (
        ("Performance profile", _PROFILE, drawn(draw_profile, against)),
        ("Spread over splits", _SPREAD, drawn(draw_spread)),
        ("Means", f"{outcomes.words[0].upper()}{outcomes.words[1:]}. {_MEANS}", means),
        ("Two by two", _PAIRS, pairs),
        ("Growth with samples", _GROWTH, drawn(draw_growth, "samples")),
        ("Growth with kernels", _GROWTH, drawn(draw_growth, "kernels")),
    )
    sections = []
    for place, (title, why, answer) in enumerate(questions):
        report((1 + place) / (1 + len(questions)), f"Drawing: {title.lower()}.")
        sections.append(_section(title, why, answer))
    labels = tuple(style.label for style in styles.values())
    return SweepResults(runs_said(outcomes), outcomes.solvers, labels, tuple(sections))


def _section(title: str, why: str, answer: Callable[[], dict[str, Any]]) -> SweepSection:
    try:
        return SweepSection(title, why, **answer())
    except MklvizError as error:
        return SweepSection(title, why, refused=str(error))
