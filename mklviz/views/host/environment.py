"""What surrounds the views: the packages that are installed, and the kernel of a notebook; loads no Panel."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from mklviz.errors import MissingPackage

PACKAGES = ("panel", "panel_material_ui", "bokeh", "holoviews", "contourpy", "tornado", "segno")


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


def notebook_shell() -> Any:
    """Return the shell of the notebook whose kernel this process is, or None."""
    if "IPython" not in sys.modules:
        return None
    from IPython import get_ipython

    shell = get_ipython()
    return shell if getattr(shell, "kernel", None) is not None else None


def in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    return notebook_shell() is not None or running_marimo() is not None


def running_marimo() -> Any:
    """Return marimo, if one of its notebooks runs here."""
    marimo = sys.modules.get("marimo")
    return marimo if marimo is not None and marimo.running_in_notebook() else None


def is_loaded(extension: Any) -> bool:
    """Return whether a notebook has the extension of Panel or HoloViews already."""
    return bool(getattr(extension, "_loaded", False))


def show_below_cell(widget: object, subject: Any) -> None:
    """Show the widget of something in the output of the cell that runs."""
    if marimo := running_marimo():
        marimo.output.append(widget)
        subject._display_ = lambda: widget  # a cell of marimo that ends with it would show nothing else
        return
    from IPython.display import display

    display(widget)  # type: ignore[no-untyped-call]


def show_bundle(bundle: dict[str, str], name: str) -> Any:
    """Show a text in several forms in the output of the cell that runs; return what changes it, None in marimo."""
    if notebook_shell() is None:
        return None
    from IPython.display import display

    return display(bundle, raw=True, display_id=name)  # type: ignore[no-untyped-call]


def after_each_cell(react: Callable[[], None]) -> Callable[[], None]:
    """Call `react` whenever a cell of Jupyter has run, until the function returned is called."""
    shell = notebook_shell()
    if shell is None:
        return lambda: None
    events = shell.events

    def ran(_result: object) -> None:
        react()

    events.register("post_run_cell", ran)
    return lambda: events.unregister("post_run_cell", ran)
