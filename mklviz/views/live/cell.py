"""A race in the output of a notebook cell: the live view below three buttons."""

from __future__ import annotations

import time
from typing import Any

import panel as pn
import panel_material_ui as pmui

from mklviz.engine import Race
from mklviz.views.live.heartbeat import every
from mklviz.views.live.one_sender import take_turns
from mklviz.views.live.race_view import TICK, RaceView

__all__ = ["RaceCell", "show_in_cell"]

PAINT_SECONDS = 5.0  # for the last frames
UNSEEN_SECONDS = 60.0  # after the end of a race that no browser has shown


def show_in_cell(race: Race, gap: float | None) -> RaceCell:
    """Display `race` below the running cell and keep it up to date."""
    from IPython.display import display

    if not pn.extension._loaded:
        pn.extension(inline=True)  # from a network without internet, anything else stays empty without a word
    cell = RaceCell(race, gap)
    display(cell)  # type: ignore[no-untyped-call]
    cell.follow()
    return cell


class RaceCell(pn.viewable.Viewer):
    """The view of a race with buttons, for a notebook."""

    def __init__(self, race: Race, gap: float | None = None) -> None:
        super().__init__()
        take_turns()
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
        self._opened_at = 0.0
        self._ended_at: float | None = None
        self._callback: Any = None

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

    def follow(self) -> None:
        """Begin to send what is new, until the race has ended and its end has been seen."""
        self._callback = every(TICK, self._tick)

    async def _tick(self) -> None:
        status, now = self.race.status, time.monotonic()
        if status == "finished" and self._ended_at is None:
            self._ended_at = now
        if not self._on_screen():
            if self._ended_at is not None and now - self._ended_at > UNSEEN_SECONDS:
                self._callback.stop()
            return
        self._pause.label = "Resume" if status == "paused" else "Pause"
        await self.view.tick()
        if self._ended_at is None:
            return
        for button in (self._pause, self._step, self._stop):
            button.disabled = True
        if now - max(self._ended_at, self._opened_at) > PAINT_SECONDS:
            self._callback.stop()

    def _on_screen(self) -> bool:
        """Is the cell drawn? What is sent before is delivered late and out of order, so nothing is."""
        if self._opened_at == 0.0 and any(comm._comm is not None for comm, _ in self._root._comms.values()):
            self._opened_at = time.monotonic()
        return self._opened_at > 0.0

    def __panel__(self) -> Any:
        return self._root


def _button(label: str, react: Any) -> pmui.Button:
    return pmui.Button(label=label, on_click=react, variant="outlined", size="small", margin=(4, 6, 4, 0))
