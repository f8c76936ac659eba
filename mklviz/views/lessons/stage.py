"""The stage: a lesson's question above, its picture large below, and beside it what to watch and then the answer.

It stands above the tabs as long as the lesson is open. A race that is not the lesson's, as its set-up was changed, is
drawn by the usual picture, and the question steps back until the set-up is put back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from time import monotonic
from typing import Any

import panel as pn

from mklviz.scenarios import Evidence
from mklviz.views.chart.bokeh_figure import ChartFigure
from mklviz.views.chart.description import Chart, Tables
from mklviz.views.form import Button, Form, FormRow
from mklviz.views.host.beside import beside
from mklviz.views.host.components import PlotPane
from mklviz.views.host.dragging import DragHandle
from mklviz.views.host.frames import FigureSync
from mklviz.views.lessons.curves import gap
from mklviz.views.lessons.picture import LessonRuns, Picture
from mklviz.views.lessons.pictures import picture_of, recorded_picture
from mklviz.views.lessons.score import LessonScore
from mklviz.views.look import cards
from mklviz.views.look.palette import Theme
from mklviz.views.look.styles import race_styles
from mklviz.views.session.session import Session
from mklviz.views.sidebar.controls import note
from mklviz.views.sidebar.scenario_panel import LessonPanel

__all__ = ["LessonStage", "PictureView", "emptied"]

FEW = 2  # charts, above which those of a projector are as high as the answer with its reasons
EVERY = 0.25  # seconds between pictures of a race that goes on
CHANGED = "You changed this lesson's set-up, so its question waits."
GUESS = "Guess, and press Run lesson: the picture grows here while the race runs."
LATER = "This picture is computed from what comes out: it appears when the race has ended."
_USABLE: Mapping[str, tuple[str, ...]] = {  # what can be pressed in each state of a page, by the names of commands
    "empty": ("run",),
    "preparing": ("stop",),
    "running": ("full_speed", "stop"),
    "paused": ("full_speed", "stop"),
    "finished": ("run",),
}


class LessonStage(cards.Rooted):
    """A lesson on the page of a session.

    `commands`: "run", "full_speed" and "stop" of the leading page, "restore" puts the set-up back, "choose" turns
    to the lesson of a name; none on a page that follows.
    """

    def __init__(self, session: Session, panel: LessonPanel, commands: Mapping[str, Callable[..., Any]]) -> None:
        super().__init__()
        self._session, self.panel = session, panel
        self._drawn_at = 0.0
        self._drawn: tuple[Any, ...] = ()
        self.run = Button(commands.get("run"), label="▶ Run lesson", variant="contained")
        self.full_speed = Button(commands.get("full_speed"), label="Skip to the end", visible=False)
        self.stop = Button(commands.get("stop"), label="Stop", visible=False)
        self.close = Button(self._close, label="Close", variant="text", visible=bool(commands))
        self.changed = FormRow(
            note(CHANGED, visible=True), Button(commands.get("restore"), label="Restore settings"), visible=False
        )
        self.run.visible = bool(commands)
        self._usable = _USABLE if commands else {}
        self.score = LessonScore(commands.get("choose"))
        sheet = beside(__file__, "stage.css")
        row = FormRow(panel.guess, self.run, self.full_speed, self.stop, self.close, wrap=True)
        self.question = Form(row, self.changed, stylesheets=[sheet])
        self.answer = Form(panel.words, self.score.line, stylesheets=[sheet], css_classes=["answer"])
        self.reasons = Form(panel.reasons, stylesheets=[sheet], css_classes=["reasons"], visible=False)
        self.picture = PictureView()
        parts = self.picture.root, self.answer, self.reasons
        below = pn.Column(*parts, css_classes=["stage"], stylesheets=[sheet], sizing_mode="stretch_width", margin=0)
        panel.reasons.param.watch(lambda event: self.reasons.param.update(visible=event.new), "visible")
        self.heading = cards.html(height=0)  # for screen readers: the headings of the picture stand below it
        self._parts = [self.heading, self.question, below, self.score.summary, self.score.storage]
        self.root = pn.Column(sizing_mode="stretch_width", margin=0)
        self._turn()
        panel.param.watch(self._turn, "open")

    def _turn(self, *_: Any) -> None:
        if self.panel.open and not self.root.objects:  # a page without a lesson does not carry its stage
            self.root.objects = self._parts
        self.root.visible = self.panel.open
        self._update()

    def _close(self, *_: Any) -> None:
        self.panel.open = False

    def show_state(self, state: str, blocked: bool, changed: bool) -> None:
        """Show what can be pressed in a state of the page, and whether the controls differ from the lesson's."""
        usable = self._usable.get(state, ())
        for name, button in (("run", self.run), ("full_speed", self.full_speed), ("stop", self.stop)):
            button.visible = name in usable
        label = "▶ Run as changed" if changed else "▶ Run again" if state == "finished" else "▶ Run lesson"
        self.run.param.update(disabled=blocked, label=label)
        self.changed.visible = changed
        self.panel.guess.visible = not (changed and self._foreign)

    @property
    def _foreign(self) -> bool:
        """Whether the race on the page, if there is one, is not the lesson's."""
        recipe = self._session.recipe
        return recipe is None or not recipe.same_race(self.panel.scenario.recipe)

    def tick(self) -> None:
        """Draw what is new, now and then while the race goes on; to be called when the page is loaded."""
        self.score.storage.ask()
        self._update()

    def _update(self) -> None:
        if not self.panel.open:
            return
        session, now = self._session, monotonic()
        steps = sum(len(trace) for trace in session.traces.values())
        self.heading.object = f'<h2 class="unseen">Lesson: {escape(self.panel.scenario.title)}</h2>'
        ended = session.race is not None and session.race.finished
        state = (self.panel.scenario, session.race, session.theme, session.lesson_result, steps, ended)
        growing = state[:4] == self._drawn[:4]
        if state == self._drawn or (growing and now - self._drawn_at < EVERY):
            return
        self.score.take(self.panel)
        if self._draw():
            self._drawn, self._drawn_at = state, now

    def _draw(self) -> bool:
        """Draw the picture as it is now; return whether the page could take it."""
        theme, scenario = self._session.theme, self.panel.scenario
        runs = self._runs()
        if not runs.traces:
            before = recorded_picture(scenario.name, theme)
            picture = Picture([], {}) if before is None else before
            nothing = Picture(picture.rows, emptied(picture.tables))
            return self.picture.show(nothing, theme, "" if self.changed.visible else GUESS)
        picture = gap(runs) if self._foreign else picture_of(scenario, runs)
        self._place_reasons(theme.projected and len(picture.charts) <= FEW)
        return self.picture.show(picture, theme, "" if _has_rows(picture) else LATER)

    def _place_reasons(self, below: bool) -> None:
        """Put the reasons below picture and answer, where large type makes them higher than the picture, or beside."""
        self.reasons.css_classes = ["reasons", "below"] if below else ["reasons"]

    def _runs(self) -> LessonRuns:
        session = self._session
        traces = {key: trace for key, trace in session.traces.items() if len(trace) and trace.origin is None}
        styles = {} if session.race is None else race_styles(session.race, session.theme)
        race = session.race
        problem = race.problem if race is not None and race.finished and not race.missing else None
        return LessonRuns(traces, {key: styles[key] for key in traces}, self._evidence(), session.theme, problem)

    def _evidence(self) -> Evidence:
        result = self._session.lesson_result
        return {} if result is None or result.answer is None else result.answer.evidence


