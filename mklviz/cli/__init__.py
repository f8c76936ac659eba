"""The command line: one command per module, found by `mklviz --help`."""

from mklviz.cli.commands import main

__all__ = ["main"]
