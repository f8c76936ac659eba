"""What came of a sweep, computed and drawn in a thread: one section for each question."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from html import escape
from typing import Any

from mklviz.engine.task import ProgressReport
from mklviz.errors import MklvizError
from mklviz.sweeps import SweepTable
from mklviz.sweeps.statistics import Outcomes, growths, paired_differences, spreads
from mklviz.sweeps.statistics.growth import Along
from mklviz.views.look.palette import Theme, swatch
from mklviz.views.look.styles import written_styles
from mklviz.views.pictures.style import HEIGHT, in_card
from mklviz.views.pictures.sweep_pictures import (
    draw_growth,
    draw_profile,
    draw_spread,
    growth_label,
    profile_label,
    profile_of,
    spread_points,
)
from mklviz.views.sweeps.sweep_text import difference_table, runs_sentence, spread_table

__all__ = ["SweepResults", "SweepSection", "results_of"]

_BARE = {"show_legend": False, "height": HEIGHT}  # the legend stands above the figure, where it has room
_PROFILE = (
    "The share of cases (data, split and settings) that a solver solves at up to so many times the least cost; at the"
    " left end that in which it is best. The order of two may change with the others: compare with one solver."
)
_SPREAD = (
    "Dots: runs, one for each split; click one to open its race in all tabs. Bar: the middle half. Marker: the median."
    " Hollow: did not converge."
)
_GROWTH = "On log scales a cost that grows as n to the power b is a line of slope b. Band: from runs drawn again."
_MEANS = "Mean and standard deviation over splits, of the runs that converged."
_PAIRS = "On the same data, split and settings. Bold: the interval does not hold what equal solvers would have."


@dataclass(frozen=True)
class SweepSection:
    """One question and its answer: a figure with a legend in HTML, a table in HTML, or why there is neither.

    `points`: where the figure shows runs that can be opened, each with the place of its case.
    """

    title: str
    why: str
    figure: Any = None
    legend: str = ""
    table: str = ""
    refused: str = ""
    points: tuple[tuple[float, float, int], ...] = ()


@dataclass(frozen=True)
class SweepResults:
    """All sections, the solvers they compare, and the words above them.

    `races`: what the members of each case share, by the case's name, in the order of `SweepSection.points`.
    """

    words: str
    solvers: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    sections: tuple[SweepSection, ...] = ()
    races: Mapping[str, str] = field(default_factory=dict)


def results_of(
    table: SweepTable, measure: str | None, against: str, theme: Theme, report: ProgressReport
) -> SweepResults:
    """Compute and draw what came of the members that have finished."""
    outcomes = Outcomes.of(table, measure)
    asked = _Asked(outcomes, against if against in outcomes.solvers else "", theme)
    questions: tuple[tuple[str, str, Callable[[], dict[str, Any]]], ...] = (
        ("Performance profile", _PROFILE, asked.profile),
        ("Spread over splits", _SPREAD, asked.spread),
        ("Means", f"{outcomes.words[0].upper()}{outcomes.words[1:]}. {_MEANS}", asked.means),
        ("Two by two", _PAIRS, asked.pairs),
        ("Growth with samples", _GROWTH, partial(asked.growth, "samples")),
        ("Growth with kernels", _GROWTH, partial(asked.growth, "kernels")),
    )
    sections = []
    for place, (title, why, answer) in enumerate(questions):
        report(place / len(questions), f"Drawing: {title.lower()}.")
        sections.append(_section(title, why, answer))
    none = [each for each in sections if each.title.startswith("Growth") and each.refused]
    if len(none) == 2:  # one of them says it
        sections.remove(none[1])
    labels = tuple(style.label for style in asked.styles.values())
    names = (f"{case.title}, split {case.split}" for case in outcomes.cases)
    races = dict(zip(names, dict.fromkeys(member.race for member, _ in table), strict=True))
    return SweepResults(runs_sentence(outcomes), outcomes.solvers, labels, tuple(sections), races)


class _Asked:
    """The questions, each answered by what a section has."""

    def __init__(self, outcomes: Outcomes, against: str, theme: Theme) -> None:
        self.outcomes, self.against, self.theme = outcomes, against, theme
        self.styles = written_styles(outcomes.solvers, theme)

    def profile(self) -> dict[str, Any]:
        profile = profile_of(self.outcomes, self.against)
        legend = {solver: profile_label(profile, solver, self.styles[solver]) for solver in profile.solvers}
        return self._figure(draw_profile(self.outcomes, self.theme, self.against, **_BARE), legend)

    def spread(self) -> dict[str, Any]:
        legend = {solver: style.label for solver, style in self.styles.items()}
        figure = self._figure(draw_spread(self.outcomes, self.theme, show_legend=False), legend)
        return {**figure, "points": tuple(spread_points(self.outcomes))}

    def growth(self, along: Along) -> dict[str, Any]:
        curves = growths(self.outcomes, along) if self.outcomes.measure.cost else []
        legend = {each.solver: growth_label(each, self.styles[each.solver], along) for each in curves}
        return self._figure(draw_growth(self.outcomes, self.theme, along, **_BARE), legend)

    def means(self) -> dict[str, Any]:
        return {"table": spread_table(spreads(self.outcomes), self.styles, self.outcomes.measure)}

    def pairs(self) -> dict[str, Any]:
        differences = paired_differences(self.outcomes, self.against)
        if not differences:
            return {"refused": "There is one solver: two are needed."}
        return {"table": difference_table(differences, self.styles, self.outcomes.measure)}

    def _figure(self, picture: Any, legend: Mapping[str, str]) -> dict[str, Any]:
        entries = (f"<span>{swatch(self.styles[solver])}{escape(words)}</span>" for solver, words in legend.items())
        return {"figure": in_card(picture), "legend": f'<div class="legend">{"".join(entries)}</div>'}


def _section(title: str, why: str, answer: Callable[[], dict[str, Any]]) -> SweepSection:
    try:
        return SweepSection(title, why, **answer())
    except MklvizError as error:
        return SweepSection(title, why, refused=str(error))
