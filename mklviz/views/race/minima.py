"""MINIMA: where the runs of a race without a lower bound have ended, and the objective between the best two ends.

Runs whose final weights differ by at most 2 % (sum of the differences over the sum of both) count as one minimum. The
objective on the straight way between the best end and the best one elsewhere takes some tens of inner problems, which
are solved in a thread; the view around the card calls `update` now and then.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from html import escape

import numpy as np
import panel as pn
from bokeh.models import BasicTicker, FixedTicker
from bokeh.plotting import figure

from mklviz.contract import Array, Iterate
from mklviz.engine import Profile, Race, objective_profile
from mklviz.engine.task import ProgressReport
from mklviz.numbers import share_text
from mklviz.problem import Problem
from mklviz.views.chart.axes import bare, style_axes
from mklviz.views.form import Form, FormRow
from mklviz.views.look import cards
from mklviz.views.look.palette import Theme
from mklviz.views.race.ended_card import EndedCard

__all__ = ["MinimaCard", "ends_apart"]

HEIGHT = 230  # pixels


def way_figure(shares: Array, values: Array, names: Sequence[str], theme: Theme) -> figure:
    """Draw the objective `values` at `shares` of the way, 0 to 1, between two ends and their `names`."""
    options = {"height": HEIGHT, "sizing_mode": "stretch_width", "min_border_left": 54}
    plot = figure(name="minima", tools="save", syncable=False, **options)
    plot.line(shares, values, line_color=theme.accent, line_width=2)
    ends = [0, len(values) - 1]
    plot.scatter(shares[ends], values[ends], size=9, color=theme.accent)
    plot.xaxis.ticker = FixedTicker(ticks=[0, 1])
    plot.xaxis.major_label_overrides = {0: names[0], 1: names[1]}
    plot.yaxis.ticker = BasicTicker(desired_num_ticks=4, num_minor_ticks=0)
    plot.x_range.range_padding, plot.yaxis.axis_label = 0.06, "objective"
    style_axes(plot, theme)
    bare(plot)
    return plot


SAME = 0.02  # share of the weights that two ends in one minimum may differ in
POINTS = 41
_FAILED = "The way between the best two ends could not be computed"
_PROGRESS = "Solving inner problems on the way between the best two: {}."
End = tuple[str, Iterate]


def ends_apart(ends: Sequence[End]) -> list[list[End]]:
    """Return the ends of runs, best first, grouped by the minimum they are in, the best group first."""
    groups: list[list[End]] = []
    for end in sorted(ends, key=lambda pair: pair[1].objective):
        home = next((group for group in groups if _near(group[0][1], end[1])), None)
        if home is None:
            groups.append([end])
        else:
            home.append(end)
    return groups


def _near(one: Iterate, other: Iterate) -> bool:
    apart = float(np.abs(one.weights - other.weights).sum())
    return apart <= SAME * float(one.weights.sum() + other.weights.sum())


class MinimaCard(EndedCard[Profile]):
    """Says whether the runs of a race have ended in one minimum, and draws the objective between the best two."""

    def __init__(self) -> None:
        super().__init__()
        self.profile: Profile | None = None
        self._groups: list[list[End]] = []
        self.words, self.between = cards.html(), cards.html()
        self._pane = pn.pane.Bokeh(None, sizing_mode="stretch_width", margin=0, visible=False)
        self.root = cards.card(
            cards.html(cards.title("Minima", term="minimum")),
            self.words,
            Form(FormRow(self.progress, self.stop)),
            self._pane,
            self.between,
            visible=False,
        )

    def _offer(self, race: Race) -> None:
        """Say in how many minima the runs have ended, and compute the objective between the best two."""
        ends = [(run.trace.label, run.trace.best) for run in race.runs.values() if len(run.trace)]
        if race.problem.convex or len(ends) < 2:
            return
        self._groups = ends_apart(ends)
        self.words.object = f'<p class="why">{escape(_where(self._groups))}</p>'
        self.root.visible = True
        if len(self._groups) > 1:
            best_two = self._groups[0][0][1], self._groups[1][0][1]
            self._compute(partial(_profile, race.problem, *best_two), _FAILED, _PROGRESS)

    def _show(self, answer: Profile | None) -> None:
        self.profile = answer
        self._draw()

    def _forget(self) -> None:
        self.profile, self._groups = None, []
        self.between.object, self._pane.visible = "", False

    def _draw(self) -> None:
        if self.profile is None:
            return
        names = [group[0][0] for group in self._groups[:2]]
        self._pane.param.update(
            object=way_figure(self.profile.shares, self.profile.values, names, self.theme), visible=True
        )
        self.between.object = f'<p class="why">{escape(_between(self.profile, names))}</p>'


def _profile(problem: Problem, one: Iterate, other: Iterate, report: ProgressReport) -> Profile:
    """Return the objective between the weights of two ends."""
    return objective_profile(problem, one.weights, other.weights, points=POINTS, progress=report)


def _where(groups: Sequence[Sequence[End]]) -> str:
    """Say in how many minima the runs have ended."""
    runs = sum(len(group) for group in groups)
    if len(groups) == 1:
        return (
            f"All {runs} runs ended at the same weights, with objective {groups[0][0][1].objective:,.5g}. Another start"
            " may still find another minimum: no lower bound says that this one is the least."
        )
    ends = "; ".join(f"{group[0][1].objective:,.5g} ({' and '.join(name for name, _ in group)})" for group in groups)
    return (
        f"These {runs} runs ended in {len(groups)} different places. Their objectives: {ends}. No lower bound says"
        " whether the least of these is the least of all."
    )


def _between(profile: Profile, names: Sequence[str]) -> str:
    """Describe the profile in words."""
    one, other = names
    if profile.hill:
        return (
            f"Along the line between the best two, {one} and {other}, the objective rises to"
            f" {share_text(profile.rise)} above the higher end: this hill tells of two minima rather than one."
        )
    return (
        f"Between the best two, {one} and {other}, the objective does not rise above the higher end: no hill separates"
        " them along the line, and a longer run may bring them together."
    )
