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
from mklviz.views.form import Button, Form, FormRow
from mklviz.views.host.beside import beside
from mklviz.views.lessons.curves import gap
from mklviz.views.lessons.picture import LessonRuns, Picture
from mklviz.views.lessons.picture_view import PictureView, emptied
from mklviz.views.lessons.pictures import picture_of
from mklviz.views.lessons.score import LessonScore
from mklviz.views.lessons.thumbnail import recorded_picture
from mklviz.views.look import cards
from mklviz.views.look.styles import race_styles
from mklviz.views.session.session import Session
from mklviz.views.sidebar.controls import note
from mklviz.views.sidebar.scenario_panel import LessonPanel

__all__ = ["LessonStage"]

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


class LessonStage(pn.viewable.Viewer):
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
        below = pn.Column(
            *parts, stylesheets=[beside(__file__, "stage_grid.css")], sizing_mode="stretch_width", margin=0
        )
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
        state = (self.panel.scenario, session.race, session.theme, session.lesson_result, steps)
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
        return LessonRuns(traces, {key: styles[key] for key in traces}, self._evidence(), session.theme)

    def _evidence(self) -> Evidence:
        result = self._session.lesson_result
        return {} if result is None or result.answer is None else result.answer.evidence

    def __panel__(self) -> Any:
        return self.root


def _has_rows(picture: Picture) -> bool:
    return any(len(column) for table in picture.tables.values() for column in table.values())
