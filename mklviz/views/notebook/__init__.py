"""Races and paths in the output of a notebook cell; light, as it is imported wherever a notebook imports mklviz."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, partialmethod
from importlib import import_module
from typing import Any

from mklviz.views.host.environment import missing, notebook_shell, running_marimo

__all__ = ["register"]

_PICTURED: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("mklviz.record.trace", "Trace", "trace_still", {}),
    ("mklviz.engine.race", "Race", "race_still", {"x": "svm_solves"}),  # what the methods save
    ("mklviz.engine.paths", "Path", "path_still", {}),
)


def register() -> None:
    """Tell the kernel of a notebook how to show them; outside notebooks, do nothing."""
    if marimo := running_marimo():
        for module, name, draw, options in _PICTURED:
            shows = partialmethod(_in_marimo, marimo.Html, draw=draw, options=options)
            getattr(import_module(module), name)._display_ = shows  # which marimo asks for
    shell = notebook_shell()
    if shell is None:
        return
    html = shell.display_formatter.formatters["text/html"]
    for module, name, draw, options in _PICTURED:
        html.for_type_by_name(module, name, partial(_html, draw=draw, options=options))


def _in_marimo(shown: Any, in_html: Callable[[str], Any], draw: str, options: dict[str, Any]) -> Any:
    return in_html(_html(shown, draw, options) or repr(shown))


def _html(shown: Any, draw: str, options: dict[str, Any]) -> str | None:
    table: str | None = shown._repr_html_()
    if not table or not len(getattr(shown, "runs", shown)) or missing():
        return table
    from mklviz.views.chart.svg import still_html

    drawn = getattr(import_module("mklviz.views.chart.svg_pictures"), draw)(shown, **options)
    return f"{table}{still_html(drawn, repr(shown))}"
