"""Cells that are run in a fresh kernel, and a race in the output of one, as a page of any notebook shows it."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _browser import events_of
from _waits import wait_for

__all__ = ["PATIENCE", "PROBLEM", "executed", "opens", "patient", "rows", "run_through", "steps", "with_path"]

ROOT = Path(__file__).resolve().parents[1]
PROBLEM = """
import mklviz as mv
train, test = mv.load_dataset("heart").split()
problem = mv.Problem(mv.paper_bank(train.X), train.y, loss=mv.Hinge(C=100.0))
"""
PATIENCE = 400.0  # seconds, against hanging for ever: a server starts, a kernel starts, numba may compile


def executed(*lines: str, **options: Any) -> Any:
    """Return a notebook of cells with what they put out; `options` are those of nbclient."""
    import nbformat

    document = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in lines])
    return in_fresh_kernel(document, **options)


def run_through(name: str) -> Any:
    """Run one of the notebooks in a fresh kernel, and return it."""
    import nbformat  # loading it takes seconds, which every process that collects tests would pay

    document = nbformat.read(ROOT / "apps" / "notebooks" / f"{name}.ipynb", as_version=4)
    assert all(not cell.get("outputs") for cell in document.cells), "Clear the outputs before committing."
    return in_fresh_kernel(document, timeout=600)


def in_fresh_kernel(document: Any, **options: Any) -> Any:
    """Run a notebook in a fresh kernel, and return it."""
    import nbclient

    nbclient.NotebookClient(document, **{"timeout": 300, "kernel_name": "python3", **options}).execute(env=with_path())
    return document


def with_path(**more: str) -> dict[str, str]:
    """Return the environment of a program in another folder, which finds this package, with `more` in it."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return {**os.environ, **more, "PYTHONPATH": path}


def patient(page: Any) -> Callable[[Callable[[], Any], str], Any]:
    """Return what waits until something holds while the page lives."""
    return lambda found, what: wait_for(found, what, events_of(page), PATIENCE)


def opens(page: Any, address: str) -> bool:
    """Open an address, and return whether anybody answers there yet."""
    from playwright.sync_api import Error

    try:
        page.goto(address)
    except Error:  # nobody listens yet
        return False
    return True


def rows(page: Any) -> list[int]:
    """Return at which step each solver is, in the table below the figures."""
    cells = page.locator('table[aria-label="Results of the solvers"] tbody td:nth-child(3)').all_inner_texts()
    return [int(text.replace(",", "")) for text in cells]


def steps(page: Any) -> int:
    """Return up to which step the curves of all solvers go; 0 as long as there are none."""
    drawn = page.locator(".multiple .plot svg").count()
    return min(rows(page), default=0) if drawn == 2 else 0
