"""The command line: one command per module, listed by `mklviz --help`."""

from mklviz.cli.commands import main

__all__ = ["main"]
