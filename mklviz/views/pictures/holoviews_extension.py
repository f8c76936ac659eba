"""Pictures in notebooks: Jupyter shows them once HoloViews' extension is loaded, and marimo asks each of them."""

from __future__ import annotations

import re
from functools import partialmethod
from typing import Any

import holoviews as hv
from bokeh.embed import file_html
from bokeh.model import Model
from bokeh.resources import INLINE

from mklviz.views.host.environment import is_loaded, notebook_shell, running_marimo
from mklviz.views.pictures.style import rendered

__all__ = ["picture_page", "show_in_notebooks"]


def picture_page(figure: Model) -> str:
    """Return the HTML of a page that shows what `rendered` has drawn."""
    page = file_html(figure, INLINE, title="mklviz")
    # Bokeh names what any model loads that this process knows, such as Panel's, even where the page has none of them
    return re.sub(r'<script src="[^"]*"></script>\s*', "", page)


def show_in_notebooks() -> None:
    """Let the notebook that runs here show pictures; elsewhere do nothing.

    BokehJS comes with them, so that pictures need no network, as nothing of mklviz does. In Jupyter an extension that
    is loaded already stays in use.
    """
    if marimo := running_marimo():
        for kind in (hv.core.ViewableElement, hv.core.ViewableTree):
            kind._display_ = partialmethod(_in_marimo, marimo)  # which marimo asks for
    elif notebook_shell() is not None and not is_loaded(hv.extension):
        hv.extension("bokeh", logo=False, inline=True)


def _in_marimo(picture: Any, marimo: Any) -> Any:
    """Return a picture as a page in a frame; one with sliders, or of another backend, as marimo would show it."""
    if hv.Store.current_backend != "bokeh" or picture.traverse(lambda part: part, [hv.HoloMap]):
        return marimo.ui.panel(picture)
    return marimo.iframe(picture_page(rendered(picture)))
