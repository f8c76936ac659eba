"""The pages of the site in their order, as Sphinx asks for them at the end of the page they stand under."""

from __future__ import annotations

from collections.abc import Iterable

import notebooks
import reference

from mklviz.engine import solver_classes

__all__ = ["below"]

HOME = {
    "": ("install", "tutorial", "formulations"),
    "How to": (
        "howto/choosing",
        "howto/scikit-learn",
        "howto/paths",
        "howto/own-data",
        "howto/own-kernel",
        "howto/own-solver",
        "howto/plugin-package",
        "howto/large-banks",
        "howto/notebooks",
        "howto/classroom",
        "howto/pages",
    ),
    "Mathematics": ("mathematics", "losses", "regularizers", "kernels", "Solvers <solvers/index>"),
    "Runs": ("runs", "sweeps", "commands"),
    "To see": ("gallery", "plot", "claims", "learning_kernels", "comparison"),
    "Developing": (
        "contributing",
        *(f"developing/{page}" for page in ("map", "extensions", "charts", "defences", "tests", "tried", "releases")),
    ),
    "Reference": ("reference/index", "glossary", "security", "cite", "changelog"),
}


def below(page: str) -> str:
    """Return what a page ends with: the list of those below it, which stands at the side of every page."""
    parts: dict[str, dict[str, Iterable[str]]] = {
        "index.md": HOME,
        "solvers/index.md": {"": solver_classes()},
        "howto/notebooks.md": {"": (f"../{name}" for name in notebooks.pages())},
        "reference/index.md": {"": reference.pages()},
    }
    return "\n".join(_toctree(caption, entries) for caption, entries in parts.get(page, {}).items())


def _toctree(caption: str, entries: Iterable[str]) -> str:
    named = f":caption: {caption}\n" if caption else ""
    return "\n".join(["", "```{toctree}", f":hidden:\n{named}", *entries, "```", ""])
