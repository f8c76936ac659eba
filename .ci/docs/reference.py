"""The pages of the reference: every public name of ``import mklviz as mv``, and the command line's own help."""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import mklviz
from mklviz.cli.commands import main

HEADINGS = {
    "datasets": "Data",
    "kernels": "Kernels and banks",
    "problem": "Problems, losses and regularizers",
    "contract": "The contract of a solver",
    "engine": "Solving, racing and stopping",
    "record": "Traces",
    "recipe": "Recipes",
    "learn": "Estimators for scikit-learn",
    "views": "Pictures and the dashboard",
    "show_race": "Races on screen",
}


def homes() -> dict[str, list[str]]:
    """Return the public names by the module each is imported from, as the package's stub says."""
    stub = ast.parse(Path(mklviz.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    names_by_home: dict[str, list[str]] = {}
    for node in stub.body:
        if isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names]
            names_by_home.setdefault(f"mklviz.{node.module or names[0]}", []).extend(names)
    return dict(sorted(names_by_home.items()))


def pages() -> dict[str, str]:
    """Return the text of every page, by name."""
    made = {}
    for home, names in homes().items():
        entries = [entry for name in sorted(names) for entry in _entries(import_module(home), name, f"mklviz.{name}")]
        made[_page(home)] = "\n".join([f"# {_heading(home)}\n", *entries])
    return {**made, "command-line": _commands()}


def index() -> str:
    """Return the page above them, which names what each describes."""
    rows = [
        f"- [{_heading(home)}]({_page(home)}.md): {', '.join(f'`mv.{name}`' for name in sorted(names))}"
        for home, names in homes().items()
    ]
    return "\n".join(["# Reference\n", *rows, "- [Command line](command-line.md)", ""])


def _page(home: str) -> str:
    return home.rpartition(".")[2]


def _heading(home: str) -> str:
    return HEADINGS.get(_page(home), _page(home).capitalize())


def _entries(home: ModuleType, name: str, shown: str) -> Iterator[str]:
    """Yield the directive of a name, or of each name in it."""
    entry = home if home.__name__.endswith(f".{name}") else getattr(home, name)
    if isinstance(entry, ModuleType):
        for inner in entry.__all__:
            yield from _entries(entry, inner, f"{shown}.{inner}")
    else:
        kind = "class" if isinstance(entry, type) else "function"
        yield f"```{{eval-rst}}\n.. auto{kind}:: {shown}\n```\n"


def _commands() -> str:
    """Return the help of every command that the general help names."""
    os.environ["COLUMNS"] = "88"  # for argparse, which would ask the terminal
    commands = re.findall(r"^    ([a-z-]+)(?:  |$)", _help(), re.MULTILINE)
    parts = ["# Command line\n\nEach command explains itself with `--help`; this is what they say.\n"]
    return "\n".join([*parts, *(f"## mklviz {name}\n\n```text\n{_help(name)}\n```\n" for name in commands)])


def _help(*words: str) -> str:
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.suppress(SystemExit):
        main([*words, "--help"])
    return output.getvalue().strip()
