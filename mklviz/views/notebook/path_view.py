"""A path as a picture that displays itself."""

from __future__ import annotations

from typing import Any

import panel as pn

from mklviz.engine import Path
from mklviz.views.chart.path_picture import PathPicture
from mklviz.views.chart.svg_pictures import path_still
from mklviz.views.host.environment import running_marimo
from mklviz.views.look.palette import LIGHT, Theme
from mklviz.views.notebook.still import still_bundle

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
