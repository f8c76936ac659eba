"""Pictures as files and in notebooks: a page that moves under the mouse (HTML), or what a browser draws (SVG, PNG).

BokehJS draws in a browser and nowhere else, so a picture in SVG or PNG needs one: Chromium or Chrome is started without
a window, opens the page from a file, and hands back what it drew.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from base64 import b64decode
from functools import partialmethod
from html import unescape
from pathlib import Path
from typing import Any

import holoviews as hv
from bokeh.embed import file_html
from bokeh.model import Model
from bokeh.resources import INLINE

from mklviz.errors import MklvizError, ProblemError
from mklviz.record.archive import replacing
from mklviz.views.chart.svg import still_bundle, still_html
from mklviz.views.host.beside import beside
from mklviz.views.host.environment import is_loaded, notebook_shell, running_marimo
from mklviz.views.pictures.still import still
from mklviz.views.pictures.style import rendered

FORMATS = ("html", "svg", "png")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = ("--headless", "--disable-gpu", "--disable-background-networking", "--virtual-time-budget=20000", "--dump-dom")
PATIENCE = 120.0  # seconds for the browser
_SCRIPT = beside(__file__, "export.js")


def save(picture: Any, path: str | Path) -> None:
    """Write a picture, or several composed with ``+`` and ``*``, to a file.

    Parameters
    ----------
    picture : HoloViews object
        As the functions of `mklviz.plot` return it.
    path : str or Path
        Ends in ".html", a page that needs no network; or in ".svg" or ".png", for which a Chromium or Chrome is
        needed, on the path or named by the environment variable MKLVIZ_CHROMIUM.

    Raises
    ------
    ProblemError
        If the name has another ending.
    MklvizError
        If there is no browser to draw SVG or PNG, or it cannot draw.

    Examples
    --------
    >>> import mklviz as mv
    >>> train, test = mv.load_dataset("heart").split(train=0.5, seed=0)
    >>> trace = mv.solve(mv.Problem(mv.paper_bank(train.X), train.y), "level")
    >>> mv.plot.save(mv.plot.gap(trace) + mv.plot.weights(trace), "level.html")
    """
    target, ending = Path(path), Path(path).suffix.lower().lstrip(".")
    if ending not in FORMATS:
        raise ProblemError(f"A picture is saved as .html, .svg or .png, but {target.name!r:.60} ends in neither.")
    figure = rendered(picture)
    content = picture_page(figure).encode() if ending == "html" else _drawn(figure, ending)
    with replacing(target) as file:
        file.write(content)


def _drawn(figure: Model, kind: str) -> bytes:
    """Return what a browser draws, without the buttons that a page has."""
    for part in figure.references():
        if hasattr(part, "toolbar_location"):
            part.toolbar_location = None
    script = _SCRIPT.replace("FORMAT", f'"{kind}"')
    page = picture_page(figure).replace("</body>", f"<script>{script}</script></body>")
    browser = _browser(kind)
    with tempfile.TemporaryDirectory(prefix="mklviz-", ignore_cleanup_errors=True) as folder:
        file = Path(folder) / "picture.html"
        file.write_text(page, encoding="utf-8")
        asked = [browser, *FLAGS, f"--user-data-dir={folder}/profile", *_as_root(), file.as_uri()]
        try:
            done = subprocess.run(asked, capture_output=True, timeout=PATIENCE, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise MklvizError(
                f"The browser {browser} could not draw the picture ({error}): save it as .html."
            ) from None
    picture = re.search(r'<pre id="picture">(.*?)</pre>', done.stdout.decode("utf-8", "replace"), re.DOTALL)
    text = "" if picture is None else unescape(picture[1])
    if text.startswith("data:image/png;base64,"):
        return b64decode(text.partition(",")[2])
    if text.startswith("<svg"):
        return text.encode()
    reason = text or done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
    raise MklvizError(f"The browser {browser} drew no picture ({reason:.200}): save it as .html.")


def _as_root() -> list[str]:
    """Chromium refuses to start for root in a sandbox; the page that it opens was made here."""
    return ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []


def _browser(kind: str) -> str:
    browser = os.environ.get("MKLVIZ_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise MklvizError(
            f"A picture in {kind.upper()} needs a browser, and none is installed: install Chromium or Chrome, put the"
            " path of one into the environment variable MKLVIZ_CHROMIUM, or save the picture as .html."
        )
    return browser


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
    drawn = None if is_loaded(hv.extension) or _moves(picture) else still(picture)
    if drawn is not None:
        return still_bundle(drawn, _name(picture))
    if not is_loaded(hv.extension):
        hv.extension("bokeh", logo=False, inline=True)
    return hv.Store.render(picture)


def _in_marimo(picture: Any, marimo: Any) -> Any:
    """Return a picture as SVG, or else as a page in a frame; with sliders or another backend, as marimo shows it."""
    if _moves(picture):
        return marimo.ui.panel(picture)
    drawn = still(picture)
    if drawn is None:
        return marimo.iframe(picture_page(rendered(picture)))
    return marimo.Html(still_html(drawn, _name(picture)))


def _moves(picture: Any) -> bool:
    """Return whether a picture has sliders, or another backend draws it."""
    sliders = picture.traverse(lambda part: part, [hv.HoloMap, hv.DynamicMap])
    return hv.Store.current_backend != "bokeh" or bool(sliders)


def _name(picture: Any) -> str:
    return f"A picture of mklviz.plot, {type(picture).__name__}"
