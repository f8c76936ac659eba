"""A path as a picture that displays itself."""

from __future__ import annotations

from typing import Any

import panel as pn

from mklviz.engine import Path
from mklviz.views.chart.path_picture import PathPicture
from mklviz.views.chart.svg_pictures import path_still
from mklviz.views.host.kernel import in_notebook
from mklviz.views.look.palette import LIGHT, Theme
from mklviz.views.notebook.output import Output

__all__ = ["PathFigure", "path_figure"]


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
    """
    return PathFigure(path, cold, theme)


class PathFigure(pn.viewable.Viewer):
    """The picture of a path.

    `weights`, `active`, `cost`: Bokeh figures that share their x axis; `layout`: all three, for ``bokeh.io.save``.
    """

    def __init__(self, path: Path, cold: Path | None, theme: Theme) -> None:
        super().__init__()
        self._path, self._cold, self._theme = path, cold, theme
        picture = PathPicture(path, cold, theme)
        self.weights, self.active, self.cost = picture.weights, picture.active, picture.cost
        self.layout = picture.layout

    def update(self) -> None:
        """Do nothing: a path stands still."""

    def resend(self) -> None:
        """Do nothing, likewise."""

    def _ipython_display_(self) -> None:
        """Show it below a cell: figures as long as the kernel lives, and a picture that is saved."""
        if not in_notebook():
            raise NotImplementedError  # IPython takes this for "not available"

        def draw() -> str:
            return path_still(self._path, self._cold)

        output = Output(self._path, lambda: PathFigure(self._path, self._cold, self._theme), draw)
        output.display()
        output.keep_picture()

    def __panel__(self) -> Any:
        return pn.pane.Bokeh(self.layout, sizing_mode="stretch_width")
