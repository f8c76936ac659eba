"""The kernel of a notebook: whether this process is one, and how cells and pages reach it. Loads no Panel."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from mklviz.views.host.beside import beside

__all__ = ["after_each_cell", "display_script", "in_notebook", "is_loaded", "listen", "notebook_shell"]

TARGET = "mklviz"  # of the comms that pages open
EXEC = "application/vnd.holoviews_exec.v0+json"  # JupyterLab's extension gives the script below it a way to the kernel
CALL = beside(__file__, "call.js")


def notebook_shell() -> Any:
    """Return the shell of the notebook whose kernel this process is, or None."""
    if "IPython" not in sys.modules:
        return None
    from IPython import get_ipython

    shell = get_ipython()
    return shell if getattr(shell, "kernel", None) is not None else None


def in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    return notebook_shell() is not None


def is_loaded(extension: Any) -> bool:
    """Return whether a notebook has the extension of Panel or HoloViews already."""
    return bool(getattr(extension, "_loaded", False))


def listen(answer: Callable[[Any, Any], None]) -> None:
    """Let the pages of this kernel open comms, each of which goes to `answer` with its first message."""
    manager = notebook_shell().kernel.comm_manager
    if TARGET not in manager.targets:
        manager.register_target(TARGET, answer)


def display_script(identifier: str, text: str) -> None:
    """Display in the cell that runs a script that opens a comm to this kernel; `text` stands where none can run."""
    from IPython.display import display

    script = f'<div data-offer="{identifier}"></div><script>{CALL}</script>'
    bundle = {"text/html": script, EXEC: "", "text/plain": text}
    display(bundle, raw=True, metadata={EXEC: {"id": identifier}})  # type: ignore[no-untyped-call]


def after_each_cell(react: Callable[[], None]) -> Callable[[], None]:
    """Call `react` whenever a cell has run, until the function returned is called."""
    events = notebook_shell().events

    def ran(_result: object) -> None:
        react()

    events.register("post_run_cell", ran)
    return lambda: events.unregister("post_run_cell", ran)
