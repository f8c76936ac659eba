"""YOUR MIX: kernel weights set by hand, and what they are worth beside what the solvers have found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from html import escape

import numpy as np
import panel as pn

from mklviz.analysis.decisions import MOST_POINTS, Lines, level_lines, mesh_over, values_over
from mklviz.analysis.kernel_weights import sampled
from mklviz.analysis.landscape import YOURS, Mix, Mixer, above, mix_lines, mixed_kernels, standing
from mklviz.contract import Iterate
from mklviz.engine.task import Task
from mklviz.inner.oracle import needs_known_loss
from mklviz.numbers import number_text, score_text, share_text
from mklviz.problem import Problem
from mklviz.recipe.prepared import Prepared
from mklviz.record import Trace
from mklviz.typing import Array
from mklviz.views.chart.bokeh_figure import ChartFigure
from mklviz.views.chart.description import Axis, Chart, Column, LineMark, PointMark
from mklviz.views.form import Button, Form, FormRow
from mklviz.views.host.ticks import Polling
from mklviz.views.look import cards
from mklviz.views.look.palette import CLASS_MARKERS, RunStyle, Theme, class_colours
from mklviz.views.look.styles import race_styles
from mklviz.views.model.lab_charts import curve_tables, curves_chart, lab_figure
from mklviz.views.race.components import WeightBars
from mklviz.views.session.session import Session
from mklviz.views.tabs import FigureTab
from mklviz.views.tabs._previews import weights_preview

_ABOUT = "Drag the bars: the problem is solved at your weights. Can you get lower than the solvers?"
_FEW = " These are the {shown} heaviest of {total:,} {noun}s; the others have no weight in your mix."
_WHY = "Objective of each solver's steps above the best proven lower bound. The line across is your mix."


class YourMix(FigureTab):
    """Bars of kernel weights to drag, the score of the mix, and the solvers' curves that it is to get below."""

    title, order = "Your mix", 6
    preview = staticmethod(weights_preview)

    def __init__(self) -> None:
        super().__init__()
        self.bars = WeightBars(sizing_mode="stretch_width", margin=(4, 0, 6, 0))
        self.bars.on_change = self._change
        self.mix: Mix | None = None
        self.mixer: Mixer | None = None
        self._theme: Theme | None = None
        self._drawn: object = None
        self._polling = Polling(self._look)
        self.about, self.score, self.heading = cards.html(), cards.html(), cards.html()
        self.boundaries = Boundaries()
        self._grid = cards.grid(columns="auto-fit, minmax(min(420px, 100%), 1fr)")
        again = Button(lambda *_: self._start_over(), label="Equal weights", width=130)
        self._bars_card = cards.card(self.about, self.bars, Form(FormRow(again)))
        self.root = cards.column(self._grid, self.frames.heartbeat)

    @classmethod
    def supports(cls, session: Session) -> str:
        """A race of one's own that has taken steps is needed, with several kernels and a lower bound."""
        if session.last_step <= 0:
            return "Press Run first: here you mix the kernels by hand, and try to get lower than the solvers."
        if session.follows:
            return "This page follows another page's race. Your mix is on a dashboard of your own."
        if session.missing:
            return session.missing
        problem = session.race.problem
        if problem.m < 2:
            return f"There is one {problem.noun} only: nothing can be mixed."
        return problem.no_bound or needs_known_loss(problem, YourMix.title)

    # -- what is mixed

    def follow(self, session: Session) -> None:
        """Mix the kernels of the session's race."""
        self._session, self._drawn = session, None
        if session.race is None or self.supports(session):
            return
        looks = session.theme is self._theme
        same = self.mixer is not None and session.race.problem is self.mixer.problem
        if not looks:
            self._theme = session.theme
            self._build(session.theme)
        if not (looks and same):
            self.boundaries.begin(session.prepared, session.theme)
        if not same:
            self._begin(session)
        styles = race_styles(session.race, session.theme).values()
        self.heading.object = cards.heading("Beat the solvers", _WHY, beside=cards.legend(styles))

    def _build(self, theme: Theme) -> None:
        self.figure = lab_figure(curves_chart("mix-above", "step", theme), theme)
        pane = cards.figure(self.figure.plot)
        self._grid.objects = [self._bars_card, cards.card(self.heading, self.score, pane, self.boundaries)]

    def _begin(self, session: Session) -> None:
        """Begin with equal weights, as solvers do."""
        self.close()
        problem: Problem = session.race.problem
        kernels = mixed_kernels(session.traces)
        self.mixer = Mixer(problem, kernels, session.prepared.score, self.boundaries.of)
        few = _FEW.format(shown=len(kernels), total=problem.m, noun=problem.noun) if len(kernels) < problem.m else ""
        self.about.object = cards.heading("Your mix", _ABOUT + few, term="kernel weight")
        heaviest = max(float(trace.best.weights.max()) for trace in session.traces.values() if len(trace))
        shared = problem.regularizer.on_simplex
        names = [problem.bank.names[k] for k in kernels]
        self.bars.param.update(names=names, shared=shared, most=1.0 if shared else 1.5 * heaviest, weights=[])
        self._start_over()

    def _start_over(self) -> None:
        count = len(self.bars.names)
        if count:
            self._change([1.0 / count if self.bars.shared else self.bars.most / 3] * count)

    def _change(self, weights: Sequence[float]) -> None:
        if self.mixer is not None:
            self.mixer.ask(weights)
            self._polling.begin()

    # -- what it is worth

    def tick(self, now: float) -> None:
        """Draw what is new, where it can be seen."""
        if not self.shown or self.mixer is None:
            return
        self._look()
        session = self._session
        if session.race is None or not self.sync.ready([self.figure.plot]):
            return
        drawn = tuple(len(trace) for trace in session.traces.values())
        with self.frames.in_order():
            self.boundaries.update(session.traces, race_styles(session.race, session.theme))
            if drawn != self._drawn:
                self._drawn = drawn
                self._draw()

    def _look(self) -> bool:
        """Draw the mix if it is solved; return whether nothing is awaited any more."""
        task = None if self.mixer is None else self.mixer.task
        if task is None or not task.working:
            return True
        if not task.ended:
            return False
        result = task.take()
        if result is None:
            self.score.object = cards.lines(task.fault)
        else:
            self.mix = result
            self._draw()
        self.bars.drawn += 1  # another one may be told
        return True

    def _draw(self) -> None:
        session, mixer = self._session, self.mixer
        if mixer is None or self._theme is None or session.race is None:
            return
        traces = {key: trace for key, trace in session.traces.items() if len(trace)}
        mine = None if self.mix is None else above(self.mix.iterate.objective, traces)
        own = RunStyle(YOURS, self._theme.text, "solid", "star")
        styles = {**race_styles(session.race, self._theme), YOURS: own}
        self.figure.show(curve_tables(mix_lines(mine, traces), styles))
        if self.mix is not None and mine is not None:
            self.bars.weights = [float(weight) for weight in self.mix.iterate.weights[mixer.kernels]]
            self.boundaries.draw("mine", self.mix.boundary)
            self.score.object = self._score_words(self.mix, mine, standing(mine, traces))

    def _score_words(self, mix: Mix, mine: float, standing: str) -> str:
        what = self._session.prepared.score_label
        test = f", {what} {score_text(mix.score, what)}" if np.isfinite(mix.score) else ""
        return (
            f'<p><b class="large">{share_text(mine, 3)}</b> above the best proven lower bound'
            f" (objective {number_text(mix.iterate.objective)}{escape(test)})</p>{cards.lines(standing)}"
        )

    def close(self) -> None:
        self._polling.end()
        self.boundaries.close()
        if self.mixer is not None:
            self.mixer.task.forget()
        self.mixer, self.mix = None, None


