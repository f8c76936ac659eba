"""A race in a cell, kept up to date by a thread: the kernel's own event loop stands still while a cell runs."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from mklviz.engine import Race
from mklviz.views.host.kernel import after_each_cell
from mklviz.views.notebook.output import Output

if TYPE_CHECKING:
    from mklviz.views.notebook.cell import RaceCell

__all__ = ["CellUpdates", "show_in_cell"]

TICK = 0.1  # seconds between looks at the traces
PICTURE_SECONDS = 5.0  # between pictures of a race that goes on
PAINT_SECONDS = 5.0  # for the last frames

_log = logging.getLogger(__name__)


def show_in_cell(race: Race, gap: float | None) -> CellUpdates:
    """Display `race` below the running cell and keep it up to date."""
    keeper = CellUpdates(race, gap)
    keeper.begin()
    return keeper


class CellUpdates:
    """Keeps pages and picture of a race up to date until it has ended, and all of its end has been sent."""

    def __init__(self, race: Race, gap: float | None) -> None:
        self.race, self._gap = race, gap
        self.output = Output(race, self._build, self._draw)
        self._thread = threading.Thread(target=self._keep, name="mklviz-cell", daemon=True)
        self._last = threading.Lock()
        self._pictured = False  # whether the picture shows the end

    def begin(self) -> None:
        """Display the race, and begin to follow it."""
        self.output.display("The race runs; its curves appear here.")
        self._stop_hearing = after_each_cell(self._after_cell)
        self._thread.start()

    def _after_cell(self) -> None:
        """Save the picture of the end before the kernel may stop, as in a notebook that is run as a whole."""
        if self.race.finished:
            self._stop_hearing()
            self._picture_end()

    def _picture_end(self) -> None:
        with self._last:
            if not self._pictured:
                self._pictured = True
                self.output.keep_picture()

    def _keep(self) -> None:
        try:
            self._follow()
            self._picture_end()
            for page in list(self.output.pages):
                page.resend()
            end = time.monotonic() + PAINT_SECONDS
            while time.monotonic() < end:
                self.output.update()
                time.sleep(TICK)
        except Exception:
            _log.exception("The race goes on, but is no longer drawn")

    def _follow(self) -> None:
        pictured = time.monotonic()
        while not self.race.finished:
            self.output.update()
            if time.monotonic() - pictured > PICTURE_SECONDS:
                self.output.keep_picture()
                pictured = time.monotonic()
            time.sleep(TICK)

    def _build(self) -> RaceCell:
        from mklviz.views.notebook.cell import RaceCell

        return RaceCell(self.race, self._gap)

    def _draw(self) -> str:
        from mklviz.views.chart.svg_pictures import race_still

        return race_still(self.race, self._gap)
