"""One solver, or several side by side, in the terminal: ``mklviz run`` and ``mklviz race``."""

from __future__ import annotations

import argparse
import sys

from mklviz.cli.arguments import read_recipe
from mklviz.cli.documents import print_document, race_document
from mklviz.cli.exits import BAD_INPUT, code_of
from mklviz.cli.live import Building, result_table, warm_up, watch
from mklviz.cli.outputs import Outputs
from mklviz.numbers import counted
from mklviz.quoting import one_line

__all__ = ["solve_race"]


def solve_race(arguments: argparse.Namespace, one: bool = False) -> int:
    """Run the race that the command line asks for, print and write what came out; return the exit code.

    `one`: whether the recommended solver runs alone where no solver is named.
    """
    outputs = Outputs(arguments.csv, arguments.save, arguments.html, arguments.svg, arguments.parquet)
    recipe = read_recipe(arguments)
    named = arguments.solvers or arguments.solver_option or arguments.scenario
    for choice in recipe.solvers:  # a misspelt name is reported before the kernels are built
        choice.make(recipe.split.seed)
    prepared = recipe.prepare(progress=Building())
    if not named and one:
        recipe = recipe.recommended(prepared)
    elif not named:
        recipe, said = recipe.usual(prepared)
        if said:
            print(f"mklviz: {one_line(said)}", file=sys.stderr)
    race = recipe.race(prepared, threads=arguments.threads)
    warm_up(prepared.problem, [choice.make(recipe.split.seed) for choice in recipe.solvers])
    train, problem = prepared.train, prepared.problem
    if not arguments.json:
        print(
            f"{train.title}: {problem.n:,} training and {prepared.test.n_samples:,} test samples,"
            f" {counted(problem.m, problem.noun)}"
        )
        sys.stdout.flush()
    complete = watch(race, outputs.keep_up)
    if arguments.json:
        print_document(race_document(race, recipe, prepared, complete))
    else:
        print(f"\n{result_table(race, prepared)}")
    written = outputs.finish(race)
    for run in race.runs.values():
        if run.status == "failed":
            print(f"mklviz: {run.reason}", file=sys.stderr)
    return code_of(race.traces.values(), recipe, complete) or (0 if written else BAD_INPUT)