HEIGHT = 260  # pixels
ACROSS = 48  # meshes: a few milliseconds
_WORDS = "Thick: where your mix decides. Dashed: where {solver} does, which has the lowest objective so far."


class Boundaries(cards.Rooted):
    """The figure, for samples of two classes with two features; otherwise it is hidden, and there are no lines."""

    def __init__(self) -> None:
        super().__init__()
        self.figure: ChartFigure | None = None
        self.task = Task[Lines]()
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
        looks = {"colour": [colours[side] for side in sides], "marker": [CLASS_MARKERS[side] for side in sides]}
        self.figure.show({"samples": {"x": x.tolist(), "y": y.tolist(), **looks}})
        self.root.objects = [self._words, cards.figure(self.figure.plot)]

    def of(self, iterate: Iterate) -> Lines:
        """Return where an iterate's f is zero; safe in a thread."""
        return () if self._problem is None else _zeros(self._problem, iterate, *self._mesh)

    def update(self, traces: Mapping[str, Trace], styles: Mapping[str, RunStyle]) -> None:
        """Draw the line of the best solver when it is there, and ask for it when that is another iterate."""
        line = self.task.take()
        if line is not None:
            self.draw("best", line)
        ran = {key: trace for key, trace in traces.items() if len(trace) and key in styles}
        if self._problem is None or not ran:
            return
        key = min(ran, key=lambda key: ran[key].best.objective)
        best, style = ran[key].best, styles[key]
        if self.task.working or self.task.key == (key, best.objective):
            return
        self._words.object = cards.lines(_WORDS.format(solver=style.label))
        self._colours["best"] = style.colour
        zeros = partial(_zeros, self._problem, best, *self._mesh)
        self.task.ask((key, best.objective), lambda _report: zeros(), "The boundary could not be drawn")

    def draw(self, table: str, line: Lines) -> None:
        """Draw the line of the mix, "mine", or that of the best solver, "best"."""
        if self.figure is not None:
            xs, ys = [x for x, _ in line], [y for _, y in line]
            self.figure.show({table: {"xs": xs, "ys": ys, "colour": [self._colours[table]] * len(line)}})

    def close(self) -> None:
        self.task.forget()


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


def _zeros(problem: Problem, iterate: Iterate, x: Array, y: Array) -> Lines:
    return level_lines(x, y, values_over(problem, iterate.weights, iterate.dual, x, y), 0.0)
