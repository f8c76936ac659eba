"""A recorded laboratory from the terminal: ``mklviz lab --data NAME --knob level.lam --output lab.html``."""

from __future__ import annotations

import argparse
from dataclasses import replace

from mklviz.analysis.knob_grid import LabGrid, LabKnob, usual_solvers
from mklviz.cli.arguments import read_recipe
from mklviz.cli.path import read_vary
from mklviz.cli.stored import folder_of
from mklviz.errors import MklvizError
from mklviz.numbers import counted
from mklviz.recipe.quoting import literal
from mklviz.views.export.lab_page import write_lab

__all__ = ["solve_lab"]


def solve_lab(arguments: argparse.Namespace) -> int:
    """Solve the laboratory that the command line asks for, and write its page; return the exit code."""
    output = arguments.output
    if not output.absolute().parent.is_dir():
        raise MklvizError(f"There is no folder {output.absolute().parent} to write {output.name} into.")
    knobs = tuple(map(_read_knob, arguments.knob))
    recipe = read_recipe(arguments)
    if arguments.solvers is None and not arguments.scenario:
        recipe = replace(recipe, solvers=usual_solvers(knobs))
    grid = LabGrid(recipe, knobs)
    write_lab(grid, output, folder_of(arguments) or None)
    print(f"{output}: {counted(len(grid.recipes), 'position')}, {output.stat().st_size / 1e6:.2f} MB")
    return 0


def _read_knob(text: str) -> LabKnob:
    name, _, listed = (part.strip() for part in text.partition("="))
    if ":" in listed:
        _, values = read_vary(text, "--knob")
        return LabKnob(name, () if values is None else values.tolist())
    return LabKnob(name, [literal(word) for word in filter(None, listed.split(","))])
