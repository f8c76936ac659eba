"""``mklviz check my_solver.py``: whether a plug-in keeps what its kind promises."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from mklviz.check import checked, found_in
from mklviz.check.plugin import Plugin
from mklviz.cli.documents import print_document
from mklviz.cli.exits import FAILED
from mklviz.quoting import one_line

__all__ = ["check_plugins"]


def check_plugins(arguments: argparse.Namespace) -> int:
    """Check all plug-ins of a file or module, print how each promise is kept, and return the exit code."""
    plugins = [_checked(plugin, arguments.json) for plugin in found_in(arguments.where)]
    if arguments.json:
        print_document({"where": arguments.where, "plugins": plugins})
    return FAILED if any(promise["broken"] for each in plugins for promise in each["promises"]) else 0


def _checked(plugin: Plugin, silent: bool) -> dict[str, Any]:
    """Return one plug-in's promises as values, printed as they are tried unless `silent`."""
    name = getattr(plugin.made, "name_", "")
    promises: list[dict[str, Any]] = []
    if not silent:
        print(f"{plugin.kind} {name or plugin.made.__name__}")
    for outcome in checked(plugin):
        promises.append({"promise": outcome.promise, "kept": not outcome.broken, "broken": outcome.broken or None})
        if not silent:
            print(f"  {'broken' if outcome.broken else 'kept':<8}{outcome.promise}")
            if outcome.broken:
                print(f"{'':10}{one_line(outcome.broken)}")
            sys.stdout.flush()
    if not silent:
        print(f"{sum(each['kept'] for each in promises)} of {len(promises)} promises are kept.")
    return {"kind": plugin.kind, "name": name, "class": plugin.made.__name__, "promises": promises}
