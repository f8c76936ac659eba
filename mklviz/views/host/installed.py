"""The screen is an extra: solvers, recordings and the command line work without Panel, Bokeh and HoloViews."""

from __future__ import annotations

from importlib.util import find_spec

from mklviz.errors import MissingPackage

__all__ = ["PACKAGES", "missing", "need_screen"]

PACKAGES = ("panel", "panel_material_ui", "bokeh", "holoviews", "contourpy", "tornado")


def missing() -> list[str]:
    """Return the packages of the screen that are not installed."""
    return [name for name in PACKAGES if find_spec(name) is None]


def need_screen() -> None:
    """Raise `MissingPackage`, with what to do, unless all packages of the screen are installed."""
    if names := missing():
        raise MissingPackage(
            f"The dashboard and its pictures stand on {', '.join(names)}, not installed here: install mklviz with its"
            ' extra, as in pip install ".[app]". Solving, files and the command line do without.'
        )
