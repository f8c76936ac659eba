"""A path in the terminal: ``mklviz path --data NAME --vary C=1000:0.01:100``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from mklviz.cli.arguments import check_output, cluster_of, code_of, read_recipe
from mklviz.cli.documents import path_document, print_document
from mklviz.cli.live import aligned, scored, warm_up
from mklviz.contract import Array
from mklviz.engine import Path, path, path_values
from mklviz.engine.grid import changed, check_range
from mklviz.errors import MklvizError, SolverError
from mklviz.kernels.storage.cluster import on_workers
from mklviz.numbers import counted
from mklviz.quoting import one_line
from mklviz.recipe import Recipe
from mklviz.recipe.prepared import Prepared
from mklviz.record import SOLVED
from mklviz.record.archive import replacing
from mklviz.record.summary import write_csv
from mklviz.streams import ProgressLine

MOST_VALUES = 10_000


def read_vary(text: str, flag: str = "--vary") -> tuple[str, Array | None]:
    """Return the parameter and the values of ``C=1000:0.01:100`` or ``C=100,10,1``, None for ``C`` alone."""
    name, _, listed = (part.strip() for part in text.partition("="))
    if not listed:
        return name, None
    try:
        if ":" not in listed:
            values = np.array([float(word) for word in listed.split(",")])
            if np.isfinite(values).all():
                return name, values
            raise ValueError
        first, last, count = listed.split(":")
        ends = float(first), float(last)
        if min(ends) > 0.0 and max(ends) < np.inf and 0 < int(count[:10]) <= MOST_VALUES:
            return name, np.geomspace(*ends, int(count))
    except ValueError:
        pass
    raise MklvizError(
        f"{flag} {text:.80} is not understood: write NAME=FROM:TO:COUNT with positive numbers and a count of at most"
        f" {MOST_VALUES:,}, such as C=1000:0.01:100, or NAME=VALUE,VALUE, such as C=100,10,1."
    )


def solve_path(arguments: argparse.Namespace) -> int:
    """Solve the path that the command line asks for, print and write it; return the exit code."""
    with cluster_of(arguments) as client:
        return _solve_path(arguments, client)


def _solve_path(arguments: argparse.Namespace, client: Any) -> int:
    output: FilePath | None = arguments.output
    if output is not None:
        check_output(output)
    recipe, prepared, name, values = _posed(arguments, client)
    solver = recipe.solvers[0].make(recipe.split.seed)
    warm_up(prepared.problem, [solver])
    if not arguments.json:
        print(
            f"{prepared.train.title}: {prepared.problem.n:,} training samples, {prepared.problem.m:,} kernels;"
            f" {len(values):,} values of {name} from {values[0]:g} to {values[-1]:g}"
        )
        sys.stdout.flush()
    line, solved, complete = ProgressLine(), list[Path](), True

    def show(path: Path) -> None:
        solved[:] = [path]
        line.update(lambda: _progress(path, len(values)))

    settings: dict[str, Any] = {key: getattr(recipe.stop, key) for key in ("gap", "max_iter", "max_seconds")}
    try:
        path(prepared.problem, solver, warm=not arguments.cold, progress=show, **{**settings, name: values})
    except KeyboardInterrupt:  # what is solved so far is kept
        complete = False
    except SolverError as error:
        solved += [] if error.found is None else [error.found]
        print(f"mklviz: {one_line(str(error))}", file=sys.stderr)
    if not solved:
        raise KeyboardInterrupt
    if line.in_place:
        line.finish(_progress(solved[-1], len(values)))
    if arguments.json:
        print_document(path_document(solved[-1], recipe, prepared))
    else:
        print(f"\n{path_table(solved[-1], prepared)}")
    if output is not None:
        with replacing(output) as opened:
            write_csv(solved[-1].to_frame(), opened)
    return code_of([trace for _, trace in solved[-1]], recipe, complete)


def _posed(arguments: argparse.Namespace, client: Any) -> tuple[Recipe, Prepared, str, Array]:
    """Return the recipe with its solver, what is prepared from it, and which parameter takes which values."""
    name, values = read_vary(arguments.vary)
    arguments.solvers = arguments.solvers or _solver_of(arguments.solver_option)
    recipe = read_recipe(arguments)
    if arguments.solvers is not None:
        if len(recipe.solvers) > 1:
            raise MklvizError("A path has one solver: give one name with --solver.")
        recipe.solvers[0].make(recipe.split.seed)  # a mistake is reported before the kernels are built
    # a parameter that cannot vary is refused before kernels are built and code is compiled
    if values is None:
        check_range(recipe.problem, name)
    else:
        for value in values:
            changed(recipe.problem, name, value)
    if client is not None and recipe.kernels.approximation is None:
        raise MklvizError("--dask spreads approximate kernels over the workers: add --nystrom, as --nystrom 200.")
    with on_workers(client):
        prepared = recipe.prepare()
    values = path_values(prepared.problem, name) if values is None else values
    if arguments.solvers is None:
        recipe = recipe.recommended(prepared)
    return recipe, prepared, name, values


def _solver_of(options: Sequence[str]) -> str | None:
    """Return the solver that an option such as ``level.lam=0.5`` is for, None where there are no options."""
    for option in options:
        name, dot, _ = option.partition("=")[0].partition(".")
        return name if dot else "level"  # every solver refuses this option
    return None


def path_table(path: Path, prepared: Prepared) -> str:
    """Return the path as an aligned table with the score on the test part, and below it what it took in all."""
    header = (path.parameter, "status", "steps", "SVM solves", "CPU s", "objective", "gap", "kernels")
    rows: list[tuple[str, ...]] = [(*header, prepared.score_label)]
    for row, best in zip(path.rows(), path.finals, strict=True):
        rows.append((*row, scored(prepared, best)))
    unsolved = sum(trace.status not in SOLVED for _, trace in path)
    total = (
        f"{path.label}, {'warm' if path.warm else 'cold'} starts: {counted(len(path.values), 'value')},"
        f" {counted(int(path.iterations.sum()), 'step')}, {counted(int(path.svm_solves.sum()), 'SVM solve')},"
        f" {float(path.seconds.sum()):.2f} CPU s"
    )
    return "\n".join([*aligned(rows), "", f"{total}; {unsolved:,} did not reach the gap." if unsolved else f"{total}."])


def _progress(path: Path, count: int) -> str:
    value, trace = path[-1]
    return (
        f"{len(path):,} of {count:,} values  {path.parameter} = {value:<10.4g} {len(trace) - 1:,} steps"
        f"  {int(path.svm_solves.sum()):,} SVMs  {float(path.seconds.sum()):.2f} s"
    )
