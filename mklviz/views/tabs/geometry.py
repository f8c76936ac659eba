"""GEOMETRY: the paths of the weights, over the objective that the methods minimize.

Two kernels: the objective over their share, cuts, levels and trials, and the picture of the first lesson over them,
in which the start and Level's level are dragged, also on other convex curves. Three: the simplex from above. More: the
plane of the paths' principal directions, or an exact slice through two or three kernels of choice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from html import escape
from time import monotonic
from typing import Any, ClassVar

import numpy as np
import panel as pn
import panel_material_ui as pmui
import param

from mklviz.analysis.landscape import Survey
from mklviz.analysis.steps import Cuts, cuts_known, keeps_cuts, step_of
from mklviz.analysis.weight_map import Slice, slice_through
from mklviz.engine import Race, solver_classes
from mklviz.record import Trace
from mklviz.record.summary import best_of
from mklviz.views.chart.bokeh_figure import ChartFigure
from mklviz.views.form import Form, FormRow, Select
from mklviz.views.geometry.map_card import EVERY, MapCard
from mklviz.views.geometry.map_chart import height_axis, objective_table, segment_chart, segment_tables
from mklviz.views.host.components import ScriptedComponent
from mklviz.views.host.page_session import is_on_page, page_language
from mklviz.views.host.solved_paths import SOLVER, problem_data, solves_alone
from mklviz.views.lessons.one_curve import CURVE_SCRIPT, CURVE_STYLE, curve_figure
from mklviz.views.lessons.triangle import TRIANGLE_SCRIPT, TRIANGLE_STYLE
from mklviz.views.look import cards
from mklviz.views.look.palette import OF_TEXT, RunStyle, Theme, readable, swatch
from mklviz.views.look.styles import race_styles, solver_styles
from mklviz.views.race.cursor_bar import CursorBar
from mklviz.views.session.launcher import begin_at
from mklviz.views.session.session import Session
from mklviz.views.sidebar.controls import note, say
from mklviz.views.tabs import FigureTab
from mklviz.views.tabs._previews import paths_preview

# Two kernels: for each run the objective over their share, and how its step came about.


HEIGHT = 330  # pixels of a figure
_WORDS = (
    "Dark: the objective. SILP and Level: cuts below it, thick their upper envelope. SILP goes to its lowest point;"
    " Level to the nearest point of the level set (broad), where no cut exceeds the level (dashed). Line searches:"
    " the threshold (dashed) that a trial must come below, crosses for trials that did not, rings for those that did."
)


class SegmentCard(cards.Rooted):
    """One figure for each run, all over the same objective, which the `survey` computes."""

    def __init__(self) -> None:
        super().__init__()
        self.survey = Survey()
        self.figures: dict[str, ChartFigure] = {}
        self._race: Race | None = None
        self._kernels: tuple[int, ...] = ()
        self._map: Slice | None = None
        self._cuts: Cuts | None = None
        self._drawn: object = None
        self._drawn_at = 0.0
        self._progress = note()
        self._grid = pn.Column(margin=0, sizing_mode="stretch_width")
        self._heading = cards.html(cards.heading("Two kernels", _WORDS, term="cut"))
        self.root = cards.card(self._heading, self._grid, Form(self._progress))

    def show(self, race: Race, styles: Mapping[str, RunStyle], theme: Theme, kernels: Sequence[int]) -> None:
        """Draw a race over the share of two `kernels`."""
        same = race is self._race and tuple(kernels) == self._kernels
        self._race, self._kernels = race, tuple(kernels)
        if not same:
            self.survey.clear()
            self._map = None
        names = [race.facts.names[k] for k in self._kernels]
        charts = {key: segment_chart(key, style, theme, names) for key, style in styles.items()}
        self.figures = {key: ChartFigure(chart, theme, HEIGHT) for key, chart in charts.items()}
        cells = [cards.cell(cards.html(_name(style)), self.figures[key].plot, 8) for key, style in styles.items()]
        self._drawn = None
        self._draw_objective()  # before the page has the figures, which take it along
        self._grid.objects = [cards.grid(*cells, columns="auto-fit, minmax(min(420px, 100%), 1fr)")]

    def clear(self) -> None:
        """Forget the race, and compute nothing for it any more."""
        self.survey.clear()
        self._race, self._map, self._drawn = None, None, None

    def update(self, now: float, cursor: int | None) -> None:
        """Draw what is new: steps, another cursor, a finer objective."""
        race = self._race
        if race is None or not all(len(trace) for trace in race.traces.values()):
            return
        if self._map is None:
            # all of the weight, or what the two kernels have at the best point so far
            self._map = slice_through(best_of(race.traces.values()).best.weights, self._kernels)
            self._cuts = Cuts(race.problem, self._map.vertices) if cuts_known(race) else None
            self.survey.begin(race, self._map)
        resting = race.status in ("finished", "paused")
        fresh = self.survey.update(resting)
        if fresh:
            self._draw_objective()
        say(self._progress, self.survey.progress("Computing"))
        drawn = (cursor, *(len(trace) for trace in race.traces.values()))
        if fresh or (drawn != self._drawn and (now - self._drawn_at >= EVERY or resting)):
            self._drawn, self._drawn_at = drawn, now
            for key, trace in race.traces.items():
                self._draw_step(key, trace, cursor)

    def _draw_objective(self) -> None:
        if self.survey.sheet is None:
            return
        (x, _, z), _ = self.survey.sheet
        for figure in self.figures.values():
            figure.show({"objective": objective_table(x[0], z[0])})
            figure.set_axes(figure.chart.x, height_axis(float(z.min()), float(z.max())))

    def _draw_step(self, key: str, trace: Trace, cursor: int | None) -> None:
        if self._map is None or self._cuts is None or key not in self.figures:
            return
        last = len(trace) - 1 if cursor is None else max(trace.index_at(cursor), 0)
        values = self._cuts.up_to(last, key, trace) if keeps_cuts(trace[:2]) else []
        shown, figure = (step_of(trace[: last + 1], self._map, values, self._height), self.figures[key])
        figure.show(segment_tables(shown, trace.first_step))
        if self.survey.sheet is None:
            heights = [y for _, y in shown.points]
            figure.set_axes(figure.chart.x, height_axis(min(heights), max(heights)))

    def _height(self, share: float) -> float | None:
        """Return the objective at a share as far as it is known."""
        if self.survey.sheet is None:
            return None
        (x, _, z), _ = self.survey.sheet
        return float(np.interp(share, x[0], z[0]))


def _name(style: RunStyle) -> str:
    return f'<div class="head"><span class="name">{swatch(style)}<b>{escape(style.label)}</b></span></div>'


_LOOK = (  # sizes as on the pages before the dashboard
    "font-family: var(--mk-font); color: var(--mk-text); --mk-small: calc(13px * {0}); --mk-words: calc(15px * {0});"
    " --mk-label: {1:.0f}px;"
)


class CurveCard(ScriptedComponent):
    """The picture of the first lesson over two kernels: SILP and Level, whose start and level are dragged."""

    pair = param.Dict(default={}, doc="The problem, and the names of its kernels")
    figure = param.String(default="", doc="The figure, without a question")
    solver = param.String(default=SOLVER, doc="The solvers, for a worker")

    _esm = f"{TRIANGLE_SCRIPT}{CURVE_SCRIPT}export const render = curveCard"
    _stylesheets: ClassVar[list[str]] = [TRIANGLE_STYLE, CURVE_STYLE]

    def __init__(self, **settings: Any) -> None:
        figure = curve_figure(page_language(), asks=False)
        super().__init__(visible=False, sizing_mode="stretch_width", figure=figure, **settings)
        self._race: Race | None = None

    def show(self, race: Race | None, theme: Theme) -> None:
        """Show the curve of a race on two kernels that a browser can solve; nothing of any other."""
        styles = solver_styles({key: solver_classes()[key]() for key in ("silp", "level")}, theme)
        colours = (
            f"--run-{key}: {style.colour}; --word-{key}: {readable(style.colour, theme.card, OF_TEXT)};"
            for key, style in styles.items()
        )
        self.stylesheets = [f":host {{ {_LOOK.format(theme.scale, 15 * theme.scale)} {' '.join(colours)} }}"]
        shown = race is not None and race.facts.m == 2 and cuts_known(race) and solves_alone(race.problem, {})
        if race is not None and shown and race is not self._race:
            run = race.runs.get("level")
            level: Any = solver_classes()["level"]() if run is None else run.solver
            self.pair = {"problem": problem_data(race.problem), "names": list(race.facts.names), "lambda": level.lam}
        self._race, self.visible = race, shown


MOST_KERNELS = 20_000  # with more kernels, weights are kept on disk, and the map would take seconds
OFFERED = 30  # kernels to pick from, the heaviest ones
NO_MODEL = "none"
SLICE = 460  # pixels of the field of an exact slice, wide enough for its label
_FIELD = (
    "label, legend { font-size: calc(14px * var(--mk-scale, 1)) !important; }"
    " .MuiInputLabel-root { background: transparent !important; }"
    " .MuiOutlinedInput-root { background: var(--mk-card); }"
)


class Geometry(FigureTab):
    """The paths of a race on a map; `pins` are kernels of an exact slice, in which the cuts of `model` are drawn."""

    title, order = "Geometry", 5
    preview = staticmethod(paths_preview)

    def __init__(self) -> None:
        super().__init__()
        self.bar, self.map, self.segment = CursorBar(self.frames), MapCard(), SegmentCard()
        self.curve = CurveCard(margin=(8, 0))
        self.map.on_pick = lambda weights: begin_at(self._session, weights)
        self._shown: tuple[Race | None, Theme | None, tuple[int, ...]] = (None, None, ())
        self._offered_at = -1
        wide = {"sizing_mode": "stretch_width", "max_width": SLICE, "margin": (3, 12, 9, 0), "stylesheets": [_FIELD]}
        label = "Exact slice through two or three kernels"
        self.pins = pmui.MultiChoice(label=label, options={}, max_items=3, **wide)
        self.pins.param.watch(self._pin, "value")
        self.model = Select(label="Cuts and level set of", options={NO_MODEL: ""}, value="", width=360)
        self.model.param.watch(lambda event: self.map.show_model(event.new), "value")
        wraps = [":host { flex-wrap: wrap; align-items: center; }"]
        model = Form(FormRow(self.model), sizing_mode=None, margin=(0, 0, 6, 0))
        controls = pn.Row(self.pins, model, margin=0, sizing_mode="stretch_width", stylesheets=wraps)
        self.root = cards.column(controls, self.map, self.segment, self.bar, self.curve, self.frames.heartbeat)

    @classmethod
    def supports(cls, session: Session) -> str:
        """A race that has taken steps is needed, with a few kernels and not too many."""
        if session.last_step <= 0:
            return "Press Run first: the map shows where the kernel weights of each solver go."
        known = session.race.facts
        if known.m < 2:
            return f"There is one {known.noun} only: its weight has nowhere to go."
        if known.m > MOST_KERNELS:
            return f"The map is drawn for up to {MOST_KERNELS:,} {known.noun}s; this race has {known.m:,}."
        return ""

    # -- what is shown

    def follow(self, session: Session) -> None:
        """Show the session's race, in its colours, at its step."""
        self._session = session
        self.map.start.on_race = None if session.follows else partial(session.show, session.recipe, session.prepared)
        race = session.race
        styles = {} if race is None else race_styles(race, session.theme)
        if race is not self._shown[0]:
            self.bar.set_playing(False)
            self._offered_at = -1
            self.pins.value = []
            self.model.param.update(options={NO_MODEL: ""}, value="")
        if (race, session.theme, self.kernels) != self._shown:
            self._show(session)
        self.bar.follow(session, styles)

    def _show(self, session: Session) -> None:
        """Follow another race, other colours or another slice."""
        race, kernels = session.race, self.kernels
        self._shown = race, session.theme, kernels
        self.pins.max_width = round(SLICE * session.theme.scale)
        on_segment = len(kernels) == 2
        self.segment.root.visible, self.map.root.visible = on_segment, not on_segment
        self.model.visible = race is not None and len(kernels) == 3 and cuts_known(race)
        self.pins.visible = race is not None and race.facts.on_simplex and race.facts.m > 3
        hidden = self.map if on_segment else self.segment
        hidden.clear()
        self.curve.show(race if on_segment else None, session.theme)
        if race is None or self.supports(session):
            self.map.clear()
            self.segment.clear()
            self._shown = None, None, ()  # shown as soon as there is something
            return
        plots = [figure.plot for figure in (*self.segment.figures.values(), self.map.figure)]
        styles, on_page = race_styles(race, session.theme), is_on_page(plots)
        if on_segment:
            self.segment.show(race, styles, session.theme, kernels)
        else:
            self.map.show(race, styles, session.theme, kernels, self.model.value)
        if on_page:  # which has to be sent those that take the place of others
            self.frames.send(monotonic(), figures=True)

    @property
    def kernels(self) -> tuple[int, ...]:
        """Two or three kernels whose slice is shown; none for the plane of all."""
        race = self._session.race
        if race is None or not race.facts.on_simplex:  # a slice is a triangle or a segment where weights sum to one
            return ()
        if race.facts.m <= 3:
            return tuple(range(race.facts.m))
        return tuple(self.pins.value) if len(self.pins.value) in (2, 3) else ()

    def _pin(self, *_: Any) -> None:
        if self._session.race is self._shown[0] and self.kernels != self._shown[2]:
            self._show(self._session)

    # -- what has happened

    def tick(self, now: float) -> None:
        """Draw what is new, if it is visible."""
        session = self._session
        if not self.shown:
            for card in (self.map, self.segment):
                card.survey.rest()
            return
        self.bar.tick(now)
        if session.race is not None:
            self._offer(session.race)
        if not self.frames.ready(monotonic()):
            return
        with self.frames.in_order():
            (self.segment if len(self.kernels) == 2 else self.map).update(now, session.cursor)

    def _offer(self, race: Race) -> None:
        """Offer the heaviest kernels to pick from, at first and at the end, and the runs that work on cuts."""
        stage = int(race.status == "finished")
        if stage <= self._offered_at or not all(len(trace) > 1 or stage for trace in race.traces.values()):
            return
        self._offered_at = stage
        names = race.facts.names
        if self.pins.visible:
            heaviest = np.argsort(-best_of(race.traces.values()).best.weights, kind="stable")[:OFFERED]
            offered = {names[k]: int(k) for k in [*self.pins.value, *heaviest]}
            self.pins.options = offered
        runs = race.runs.items() if cuts_known(race) else ()
        cutting = {str(run.trace.label): key for key, run in runs if keeps_cuts(run.trace[:2])}
        if self.model.options != {**cutting, NO_MODEL: ""}:
            self.model.param.update(options={**cutting, NO_MODEL: ""}, value=next(reversed(cutting.values()), ""))

    def close(self) -> None:
        self.bar.set_playing(False)
        self.map.close()
        self.segment.clear()
