"""A race in a cell, kept up to date by a thread: the kernel's own event loop stands still while a cell runs."""

from __future__ import annotations

import logging
import threading
import time
from importlib.util import find_spec
from typing import TYPE_CHECKING

from mklviz.engine import Race
from mklviz.views.chart.svg_pictures import race_still
from mklviz.views.export.page import race_page
from mklviz.views.host.environment import after_each_cell, show_below_cell
from mklviz.views.notebook.still import Still

if TYPE_CHECKING:
    from mklviz.views.notebook.race_widget import RaceWidget

__all__ = ["RaceCell"]

TICK = 0.25  # seconds between looks at the traces
REST = 4.0  # times as long as a recording takes to be made, until the next one, but not above a second
SAVED_STEPS = 1200  # of all runs together: five races keep a notebook below two megabytes
PATIENCE = 2.0  # seconds to wait for a page to have drawn; there may be none
PICTURE_SECONDS = 5.0  # between pictures of a race that goes on
NO_WIDGETS = "This notebook shows no widgets: instead of live figures, a picture of the race is drawn every 5 seconds."
NO_PACKAGE = 'Live figures need anywidget: install mklviz with its extra, as in pip install ".[notebook]".'

_log = logging.getLogger(__name__)


class RaceCell:
    """Keeps widget and picture of a race up to date until it has ended."""

    def __init__(self, race: Race, gap: float | None) -> None:
        self.race, self._gap = race, gap
        self.still = Still(race)
        self.widget = _widget(race, gap, self.still.id)
        self._words = NO_PACKAGE if self.widget is None else NO_WIDGETS
        self._last = threading.Lock()
        self._pictured = False  # whether the picture shows the end

    def begin(self) -> None:
        """Display the race, and begin to follow it."""
        if self.widget is not None:
            show_below_cell(self.widget, self.race)
        self.still.display(self._words)
        self._stop_hearing = after_each_cell(self._after_cell)
        threading.Thread(target=self._follow, name="mklviz-cell", daemon=True).start()

    def _after_cell(self) -> None:
        """Save the picture of the end before the kernel may stop, as in a notebook that is run as a whole."""
        if self.race.finished:
            self._stop_hearing()
            self._picture_end()

    def _picture_end(self) -> None:
        with self._last:
            if not self._pictured:
                self._pictured = True
                begun = any(len(trace) for trace in self.race.traces.values())
                self.still.keep(
                    race_still(self.race, self._gap), page=race_page(self.race, in_all=SAVED_STEPS) if begun else ""
                )

    def _picture_on_the_way(self) -> None:
        with self._last:
            if not self._pictured:  # the race may have ended since this thread has looked
                self.still.keep(race_still(self.race, self._gap), self._words)

    def _follow(self) -> None:
        try:
            pictured = time.monotonic()
            while not self.race.finished:
                time.sleep(self._update())
                if time.monotonic() - pictured > PICTURE_SECONDS:
                    self._picture_on_the_way()
                    pictured = time.monotonic()
            self._update(patience=0.0)
            self._picture_end()
        except Exception:
            _log.exception("The race goes on, but is no longer drawn")

    def _update(self, patience: float = PATIENCE) -> float:
        """Bring the widget up to date, and wait until a page has drawn; return for how many seconds to rest."""
        if self.widget is None:
            return TICK
        begun = time.monotonic()
        self.widget.update()
        spent = time.monotonic() - begun
        self.widget.wanted.wait(patience)
        return min(max(TICK, REST * spent), 1.0)


def _widget(race: Race, gap: float | None, still: str) -> RaceWidget | None:
    """Return a widget, or None where the package for it is not installed."""
    if find_spec("anywidget") is None:
        return None
    from mklviz.views.notebook.race_widget import RaceWidget

    return RaceWidget(race, gap, still)
