"""A race in the output of a notebook cell: the live view below three buttons."""

from __future__ import annotations

from time import monotonic
from typing import Any

import panel as pn
import panel_material_ui as pmui

from mklviz.engine import Race
from mklviz.views.race.race_view import RaceView

__all__ = ["RaceCell"]


class RaceCell(pn.viewable.Viewer):
    """The view of a race with buttons, for one page of a notebook."""

    def __init__(self, race: Race, gap: float | None = None) -> None:
        super().__init__()
        self.race = race
        self.view = RaceView(gap_tolerance=gap)
        self.view.show(race)
        self._pause = _button("Pause", self.pause)
        self._step = _button("Step", self.step)
        self._stop = _button("Stop", self.stop)
        self._status = pn.pane.Str(self.view.param.status_text, margin=(10, 12), sizing_mode="stretch_width")
        bar = pn.Row(
            self._pause, self._step, self._stop, self._status, margin=(0, 0, 6, 0), sizing_mode="stretch_width"
        )
        self._root = pn.Column(bar, self.view, margin=0, sizing_mode="stretch_width")

    def pause(self, *_: Any) -> None:
        """Hold the race, or let it go on."""
        if self.race.status == "paused":
            self.race.start()
        else:
            self.race.pause()

    def step(self, *_: Any) -> None:
        """Let every solver take one step and hold."""
        self.race.step()

    def stop(self, *_: Any) -> None:
        """End the race."""
        self.race.cancel()

    def update(self) -> None:
        """Bring buttons and figures up to date."""
        status = self.race.status
        self._pause.label = "Resume" if status == "paused" else "Pause"
        for button in (self._pause, self._step, self._stop):
            button.disabled = status == "finished"
        self.view.tick(monotonic())

    def resend(self) -> None:
        """Send everything again with the next update."""
        self.view.resend()

    def __panel__(self) -> Any:
        return self._root


def _button(label: str, react: Any) -> pmui.Button:
    return pmui.Button(label=label, on_click=react, variant="outlined", size="small", margin=(4, 6, 4, 0))
