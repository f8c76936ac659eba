"""TIMELINE: back and forth over the steps of a race; every figure and the table stand at the step chosen."""

from __future__ import annotations

from html import escape
from typing import Any

import panel as pn

from mklviz.engine import Run
from mklviz.views.form import Button, Form, Row, Slider
from mklviz.views.live.race_view import RaceView
from mklviz.views.look import cards
from mklviz.views.look.palette import RunStyle, swatch
from mklviz.views.session import Session
from mklviz.views.tabs._tab import Tab

__all__ = ["Timeline"]

FRAMES = 100  # at most, from the first step of a race to its last
FRAME_SECONDS = 0.2


class Timeline(Tab):
    """A cursor over the recorded race, which can be moved by hand or play.

    Attributes
    ----------
    view : RaceView
    playing : bool
    """

    title, order = "Timeline", 10

    def __init__(self) -> None:
        super().__init__()
        self.view = RaceView()
        self.playing, self._drawn_at = False, 0.0
        self._session: Session | None = None
        self._play = Button(self.play, label="Play")
        self._slider = Slider(label="Step")
        self._slider.param.watch(self._slide, "value")
        self._told = cards.html()
        buttons = (
            self._play,
            Button(self.back, label="Step back", variant="text"),
            Button(self.on, label="Step on", variant="text"),
            Button(self.end, label="To the end", variant="text"),
        )
        bar = Form(Row(*buttons, self._slider))
        self.root = pn.Column(cards.card(bar, self._told), self.view, margin=(8, 0, 0, 0), sizing_mode="stretch_width")

    @classmethod
    def supports(cls, session: Session) -> str:
        """A race that has taken steps is needed."""
        return "" if session.last_step > 0 else "Press Run first: the timeline goes back over the steps of a race."

    # -- the buttons

    def play(self, *_: Any) -> None:
        """Let the cursor go on by itself, from the beginning if it is at the end; or hold it."""
        self._set_playing(not self.playing)
        if self.playing and self._step >= self._last:
            self._go(0)

    def back(self, *_: Any) -> None:
        """Go one step back."""
        self._set_playing(False)
        self._go(self._step - 1)

    def on(self, *_: Any) -> None:
        """Go one step on."""
        self._set_playing(False)
        self._go(self._step + 1)

    def end(self, *_: Any) -> None:
        """Follow the end again."""
        self._set_playing(False)
        if self._session is not None:
            self._session.cursor = None

    def _slide(self, event: Any) -> None:
        if event.new != self._step:
            self._go(event.new)

    def _set_playing(self, playing: bool) -> None:
        self.playing = playing
        self._play.label = "Hold" if playing else "Play"  # another button says Pause

    # -- where the cursor is

    @property
    def _last(self) -> int:
        return 0 if self._session is None else max(self._session.last_step, 0)

    @property
    def _step(self) -> int:
        """The step shown, which is the last one unless somebody chose another."""
        cursor = None if self._session is None else self._session.cursor
        return self._last if cursor is None else min(cursor, self._last)

    def _go(self, step: int) -> None:
        if self._session is not None:
            self._session.cursor = min(max(step, 0), self._last)

    # -- the session

    def follow(self, session: Session) -> None:
        """Show the session's race at its step."""
        self._session, view = session, self.view
        view.on_key = session.press
        view.set_dark(session.theme.dark)
        if session.race is not view.race:
            self._set_playing(False)
            if session.race is None:
                view.clear()
            else:
                view.gap_tolerance = session.tolerance
                prepared = session.prepared
                view.show(session.race, prepared.score, prepared.test.task == "regression")
        view.cursor = session.cursor
        self.root.stylesheets = [cards.variables(session.theme)]
        self._tell()

    def tick(self, now: float) -> None:
        """Draw what is new; while playing, go on."""
        self.view.look()
        if self._slider.end != max(self._last, 1):
            self._tell()
        if self.playing and now - self._drawn_at >= FRAME_SECONDS:
            self._drawn_at = now
            self._go(self._step + -(-self._last // FRAMES))
            if self._step >= self._last:
                self._set_playing(False)

    def _tell(self) -> None:
        """Put the slider where the cursor is, and say what each solver did at that step."""
        self._slider.param.update(end=max(self._last, 1), value=self._step)
        race = self.view.race
        runs = {} if race is None else race.runs
        self._told.object = "".join(_deed(run, self.view.styles[key], self._step) for key, run in runs.items())

    def close(self) -> None:
        """Hold the cursor."""
        self.playing = False

    def __panel__(self) -> Any:
        return self.root


def _deed(run: Run, style: RunStyle, step: int) -> str:
    """Return as HTML what a run did at a step."""
    if step >= len(run.trace):
        said = f"had ended at step {len(run.trace) - 1:,}." if run.finished else "has not come so far."
    elif step == 0:
        said = run.solver.narrate(None, run.trace[0])
    else:
        said = run.solver.narrate(run.trace[step - 1], run.trace[step])
    return f'<p class="why">{swatch(style)} <b>{escape(style.label)}</b> {escape(said)}</p>'
