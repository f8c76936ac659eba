"""Races and paths in the output of a cell: live figures, and what a cell keeps of them.

A notebook that is saved keeps a picture, and the recording as a page with its cursor: they are what there is to see
without the kernel, on a code host and in an export, and where a notebook shows no widgets.
"""

from __future__ import annotations

import logging
import threading
import time
from html import escape
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import panel as pn

from mklviz.engine import Path, Race
from mklviz.views.chart.race_charts import PathPicture
from mklviz.views.chart.svg import still_bundle, still_html
from mklviz.views.chart.svg_pictures import path_still, race_still
from mklviz.views.export.page import race_page
from mklviz.views.host.environment import after_each_cell, running_marimo, show_below_cell, show_bundle
from mklviz.views.look.palette import LIGHT, Theme
from mklviz.views.race.results import race_sentence

if TYPE_CHECKING:
    from mklviz.views.notebook.race_widget import RaceWidget


class Still:
    """An output below the running cell, hidden where live figures are drawn; it shows `subject`, or its ``repr``."""

    def __init__(self, subject: object) -> None:
        self.id = uuid4().hex
        self._subject = subject
        self._shown: Any = None

    def display(self, words: str) -> None:
        """Begin it with a sentence, where a notebook keeps outputs."""
        self._shown = show_bundle(self._bundle(f"<p>{escape(words)}</p>"), f"still-{self.id}")

    def keep(self, drawn: str, words: str = "", page: str = "") -> None:
        """Show a picture, as SVG, instead, with a sentence, and a `page` that unfolds below it."""
        if self._shown is None:
            return
        paragraph = f"<p>{escape(words)}</p>" if words else ""
        unfolded = _folded(page) if page else ""
        bundle = self._bundle(f"{paragraph}{still_html(drawn, repr(self._subject))}{unfolded}")
        self._shown.update(bundle | {"image/svg+xml": drawn}, raw=True)

    def _bundle(self, html: str) -> dict[str, str]:
        place = f'[data-still="{self.id}"]'
        # without a kernel JupyterLab writes in the place of the widget, just above, that it is not there
        quiet = f".jp-OutputArea-child:has(+ .jp-OutputArea-child {place}):not(:has(.mklviz-race)) {{ display: none; }}"
        whole = f'<style>{quiet}</style><div data-still="{self.id}">{html}</div>'
        return {"text/html": whole, "text/plain": repr(self._subject)}


def _folded(page: str) -> str:
    """Return a page within a page; where none is let in, its heading stays empty."""
    source = page.replace("&", "&amp;").replace("'", "&#39;")
    return (
        "<details><summary>The recording, with a cursor over its steps (in a notebook that is trusted)</summary>"
        f"<iframe title='The recording' style='width: 100%; height: 720px; border: 0' srcdoc='{source}'></iframe>"
        "</details>"
    )


# -- a race in a cell, kept up to date by a thread: the kernel's own event loop stands still while a cell runs


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
        self.widget: RaceWidget | None = None
        if find_spec("anywidget") is not None:
            from mklviz.views.notebook.race_widget import RaceWidget

            self.widget = RaceWidget(race, gap, self.still.id)
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
                self.still.keep(race_still(self.race, self._gap), f"{race_sentence(self.race)} {self._words}")

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


def path_figure(path: Path, cold: Path | None = None, theme: Theme = LIGHT) -> PathFigure:
    """Draw a path; in a notebook the result displays itself.

    Parameters
    ----------
    path : Path
        As `mklviz.path` returns it.
    cold : Path, optional
        The same path with ``warm=False``, to compare what the values cost.
    theme : Theme
        Light by default.

    Raises
    ------
    ProblemError
        If the path has no values yet, or the two vary different parameters.

    Examples
    --------
    >>> problem = mv.Problem(mv.KernelBank.build(np.eye(4), "gauss:1,4"), np.array([1.0, 1.0, -1.0, -1.0]))
    >>> figure = mv.path_figure(mv.path(problem, "level", C=[10.0, 1.0]))
    """
    return PathFigure(path, cold, theme)


class PathFigure(pn.viewable.Viewer):
    """The picture of a path: figures of Bokeh that share their x axis; `layout` is all, for ``bokeh.io.save``."""

    def __init__(self, path: Path, cold: Path | None, theme: Theme) -> None:
        super().__init__()
        self._path, self._cold = path, cold
        picture = PathPicture(path, cold, theme)
        self.weights, self.active, self.cost = picture.weights, picture.active, picture.cost
        self.layout = picture.layout

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Show it below a cell as a picture, which is saved with the notebook."""
        return still_bundle(path_still(self._path, self._cold), repr(self._path))

    def _display_(self) -> Any:
        """Return what marimo shows below a cell: the same picture."""
        return running_marimo().Html(self._repr_mimebundle_()["text/html"])

    def __panel__(self) -> Any:
        return pn.pane.Bokeh(self.layout, sizing_mode="stretch_width")
