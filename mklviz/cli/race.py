"""One solver, or several side by side, in the terminal: ``mklviz run`` and ``mklviz race``."""

from __future__ import annotations

import argparse
import sys

from mklviz.cli.arguments import read_recipe
from mklviz.cli.documents import print_document, race_document
from mklviz.cli.exits import BAD_INPUT, code_of
from mklviz.cli.live import Building, result_table, warm_up, watch
from mklviz.cli.outputs import Outputs
from mklviz.cli.stored import MADE_BY, store_of
from mklviz.engine import Race
from mklviz.numbers import counted
from mklviz.quoting import one_line
from mklviz.recipe import Recipe
from mklviz.recipe.prepared import Prepared
from mklviz.recipe.recorded import RecordedRace, head_for
from mklviz.record.history import short_id

__all__ = ["solve_race", "tell_race"]

STORE_SECONDS = 20.0  # to wait for scores and the disk at the end


def solve_race(arguments: argparse.Namespace, one: bool = False) -> int:
    """Run the race that the command line asks for, print and write the results; return the exit code.

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
        recipe, why = recipe.usual(prepared)
        if why:
            print(f"mklviz: {one_line(why)}", file=sys.stderr)
    race = recipe.race(prepared, threads=arguments.threads)
    store = store_of(arguments)
    warm_up(prepared.problem, [choice.make(recipe.split.seed) for choice in recipe.solvers])
    train, problem = prepared.train, prepared.problem
    if not arguments.json:
        print(
            f"{train.title}: {problem.n:,} training and {prepared.test.n_samples:,} test samples,"
            f" {counted(problem.m, problem.noun)}"
        )
        sys.stdout.flush()
    recorded = RecordedRace(race, head_for(recipe, MADE_BY, arguments.scenario or ""), prepared, store=store)
    complete = watch(race, outputs.keep_up)
    tell_race(race, recipe, prepared, recorded, complete, arguments.json)
    written = outputs.finish(race) and recorded.kept
    return code_of(race.traces.values(), recipe, complete) or (0 if written else BAD_INPUT)


def tell_race(
    race: Race, recipe: Recipe, prepared: Prepared, recorded: RecordedRace, complete: bool, as_json: bool
) -> None:
    """Print the results of a race that has ended, where it is kept, and what has gone wrong."""
    if as_json:
        print_document(race_document(race, recipe, prepared, complete))
    else:
        print(f"\n{result_table(race, prepared)}")
    recorded.wait(STORE_SECONDS)
    if not recorded.kept:
        print(f"mklviz: {one_line(recorded.not_kept)}", file=sys.stderr)
    elif recorded.ids and not as_json:
        print(f"\nKept: mklviz runs show {short_id(recorded.race)}")
    for run in race.runs.values():
        if run.status == "failed":
            print(f"mklviz: {run.reason}", file=sys.stderr)
