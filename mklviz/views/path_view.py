"""A path as a picture that displays itself."""

from __future__ import annotations

from typing import Any

import panel as pn

from mklviz.engine import Path
from mklviz.views.look.palette import LIGHT, Theme
from mklviz.views.notebook import in_notebook
from mklviz.views.plots.path_picture import PathPicture

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
    picture = PathPicture(path, cold, theme)
    if in_notebook() and not pn.extension._loaded:
        pn.extension(inline=True)  # from a network without internet, anything else stays empty without a word
    return PathFigure(picture)


class PathFigure(pn.viewable.Viewer):
    """The picture of a path.

    Attributes
    ----------
    weights, active, cost : figure
        Bokeh figures that share their x axis.
    layout : Column
        All three, for ``bokeh.io.save``.
    """

    def __init__(self, picture: PathPicture) -> None:
        super().__init__()
        self.weights, self.active, self.cost = picture.weights, picture.active, picture.cost
        self.layout = picture.layout

    def __panel__(self) -> Any:
        return pn.pane.Bokeh(self.layout, sizing_mode="stretch_width")