def _has_rows(picture: Picture) -> bool:
    return any(len(column) for table in picture.tables.values() for column in table.values())


HEIGHT, LEAST, LEAST_PROJECTED = 430, 185, 230  # pixels of the whole picture with its headings, and of a chart
HEADING = 30  # pixels above each row of charts
# on a phone, where charts stand one below the other, the next one is to be seen, too
_LOWER = "@media (max-width: 700px) { :host { height: 290px !important; flex-basis: 290px !important; } }"
# in the first chart, where it lies over no heading
_OVER = {"position": "absolute", "inset": "20% 0 auto 0", "pointer-events": "none", "text-align": "center"}
_ACROSS = "auto-fit, minmax(min(260px * var(--mk-scale, 1), 100%), 1fr)"  # on a projector one below the other


class PictureView(cards.Rooted):
    """Charts in rows, and what their curves are; words stand over them where there is nothing to be drawn yet."""

    def __init__(self) -> None:
        super().__init__()
        self.figures: list[ChartFigure] = []
        self._theme: Theme | None = None
        self.handle = DragHandle(label="Start of the paths", hint="Drag the start")
        self._legend, self._cover = cards.html(visible=False), cards.html(styles=_OVER)
        self._rows, self.sync = pn.Column(sizing_mode="stretch_width", margin=0), FigureSync()
        parts = self._legend, self._rows, self._cover, self.sync.frames.heartbeat
        look = {"position": "relative", "height": "calc(100% - 12px)"}
        self.root = cards.card(*parts, css_classes=["picture"], styles=look)

    @property
    def charts(self) -> list[Chart]:
        """What is on the page."""
        return [figure.chart for figure in self.figures]

    def show(self, picture: Picture, theme: Theme, waiting: str = "") -> bool:
        """Draw a picture: new figures where its charts are others, else what their tables have become.

        Returns whether it was drawn: figures that the browser does not have yet wait with what is new.
        """
        if picture.charts != self.charts or theme is not self._theme:
            self._theme = theme
            self._build(picture, theme)
        elif not self.sync.ready([figure.plot for figure in self.figures]):
            return False
        else:
            with self.sync.frames.in_order():
                for figure in self.figures:
                    figure.show(_own(figure.chart, picture.tables))
        self._offer_start(picture)
        self._legend.param.update(object=cards.legend(picture.legend), visible=bool(picture.legend))
        self._cover.object = f'<p class="guess">{escape(waiting)}</p>' if waiting else ""
        return True

    def _offer_start(self, picture: Picture) -> None:
        """Let the start of paths be dragged, which the browser solves by itself."""
        paths = picture.paths

        def move(_x: float, _y: float, ended: bool) -> None:
            if paths is not None and not ended and (told := paths()):
                self.handle.hand({**told, "undo": True})

        self.handle.on_move = move
        self.handle.place = [0.5, 0.5 / 3.0**0.5] if paths is not None else []

    def _build(self, picture: Picture, theme: Theme) -> None:
        least, rows = (LEAST_PROJECTED, picture.charts) if theme.projected else (LEAST, picture.rows)
        high = max((HEIGHT - (20 if picture.legend else 0)) // max(len(rows), 1) - HEADING, least)
        self.figures = [ChartFigure(chart, theme, high, tools="") for chart in picture.charts]
        for figure in self.figures:  # before they are on the page
            figure.show(_own(figure.chart, picture.tables))
            figure.plot.stylesheets = [_LOWER] if len(rows) == 1 else []
        if self.figures:
            self.handle.lie(self.figures[0].plot.id)
        drawn = iter(self.figures)
        rows = [[self._drawn(next(drawn), high) for _ in row] for row in picture.rows]
        self._rows.objects = [cards.grid(*row, columns=_ACROSS) for row in rows]

    def _drawn(self, figure: ChartFigure, high: int) -> pn.Column:
        chart = figure.chart
        pane = PlotPane(figure.plot, sizing_mode="stretch_width", margin=0, height=high)
        note = f'<span class="why">{escape(chart.note)}</span>' if chart.note else ""
        heading = cards.html(cards.title(chart.title, beside=note), visible=bool(chart.title))
        over = [self.handle] if chart.equal_units else []
        return pn.Column(heading, pane, *over, sizing_mode="stretch_width", margin=0)


def _own(chart: Chart, tables: Tables) -> Tables:
    """Return the tables of one chart."""
    return {mark.table: tables[mark.table] for mark in chart.marks}


def emptied(tables: Tables) -> Tables:
    """Return tables without rows."""
    return {name: {column: [] for column in table} for name, table in tables.items()}
