"""The pages of the reference: every public name of ``import mklviz as mv``, and the command line's own help."""

from __future__ import annotations

import contextlib
import io
import os
from importlib import import_module

import mklviz

__all__ = ["pages"]

HEADINGS = {
    "mklviz.datasets": ("data", "Data"),
    "mklviz.kernels": ("kernels", "Kernels and banks"),
    "mklviz.problem": ("problem", "Problems, losses and regularizers"),
    "mklviz.contract": ("contract", "The contract of a solver"),
    "mklviz.engine": ("engine", "Solving, racing and stopping"),
    "mklviz.record": ("record", "Traces"),
    "mklviz.recipe": ("recipe", "Recipes"),
    "mklviz.learn": ("learn", "Estimators for scikit-learn"),
    "mklviz.views": ("views", "Pictures and the dashboard"),
}
COMMANDS = ("serve", "run", "race", "path", "bench", "warmup")


def pages() -> dict[str, str]:
    """Return the text of every page, by name."""
    made = {}
    for home, names in mklviz._HOMES.items():
        page, heading = HEADINGS.get(home, (home.rpartition(".")[2], home))
        made[page] = f"# {heading}\n\n" + "\n".join(_entry(home, name) for name in sorted(names))
    made["command-line"] = _commands()
    return made


def _entry(home: str, name: str) -> str:
    """Return the directive of one name, which is documented where it is defined."""
    found = getattr(import_module(home), name)
    return f"::: {found.__module__}.{found.__qualname__}\n    options:\n      heading: mv.{name}\n"


def _commands() -> str:
    from mklviz.cli.commands import main

    os.environ["COLUMNS"] = "100"
    parts = ["# Command line\n\nEach command explains itself with `--help`; this is what they say.\n"]
    for command in COMMANDS:
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
            main([command, "--help"])
        parts.append(f"## mklviz {command}\n\n```text\n{said.getvalue().strip()}\n```\n")
    lists = "`mklviz datasets`, `losses`, `regularizers`, `solvers` and `scenarios` list what there is to choose from."
    return "\n".join([*parts, lists, ""])
