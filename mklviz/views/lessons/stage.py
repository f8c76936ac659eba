"""The stage: a lesson's question above, its picture large below, and beside it what to watch and then the answer.

It stands above the tabs as long as the lesson is open. A race that is not the lesson's, as its set-up was changed, is
drawn by the usual picture, and the question steps back until the set-up is put back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from html import escape
from itertools import chain
from time import monotonic
from typing import Any

import panel as pn

from mklviz.language import ENGLISH, Language
from mklviz.record.bundle import recorded_evidence, recording
from mklviz.views.chart.bokeh_figure import ChartFigure
from mklviz.views.chart.columns import race_slots
from mklviz.views.chart.description import Chart, Tables
from mklviz.views.form import Button, Form, FormPart, FormRow
from mklviz.views.host.beside import beside
from mklviz.views.host.components import DragHandle, PlotPane
from mklviz.views.host.frames import FigureSync
from mklviz.views.lessons.picture import LessonRuns, Picture
from mklviz.views.lessons.pictures import picture_of, recorded_picture
from mklviz.views.lessons.score import LessonScore
from mklviz.views.look import cards
from mklviz.views.look.palette import Theme, kernel_legend
from mklviz.views.look.styles import race_styles, run_styles
from mklviz.views.race.race_view import Playback
from mklviz.views.race.results import why_no_curves
from mklviz.views.session.session import Session
from mklviz.views.sidebar.controls import USABLE, note
from mklviz.views.sidebar.scenario_panel import LessonPanel

CHANGED = "You changed this lesson's set-up, so its question waits."
GUESS = "Guess: a recorded race plays here at once, and Run lesson brings your own."
GUESS_FOLLOWING = "The picture comes with the race that you follow."
LATER = "This picture is computed from the result: it appears when the race has ended."
SEEN = {  # which race is drawn: the word for it, its look, and what it means
    "recorded": ("recorded", "settles", "A recording. Run lesson brings your own race."),
    "live": ("live", "stable", "Your race, on this machine."),
    "followed": ("live", "stable", "The race that you follow."),
}


class LessonStage(cards.Rooted):
    """A lesson on the page of a session.

    `commands`: "run", "full_speed" and "stop" of the leading page, "restore" puts the set-up back, "choose" turns
    to the lesson of a name; none on a page that follows. `pooled` stands below the question: what the class answers.
    """

    def __init__(
        self, session: Session, panel: LessonPanel, commands: Mapping[str, Callable[..., Any]], pooled: FormPart
    ) -> None:
        super().__init__()
        self._session, self.panel = session, panel
        language = self._language = panel.page_language
        self._drawn_at, self.every = 0.0, 0.25  # seconds between pictures of a race that goes on
        self._drawn: tuple[Any, ...] = ()
        self._playback: Playback | None = None  # of the lesson's recording, from the guess to the first points
        self._awaited, self.progress = False, ""
        self.run = Button(commands.get("run"), label=language("▶ Run lesson"), variant="contained")
        self.full_speed = Button(commands.get("full_speed"), label=language("Skip to the end"), visible=False)
        self.stop = Button(commands.get("stop"), label=language("Stop"), visible=False)
        self.close = Button(
            lambda *_: panel.param.update(open=False), label=language("Close"), variant="text", visible=bool(commands)
        )
        restore = Button(commands.get("restore"), label=language("Restore settings"))
        self.changed = FormRow(note(language(CHANGED), visible=True), restore, visible=False)
        self.run.visible = bool(commands)
        self.score = LessonScore(commands.get("choose"), language)
        sheet = beside(__file__, "stage.css")
        row = FormRow(panel.guess, self.run, self.full_speed, self.stop, self.close, wrap=True)
        self.question = Form(row, pooled, self.changed, stylesheets=[sheet])
        self.answer = Form(panel.words, self.score.line, stylesheets=[sheet], css_classes=["answer"])
        self.reasons = Form(panel.reasons, stylesheets=[sheet], css_classes=["reasons"], visible=False)
        self.picture = PictureView(language)
        parts = self.picture.root, self.answer, self.reasons
        look: dict[str, Any] = {"stylesheets": [sheet], "css_classes": ["stage"]}
        self.below = pn.Column(*parts, **look, sizing_mode="stretch_width", margin=0)
        panel.reasons.param.watch(lambda event: self.reasons.param.update(visible=event.new), "visible")
        self.heading = cards.html(height=0)  # for screen readers: the headings of the picture stand below it
        self._parts = [self.heading, self.question, self.below, self.score.summary, self.score.storage]
        self.root = pn.Column(sizing_mode="stretch_width", margin=0)
        self._turn()
        panel.param.watch(self._turn, "open")

    def _turn(self, *_: Any) -> None:
        if self.panel.open and not self.root.objects:  # a page without a lesson does not carry its stage
            self.root.objects = self._parts
        self.root.visible = self.panel.open
        self._update()

    def show_state(self, state: str, blocked: bool, changed: bool) -> None:
        """Show what can be pressed in a state of the page, and whether the controls differ from the lesson's."""
        usable, self._awaited = USABLE[state], state in ("preparing", "running")
        self.full_speed.visible, self.stop.visible = "pause" in usable, "stop" in usable
        self.close.visible = "run" in usable  # the others have its room
        label = "▶ Run as changed" if changed else "▶ Run again" if state == "finished" else "▶ Run lesson"
        label = self._language(label)
        self.run.param.update(disabled=blocked or "run" not in usable, label=label)  # it stays, and keeps the focus
        self.changed.visible = changed
        self.panel.guess.visible = not (changed and self._foreign)

    @property
    def _foreign(self) -> bool:
        """Whether the race on the page, if there is one, is not the lesson's."""
        recipe = self._session.recipe
        return recipe is None or not recipe.same_race(self.panel.scenario.recipe)

    def tick(self) -> None:
        """Draw what is new, now and then while the race goes on; to be called when the page is loaded."""
        self.score.storage.asked = True
        self._update()

    def _update(self) -> None:
        if not self.panel.open:
            return
        session, now = self._session, monotonic()
        self._play(now)
        traces = session.traces if self._playback is None else self._playback.drawn.traces
        steps = sum(map(len, traces.values()))
        title = self._language("Lesson: {title}", title=self._language(self.panel.scenario.title))
        self.heading.object = f'<h2 class="unseen">{escape(title)}</h2>'
        ended = session.race is not None and session.race.finished
        drawn = self.panel.scenario, session.race, session.theme, session.lesson_result
        words = self.progress or ("" if session.race is None else why_no_curves(session.race))
        state = (*drawn, steps, words, ended)
        growing = state[:4] == self._drawn[:4]
        if state == self._drawn or (growing and now - self._drawn_at < self.every):
            return
        self.score.take(self.panel)
        if self._draw(words):
            self._drawn, self._drawn_at = state, now

    def _play(self, now: float) -> None:
        """Play the recording from the guess, or from Run without one, until the race of the page has points."""
        scenario = self.panel.scenario
        live = any(map(len, self._session.traces.values()))
        # none on a page that follows, as it would tell a class the answer
        begun = not self._session.follows and (self.panel.guess.value is not None or self._awaited)
        if live or not begun or self.changed.visible or not recording(scenario.name):
            self._playback = None
            return
        if self._playback is None:
            self._playback = Playback(scenario.name, scenario.recipe, scenario.pace)
        self._playback.advance(now)

    def _draw(self, words: str) -> bool:
        """Draw the picture as it is now, with `words` on what is awaited; return whether the page could take it."""
        theme, scenario = self._session.theme, self.panel.scenario
        projected = ["projected"] if theme.projected else []
        self.below.css_classes, self.question.css_classes = ["stage", *projected], projected
        runs, live = self._runs(), self._playback is None
        if not runs.traces:
            before = recorded_picture(scenario.name, theme, self._language)
            picture = Picture([], {}) if before is None else before
            nothing = Picture(picture.rows, emptied(picture.tables))
            asks = GUESS_FOLLOWING if self._session.follows else GUESS
            guess = "" if before is None or self.changed.visible else asks
            return self.picture.show(nothing, theme, words or self._language(guess))
        picture = picture_of(replace(scenario, picture="gap") if self._foreign and live else scenario, runs)
        later = "" if _filled(picture.tables) else LATER
        seen = "recorded" if not live else "followed" if self._session.follows else "live"
        return self.picture.show(picture, theme, self._language(later), seen, words)

    def _runs(self) -> LessonRuns:
        session, name = self._session, self.panel.scenario.name
        before = race_slots(recording(name).values())
        if self._playback is not None:
            traces, evidence = self._playback.drawn.traces, recorded_evidence(name)
            styles = run_styles(traces, session.theme)
            return LessonRuns(traces, styles, evidence, session.theme, before, None, self._language)
        traces = {key: trace for key, trace in session.traces.items() if len(trace) and trace.origin is None}
        styles = {} if session.race is None else race_styles(session.race, session.theme)
        race = session.race
        problem = race.problem if race is not None and race.finished and not race.missing else None
        mine, result = {key: styles[key] for key in traces}, session.lesson_result
        evidence = {} if result is None or result.answer is None else result.answer.evidence
        return LessonRuns(traces, mine, evidence, session.theme, before, problem, self._language)


