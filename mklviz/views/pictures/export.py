"""Pictures as files and in notebooks: a page that moves under the mouse (HTML), or a still one (SVG, PNG, PDF)."""

from __future__ import annotations

import re
from functools import partialmethod
from pathlib import Path
from typing import Any

import holoviews as hv
from bokeh.embed import file_html
from bokeh.model import Model
from bokeh.resources import INLINE

from mklviz.errors import ProblemError
from mklviz.record.archive import replacing
from mklviz.views.chart.pixels import still_picture
from mklviz.views.chart.svg import still_bundle, still_html
from mklviz.views.host.environment import is_loaded, notebook_shell, running_marimo
from mklviz.views.pictures.still import still
from mklviz.views.pictures.style import rendered

FORMATS = ("html", "svg", "png", "pdf")


def save(picture: Any, path: str | Path) -> None:
    """Write a picture, or several composed with ``+`` and ``*``, to a file.

    Parameters
    ----------
    picture : HoloViews object
        As the functions of `mklviz.plot` return it.
    path : str or Path
        Ends in ".html", a page that needs no network; in ".svg"; or in ".png" or ".pdf", which need the extra
        "pictures".

    Raises
    ------
    ProblemError
        If the name has another ending, or something was added that only a browser draws, and the page is to have
        another ending than ".html".
    MissingPackage
        If what writes PNG or PDF is not installed.

    Examples
    --------
    >>> import mklviz as mv
    >>> train, test = mv.load_dataset("heart").split(train=0.5, seed=0)
    >>> trace = mv.solve(mv.Problem(mv.paper_bank(train.X), train.y), "level")
    >>> mv.plot.save(mv.plot.gap(trace) + mv.plot.weights(trace), "level.html")
    """
    target, ending = Path(path), Path(path).suffix.lower().lstrip(".")
    if ending not in FORMATS:
        raise ProblemError(f"A picture is saved as .html, .svg, .png or .pdf, and {target.name!r:.60} ends in none.")
    if ending == "html":
        content = picture_page(rendered(picture)).encode()
    elif (drawn := still(picture)) is not None:
        content = still_picture(drawn, f".{ending}")
    else:
        raise ProblemError("Something that was added to this picture is drawn by browsers alone: save it as .html.")
    with replacing(target) as file:
        file.write(content)


# -- in notebooks: Jupyter asks its formatter, and marimo each picture


def picture_page(figure: Model) -> str:
    """Return the HTML of a page that shows what `rendered` has drawn."""
    page = file_html(figure, INLINE, title="mklviz")
    # Bokeh names what any model loads that this process knows, such as Panel's, even where the page has none of them
    return re.sub(r'<script src="[^"]*"></script>\s*', "", page)


def show_in_notebooks() -> None:
    """Let the notebook that runs here show pictures, without scripts; elsewhere do nothing."""
    if marimo := running_marimo():
        for kind in (hv.core.ViewableElement, hv.core.ViewableTree):
            kind._display_ = partialmethod(_in_marimo, marimo)  # which marimo asks for
    elif (shell := notebook_shell()) is not None and not is_loaded(hv.extension):
        shell.display_formatter.mimebundle_formatter.for_type(hv.core.Dimensioned, _in_jupyter)


def _in_jupyter(picture: Any) -> Any:
    """Return a picture as SVG; where that cannot be drawn, or an extension was loaded, as HoloViews would show it."""
    drawn = None if is_loaded(hv.extension) or _moves(picture) else still(picture, dressed_alone=True)
    if drawn is not None:
        return still_bundle(drawn, _name(picture))
    if not is_loaded(hv.extension):
        hv.extension("bokeh", logo=False, inline=True)
    return hv.Store.render(picture)


def _in_marimo(picture: Any, marimo: Any) -> Any:
    """Return a picture as SVG, or else as a page in a frame; with sliders or another backend, as marimo shows it."""
    if _moves(picture):
        return marimo.ui.panel(picture)
    drawn = still(picture, dressed_alone=True)
    if drawn is None:
        return marimo.iframe(picture_page(rendered(picture)))
    return marimo.Html(still_html(drawn, _name(picture)))


def _moves(picture: Any) -> bool:
    """Return whether a picture has sliders, or another backend draws it."""
    sliders = picture.traverse(lambda part: part, [hv.HoloMap, hv.DynamicMap])
    return hv.Store.current_backend != "bokeh" or bool(sliders)


def _name(picture: Any) -> str:
    return f"A picture of mklviz.plot, {type(picture).__name__}"
