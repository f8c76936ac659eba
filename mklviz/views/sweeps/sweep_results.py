"""What came of a sweep, computed and drawn in a thread: one section for each question."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from html import escape
from typing import Any

import panel as pn
from bokeh.models import LogScale

from mklviz.engine.task import ProgressReport
from mklviz.errors import MklvizError
from mklviz.record import Trace
from mklviz.record.store import Store
from mklviz.sweeps import SweepTable
from mklviz.sweeps.intervals import Along, growths, paired_differences, spreads
from mklviz.sweeps.outcomes import Outcomes
from mklviz.views.look import cards
from mklviz.views.look.palette import Theme, swatch
from mklviz.views.look.styles import written_styles
from mklviz.views.model.model_card import adopt
from mklviz.views.pictures import sweep_pictures
from mklviz.views.pictures.style import HEIGHT, WIDTH, in_card
from mklviz.views.sweeps.sweep_setup import difference_table, runs_sentence, spread_table

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
    """A question with its answer: a figure and a legend, a table, or why there is neither; `points` can be opened."""

    title: str
    why: str
    figure: Any = None
    legend: str = ""
    table: str = ""
    refused: str = ""
    points: tuple[tuple[float, float, int], ...] = ()


@dataclass(frozen=True)
class SweepResults:
    """All sections, the solvers they compare, the words above them, and the `races` of their points, in that order."""

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
        profile = sweep_pictures.profile_of(self.outcomes, self.against)
        legend = {
            solver: sweep_pictures.profile_label(profile, solver, self.styles[solver]) for solver in profile.solvers
        }
        return self._figure(sweep_pictures.draw_profile(self.outcomes, self.theme, self.against, **_BARE), legend)

    def spread(self) -> dict[str, Any]:
        legend = {solver: style.label for solver, style in self.styles.items()}
        figure = self._figure(sweep_pictures.draw_spread(self.outcomes, self.theme, show_legend=False), legend)
        return {**figure, "points": tuple(sweep_pictures.spread_points(self.outcomes))}

    def growth(self, along: Along) -> dict[str, Any]:
        curves = growths(self.outcomes, along) if self.outcomes.measure.cost else []
        legend = {each.solver: sweep_pictures.growth_label(each, self.styles[each.solver], along) for each in curves}
        return self._figure(sweep_pictures.draw_growth(self.outcomes, self.theme, along, **_BARE), legend)

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


# The sections of a sweep's results, each a card: figures change in place where they can.

NEAR = 12.0  # pixels, where a figure is as wide as usual


class ResultsView(cards.Rooted):
    """The figures two in a row, and the tables below them; `pick` takes the place of a case that was clicked."""

    def __init__(self, pick: Callable[[int], None]) -> None:
        super().__init__()
        self._pick = pick
        self.results = SweepResults("")
        self._cards: dict[str, _SectionCard] = {}  # by the title
        self._figures = cards.grid(columns="auto-fit, minmax(min(400px, 100%), 1fr)")
        self._tables = pn.Column(margin=0, sizing_mode="stretch_width")
        self.root = pn.Column(self._figures, self._tables, margin=0, sizing_mode="stretch_width")

    def show(self, results: SweepResults) -> None:
        self.results = results
        self._cards = {each.title: self._renewed(each) for each in results.sections}
        for box, drawn in ((self._figures, True), (self._tables, False)):
            objects = [each.root for each in self._cards.values() if (each.figure is not None) == drawn]
            if objects != list(box.objects):
                box.objects = objects

    def _renewed(self, section: SweepSection) -> _SectionCard:
        """Return the card that shows a section: the one on the page, if that can."""
        card = self._cards.get(section.title)
        if card is None or not _fits(card.figure, section.figure):
            heading, table = cards.html(), cards.html()
            root = cards.card(heading, table if section.figure is None else cards.figure(section.figure))
            card = _SectionCard(heading, table, section.figure, root)
            if section.points:
                card.figure.on_event("tap", partial(self._tapped, section.title))
        card.heading.object, card.table.object = _heading(section), section.table
        return card

    def _tapped(self, title: str, event: Any) -> None:
        section = next(each for each in self.results.sections if each.title == title)
        case = _nearest(section.points, self._cards[title].figure, event.x, event.y)
        if case is not None:
            self._pick(case)


@dataclass(frozen=True)
class _SectionCard:
    """The card of a section, with the parts of it that change."""

    heading: Any
    table: Any
    figure: Any
    root: Any


def _fits(old: Any, new: Any) -> bool:
    """Make the figure on the page show a new one; return whether it can."""
    if old is None or new is None:
        return old is new
    return _words(old) == _words(new) and adopt(old, new)


def _nearest(points: Sequence[tuple[float, float, int]], figure: Any, x: float, y: float) -> int | None:
    """Return the case of the run that was clicked; None where none is near."""

    def across(value: float) -> float:
        return math.log(value) if isinstance(figure.x_scale, LogScale) else value

    wide, high = across(figure.x_range.end) - across(figure.x_range.start), figure.y_range.end - figure.y_range.start
    distances = [
        (math.hypot((across(one) - across(x)) / wide * WIDTH, (other - y) / high * figure.height), case)
        for one, other, case in points
    ]
    distance, case = min(distances, default=(math.inf, 0))
    return case if distance <= NEAR else None


def _words(figure: Any) -> tuple[Any, ...]:
    """Return what a figure has beside its data: scales, words and colours of axes."""
    axes = [(axis.axis_label, str(axis.major_label_overrides), str(axis.axis_label_text_color)) for axis in figure.axis]
    return type(figure.x_scale), type(figure.y_scale), axes


def _heading(section: SweepSection) -> str:
    if section.refused:
        return cards.heading(section.title, section.refused)
    title = section.figure.title.text if section.figure is not None else ""
    beside = f'<span class="why">{escape(title)}</span>'
    why = f'<p class="why detail">{escape(section.why)}</p>'
    return f"{cards.title(section.title, beside=beside)}{why}{section.legend}"


# A race of a sweep: what its solvers did on one problem, which all tabs can show.


def race_of(table: SweepTable, race: str, store: Store) -> tuple[dict[str, Trace], str]:
    """Return the traces that have ended on one problem, by their solvers, and the race's key in a store or ""."""
    runs = {member.solver: outcome.run for member, outcome in table if member.race == race and outcome.run}
    traces = {solver: trace for solver, run in runs.items() if len(trace := store.trace(run))}
    if not traces:
        raise MklvizError("None of these runs is kept with its steps: there is nothing to open.")
    stored = store.runs(f"run:{runs[next(iter(traces))]}")
    return traces, stored[0].race if stored else ""