# pixels of the whole picture with its headings, of those above each row of charts, and of a chart at least
HEIGHT, HEADING, LEAST = 430, 30, 185
HEIGHT_PROJECTED, HEADING_PROJECTED, LEAST_PROJECTED = 390, 50, 145
# on a phone, where charts stand one below the other, the next one is to be seen, too
_LOWER = "@media (max-width: 700px) { :host { height: 290px !important; flex-basis: 290px !important; } }"
# over the first chart, below its heading however many lines that has
_OVER = {"position": "relative", "top": "24px", "z-index": "1", "pointer-events": "none", "text-align": "center"}
_ACROSS = "auto-fit, minmax(min(260px * var(--mk-scale, 1), 100%), 1fr)"


class PictureView(cards.Rooted):
    """Charts in rows, and what their curves are; words stand over them where there is nothing to be drawn yet."""

    def __init__(self, language: Language = ENGLISH) -> None:
        super().__init__()
        self._language = language
        self.figures: list[ChartFigure] = []
        self.headings: list[Any] = []
        self._theme: Theme | None = None
        self.handle = DragHandle(label=language("Start of the paths"), hint=language("Drag the start"))
        self.head, self.cover, self._kernels = cards.html(), cards.html(height=0, styles=_OVER), cards.html()
        self._rows, self.sync = pn.Column(sizing_mode="stretch_width", margin=0), FigureSync()
        parts = self.head, self._rows, self._kernels, self.sync.frames.heartbeat
        look = {"position": "relative", "height": "calc(100% - 12px)"}
        self.root = cards.card(*parts, css_classes=["picture"], styles=look)

    @property
    def charts(self) -> list[Chart]:
        """What is on the page."""
        return [figure.chart for figure in self.figures]

    def show(self, picture: Picture, theme: Theme, waiting: str = "", seen: str = "", progress: str = "") -> bool:
        """Draw a picture: new figures where its charts are others, else what their tables have become.

        `seen`: which race it is of, one of `SEEN`; `progress` of what replaces it.
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
        for figure, heading in zip(self.figures, self.headings, strict=True):
            later = "" if waiting else self._language("Appears when the race has ended")
            note = figure.chart.note if _filled(_own(figure.chart, picture.tables)) else later
            beside = f'<span class="why">{escape(note)}</span>' if note else ""
            heading.object = cards.title(figure.chart.title, beside=beside)
        self._offer_start(picture)
        self.head.object = self._header(seen, progress) + (cards.legend(picture.legend) if picture.legend else "")
        named = kernel_legend(picture.kernels, theme)
        self._kernels.object = f'<span class="legend">{named}</span>' if named else ""
        self.cover.object = f'<p class="guess">{escape(waiting)}</p>' if waiting else ""
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
        projected = HEIGHT_PROJECTED, HEADING_PROJECTED, LEAST_PROJECTED
        height, heading, least = projected if theme.projected else (HEIGHT, HEADING, LEAST)
        high = max(height // max(len(picture.rows), 1) - heading, least)
        self.figures = [ChartFigure(chart, theme, high, tools="") for chart in picture.charts]
        for figure in self.figures:  # before they are on the page
            figure.show(_own(figure.chart, picture.tables))
            figure.plot.stylesheets = [_LOWER] if len(picture.rows) == 1 else []
        if self.figures:
            self.handle.lie(self.figures[0].plot.id)
        self.headings = [cards.html(visible=bool(figure.chart.title)) for figure in self.figures]
        drawn = zip(self.figures, self.headings, strict=True)
        rows = [[self._drawn(*next(drawn), high) for _ in row] for row in picture.rows]
        self._rows.objects = [cards.grid(*row, columns=_ACROSS) for row in rows] or [self.cover]

    def _drawn(self, figure: ChartFigure, heading: Any, high: int) -> pn.Column:
        pane = PlotPane(figure.plot, sizing_mode="stretch_width", margin=0, height=high)
        over = [self.handle] if figure.chart.equal_units else []
        words = [self.cover] if figure is self.figures[0] else []
        return pn.Column(heading, *words, pane, *over, sizing_mode="stretch_width", margin=0)

    def _header(self, seen: str, progress: str) -> str:
        """Return as HTML which race is drawn."""
        word, look, meaning = SEEN.get(seen, ("", "", ""))
        word, meaning = self._language(word), self._language(meaning)
        pill = f'<b class="pill {look}" title="{meaning}">{word}</b> ' if seen else "&nbsp;"
        sentence = f'<span style="display: var(--mk-detail, inline)">{meaning}</span>'
        return f'<span class="why">{pill}{escape(progress) or sentence}</span> '


def _filled(tables: Tables) -> bool:
    return any(map(len, chain(*(table.values() for table in tables.values()))))


def _own(chart: Chart, tables: Tables) -> Tables:
    """Return the tables of one chart."""
    return {mark.table: tables[mark.table] for mark in chart.marks}


def emptied(tables: Tables) -> Tables:
    """Return tables without rows."""
    return {name: {column: [] for column in table} for name, table in tables.items()}
