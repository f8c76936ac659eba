"""The bar that moves the cursor over the steps of a race, by hand or playing, and says what each solver did there."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import panel as pn

from mklviz.engine import Run
from mklviz.engine.race import narrated
from mklviz.views.form import Button, Form, FormRow, Select, Slider
from mklviz.views.look import cards
from mklviz.views.look.palette import RunStyle, swatch
from mklviz.views.session.session import Session

__all__ = ["FRAMES", "CursorBar"]

FRAMES = 100  # at most, from the first step of a race to its last
FRAME_SECONDS, LEAST_SECONDS = 0.2, 0.09  # between two frames, as a rule and at least: just below that of ticks
SPEEDS = {"½×": 0.5, "1×": 1.0, "2×": 2.0, "4×": 4.0}


class CursorBar(pn.viewable.Viewer):
    """Buttons, a slider and a sentence for each solver.

    `playing`: whether the cursor goes on by itself; `words`: what each solver did at that step.
    """

    def __init__(self) -> None:
        super().__init__()
        self.playing, self._drawn_at = False, 0.0
        self._session: Session | None = None
        self._styles: Mapping[str, RunStyle] = {}
        self.play_button = Button(self.play, label="Play")
        self.slider = Slider(label="Step")
        self.slider.param.watch(self._slide, "value")
        self.words = cards.html()
        self.speed = Select(label="Speed", options=SPEEDS, value=1.0, width=150)
        buttons = (
            self.play_button,
            Button(self.start, label="To the start", variant="text"),
            Button(self.back, label="Step back", variant="text"),
            Button(self.on, label="Step on", variant="text"),
            Button(self.end, label="To the end", variant="text"),
        )
        self.root = cards.card(Form(FormRow(*buttons, self.speed, self.slider, wrap=True)), self.words)

    # -- the buttons

    def play(self, *_: Any) -> None:
        """Let the cursor go on by itself, from the beginning if it is at the end; or hold it."""
        self.set_playing(not self.playing)
        if self.playing and self.step >= self.last:
            self._go(0)

    def back(self, *_: Any) -> None:
        """Go one step back."""
        self.set_playing(False)
        self._go(self.step - 1)

    def on(self, *_: Any) -> None:
        """Go one step on."""
        self.set_playing(False)
        self._go(self.step + 1)

    def start(self, *_: Any) -> None:
        """Go to the first step."""
        self.set_playing(False)
        self._go(0)

    def end(self, *_: Any) -> None:
        """Follow the end again."""
        self.set_playing(False)
        if self._session is not None:
            self._session.cursor = None

    def press(self, key: str) -> None:
        """Do what one of the `STEP_KEYS` asks for."""
        {"ArrowLeft": self.back, "ArrowRight": self.on, "Home": self.start, "End": self.end}[key]()

    def go_to(self, step: int) -> None:
        """Go to a step, and stay there."""
        self.set_playing(False)
        self._go(step)

    def set_playing(self, playing: bool) -> None:
        """Let the cursor go on by itself, or hold it."""
        self.playing = playing
        self.play_button.label = "Hold" if playing else "Play"  # another button says Pause

    def _slide(self, event: Any) -> None:
        if event.new != self.step:
            self._go(event.new)

    # -- where the cursor is

    @property
    def last(self) -> int:
        """The last step of the race."""
        return 0 if self._session is None else max(self._session.last_step, 0)

    @property
    def step(self) -> int:
        """The step shown: the last one unless another was chosen."""
        cursor = None if self._session is None else self._session.cursor
        return self.last if cursor is None else min(cursor, self.last)

    def _go(self, step: int) -> None:
        if self._session is not None:
            self._session.cursor = min(max(step, 0), self.last)

    # -- the session

    def follow(self, session: Session, styles: Mapping[str, RunStyle]) -> None:
        """Show the session's step; `styles` are those of its runs."""
        self._session, self._styles = session, styles
        self._tell()

    def tick(self, now: float, watched: bool = True) -> None:
        """Take the new length of the race; while playing and `watched`, go on."""
        if self.slider.end != max(self.last, 1):
            self._tell()
        seconds = max(FRAME_SECONDS / self.speed.value, LEAST_SECONDS)
        if self.playing and watched and now - self._drawn_at >= seconds:
            self._drawn_at = now
            at_once = round(max(self.speed.value * seconds / FRAME_SECONDS, 1.0))
            self._go(self.step + at_once * -(-self.last // FRAMES))
            if self.step >= self.last:
                self.set_playing(False)

    def _tell(self) -> None:
        """Put the slider where the cursor is, and say what each solver did at that step."""
        self.slider.param.update(end=max(self.last, 1), value=self.step)
        race = None if self._session is None else self._session.race
        runs = {} if race is None else race.runs
        deeds = (_deed(run, self._styles[key], self.step) for key, run in runs.items() if key in self._styles)
        self.words.object = "".join(deeds)

    def __panel__(self) -> Any:
        return self.root


def _deed(run: Run, style: RunStyle, step: int) -> str:
    """Return as HTML what a run did at a step."""
    trace = run.trace
    if step < trace.first_step:
        deed = f"begins at step {trace.first_step:,}."
    elif step > trace.last_step:
        deed = f"finished at step {trace.last_step:,}." if run.finished else "has not come this far yet."
    else:
        deed = narrated(run.solver, trace, trace.index_at(step))
    return f'<p class="why">{swatch(style)} <b>{escape(style.label)}</b> {escape(deed)}</p>'
