"""Where f is zero over samples in the plane: for kernel weights set by hand, and for the best solver of a race.

Both are evaluated in threads: the first by the solver at those weights, the second here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from html import escape

import panel as pn

from mklviz.contract import Iterate
from mklviz.engine.task import ProgressReport, Task
from mklviz.problem import Problem
from mklviz.recipe.prepared import Prepared
from mklviz.record import Trace
from mklviz.typing import Array
from mklviz.views.chart.bokeh_figure import ChartFigure
from mklviz.views.chart.description import Axis, Chart, Column, LineMark, PointMark
from mklviz.views.look import cards
from mklviz.views.look.palette import CLASS_MARKERS, RunStyle, Theme, class_colours
from mklviz.views.model.grams import sampled
from mklviz.views.model.points import Line
from mklviz.views.model.surface import MOST_POINTS, level_lines, mesh_over, values_over

__all__ = ["Boundaries"]

HEIGHT = 260  # pixels
ACROSS = 48  # meshes: a few milliseconds
_WORDS = "Thick: where your mix decides. Dashed: where {solver} does, which has the lowest objective so far."


class Boundaries(pn.viewable.Viewer):
    """The figure, for samples of two classes with two features; otherwise it is hidden, and there are no lines."""

    def __init__(self) -> None:
        super().__init__()
        self.figure: ChartFigure | None = None
        self.task = Task[Line]()
        self._problem: Problem | None = None
        self._words = cards.html()
        self.root = pn.Column(visible=False, margin=(6, 0, 0, 0), sizing_mode="stretch_width")

    def begin(self, prepared: Prepared, theme: Theme) -> None:
        """Turn to the samples of a race, or to another theme."""
        train = prepared.train
        self.close()
        self.root.visible = train.grams is None and train.task == "binary" and train.X.shape[1] == 2
        if not self.root.visible:
            self.figure, self._problem, self.root.objects = None, None, []
            return
        self._problem, self._mesh = prepared.problem, mesh_over(train.X, ACROSS)
        self.figure = ChartFigure(_chart(train.feature_names, self._mesh, theme), theme, HEIGHT, tools="")
        some = sampled(len(train.y), MOST_POINTS)
        (x, y), sides = train.X[some].T, (train.y[some] > 0).astype(int)
        self._colours = {"mine": theme.text, "best": theme.text}
        colours = class_colours(theme)
        self.figure.show(
            {
                "samples": {
                    "x": x.tolist(),
                    "y": y.tolist(),
                    "colour": [colours[side] for side in sides],
                    "marker": [CLASS_MARKERS[side] for side in sides],
                }
            }
        )
        self.root.objects = [self._words, pn.pane.Bokeh(self.figure.plot, sizing_mode="stretch_width", margin=0)]

    def of(self, iterate: Iterate) -> Line:
        """Return where an iterate's f is zero; safe in a thread."""
        return () if self._problem is None else _zeros(self._problem, iterate, *self._mesh)

    def show(self, mine: Line) -> None:
        """Draw the line of the mix."""
        self._draw("mine", mine)

    def update(self, traces: Mapping[str, Trace], styles: Mapping[str, RunStyle]) -> None:
        """Draw the line of the best solver when it is there, and ask for it when that is another iterate."""
        line = self.task.take()
        if line is not None:
            self._draw("best", line)
        ran = {key: trace for key, trace in traces.items() if len(trace) and key in styles}
        if self._problem is None or not ran:
            return
        key = min(ran, key=lambda key: ran[key].best.objective)
        best, style = ran[key].best, styles[key]
        if self.task.working or self.task.key == (key, best.objective):
            return
        self._words.object = f'<p class="why">{escape(_WORDS.format(solver=style.label))}</p>'
        self._colours["best"] = style.colour
        work = partial(_reported, self._problem, best, self._mesh)
        self.task.ask((key, best.objective), work, "The boundary could not be drawn")

    def _draw(self, table: str, line: Line) -> None:
        if self.figure is not None:
            xs, ys = [x for x, _ in line], [y for _, y in line]
            self.figure.show({table: {"xs": xs, "ys": ys, "colour": [self._colours[table]] * len(line)}})

    def close(self) -> None:
        """Compute nothing any more."""
        self.task.forget()

    def __panel__(self) -> pn.viewable.Viewable:
        return self.root


def _chart(names: tuple[str, ...], mesh: tuple[Array, Array], theme: Theme) -> Chart:
    x, y = (
        Axis(name, start=float(middles[0]), end=float(middles[-1])) for name, middles in zip(names, mesh, strict=True)
    )
    marks = (
        PointMark("samples", colour=theme.card, fill=Column("colour"), marker=Column("marker"), size=7.0),
        LineMark("mine", "xs", "ys", Column("colour"), width=4.0, many=True),
        LineMark("best", "xs", "ys", Column("colour"), dash="dashed", width=2.5, many=True),
    )
    return Chart("mix-boundary", x=x, y=y, marks=marks)


def _reported(problem: Problem, iterate: Iterate, mesh: tuple[Array, Array], report: ProgressReport) -> Line:
    report(0.0)
    return _zeros(problem, iterate, *mesh)


def _zeros(problem: Problem, iterate: Iterate, x: Array, y: Array) -> Line:
    return level_lines(x, y, values_over(problem, iterate.weights, iterate.dual, x, y), 0.0)
