"""A race as a widget, wherever notebooks have widgets: its state is the recording, sent anew as it grows."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import anywidget
import traitlets

from mklviz.engine import Race
from mklviz.views.export.page import FIGURES_STYLE, Recorded, colours, figures_script
from mklviz.views.host.beside import beside
from mklviz.views.look.palette import DARK, LIGHT
from mklviz.views.look.styles import run_styles
from mklviz.views.race.results import race_sentence


class RaceWidget(anywidget.AnyWidget):
    """The live figures of a race below its buttons; `wanted`: whether a page has drawn what it was sent, or asks."""

    _esm = figures_script() + beside(__file__, "widget.js")
    sheet = traitlets.Unicode(FIGURES_STYLE).tag(sync=True)
    still = traitlets.Unicode().tag(sync=True)
    recording = traitlets.Dict().tag(sync=True)
    colours = traitlets.Dict().tag(sync=True)
    control = traitlets.Dict().tag(sync=True)

    def __init__(self, race: Race, gap: float | None = None, still: str = "") -> None:
        self.race = race
        self.wanted = threading.Event()
        self._gap = gap
        super().__init__(still=still, control=self._control())
        self.on_msg(self._hear)

    def __repr__(self) -> str:
        """Return what stands where no widget can."""
        return repr(self.race)

    def update(self) -> None:
        """Tell the pages how the race stands."""
        solvers = {key: run.solver for key, run in self.race.runs.items()}
        shown = Recorded(self.race.traces, solvers, self.race.problem.noun, self._gap)
        self.control = self._control()
        self.colours = {
            name: f":host {{ color-scheme: {name}; {colours(run_styles(shown.begun, theme), theme)} }}"
            for name, theme in (("light", LIGHT), ("dark", DARK))
        }
        if shown.begun:
            recording = shown.page_data()
            if recording != self.recording:
                self.wanted.clear()
                self.recording = recording

    def _control(self) -> dict[str, Any]:
        race = self.race
        return {"state": race.status, "words": race_sentence(race), "paced": race.pace > 0}

    def _hear(self, _widget: Any, message: Any, _buffers: Any) -> None:
        race = self.race
        wishes: dict[str, Callable[[], object]] = {"more": lambda: None, "step": race.step, "stop": race.cancel}
        wishes["full"] = partial(setattr, race, "pace", 0.0)
        wishes["pause"] = race.start if race.status == "paused" else race.pause
        wish = message.get("wish") if isinstance(message, dict) else None
        if wish in wishes:
            wishes[wish]()
            self.wanted.set()
