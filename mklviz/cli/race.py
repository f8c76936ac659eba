"""One solver, or several side by side, in the terminal: ``mklviz run`` and ``mklviz race``.

Files of a race are also written while it runs, so that a sudden end loses a minute at most.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from mklviz.cli.arguments import MADE_BY, check_output, cluster_of, code_of, read_recipe, store_of
from mklviz.cli.documents import print_document, race_document
from mklviz.cli.live import Building, result_table, warm_up, watch
from mklviz.engine import Race
from mklviz.errors import MklvizError
from mklviz.kernels.storage.cluster import on_workers
from mklviz.numbers import counted
from mklviz.quoting import one_line
from mklviz.recipe import Recipe, SolverChoice
from mklviz.recipe.prepared import Prepared
from mklviz.recipe.recorded import RecordedRace, go_on, head_for, left_of
from mklviz.record import FINAL
from mklviz.record.archive import replacing
from mklviz.record.bundle import SUFFIX, write_bundle
from mklviz.record.history import short_id
from mklviz.record.store import Store, StoredRun
from mklviz.record.summary import require_parquet, write_parquet, write_table
from mklviz.sweeps.dask_race import on_cluster
from mklviz.views.host.environment import need_screen

SHARE = 0.05  # largest share of the time that goes into writing before the end; but once a minute in any case


class Outputs:
    """Tables of all steps, the recorded runs, a page and pictures: where one cannot be written, the others still are.

    `files`: by the options that name them; of several runs, --save names a zip archive.
    """

    every_seconds, at_least_seconds = 30.0, 60.0

    def __init__(self, **files: Path | None) -> None:
        self._files = {option: file for option, file in files.items() if file is not None}
        if not self._files.keys().isdisjoint(("html", *_DRAWN)):
            need_screen()
        if "parquet" in self._files:
            require_parquet()
        for option, file in self._files.items():
            if option in _DRAWN:
                from mklviz.views.chart import pixels

                check_output(file, f"--{option}", *(pixels.STILL if option == "picture" else pixels.MOVING))
                pixels.require(file.suffix.lower())
            else:
                check_output(file)
        self._due = time.monotonic() + self.every_seconds
        self._announced: set[Path] = set()

    def keep_up(self, race: Race) -> None:
        """Write the files if the last time was long ago."""
        if time.monotonic() < self._due or not any(len(run.trace) for run in race.runs.values()):
            return
        begun = time.monotonic()
        self._write(race)
        took = time.monotonic() - begun
        self._due = begun + took + min(max(self.every_seconds, took / SHARE), self.at_least_seconds)

    def finish(self, race: Race) -> bool:
        """Write all files; return whether that succeeded."""
        self._announced.clear()
        missing = self._write(race)
        runs = self._files.get("save")
        if runs is not None and runs not in missing and _archive(race, runs) not in (None, runs):
            print(f"mklviz: the runs are in {_archive(race, runs)}", file=sys.stderr)
        return not missing

    def _write(self, race: Race) -> list[Path]:
        """Return the files that could not be written; their old content is still there."""
        missing = []
        for option, file in self._files.items():
            try:
                _WRITERS[option](race, file)
            except OSError as error:
                missing.append(file)
                if file not in self._announced:
                    print(f"mklviz: {file} cannot be written: {error.strerror or error}.", file=sys.stderr)
                self._announced.add(file)
        return missing


def _write_table(race: Race, file: Path) -> None:
    with replacing(file) as opened:
        write_table(race.traces, opened)


def _write_parquet(race: Race, file: Path) -> None:
    with replacing(file) as opened:
        write_parquet(race.traces, opened)


def _write_runs(race: Race, file: Path) -> None:
    target = _archive(race, file)
    if target is None:
        next(iter(race.traces.values())).save(file)
        return
    with replacing(target) as opened:
        write_bundle(race.traces, opened)


def _write_page(race: Race, file: Path) -> None:
    from mklviz.views.export.page import save_html

    save_html(race, file)


def _write_drawn(race: Race, file: Path) -> None:
    from mklviz.views.chart.pixels import STILL, moving_picture, still_picture
    from mklviz.views.chart.svg_pictures import race_frames, race_still
    from mklviz.views.export.page import recorded

    kind = file.suffix.lower()
    if kind in STILL:
        drawn = still_picture(race_still(race, recorded(race).gap), kind)
    elif all(run.trace.status in FINAL for run in race.runs.values()):  # made once, of the whole race
        drawn = moving_picture(race_frames(race, recorded(race).gap), kind)
    else:
        return
    with replacing(file) as opened:
        opened.write(drawn)


_DRAWN = ("picture", "video")
_WRITERS: dict[str, Callable[[Race, Path], None]] = {
    "csv": _write_table,
    "parquet": _write_parquet,
    "save": _write_runs,
    "html": _write_page,
    **dict.fromkeys(_DRAWN, _write_drawn),
}


def _archive(race: Race, file: Path) -> Path | None:
    """Return the zip archive that the runs go to; None where a single one is the file itself."""
    if len(race.runs) == 1 and file.suffix != ".zip":
        return None
    return file if file.suffix == ".zip" else file.with_name(file.name.removesuffix(SUFFIX) + ".zip")


# -- the race

STORE_SECONDS = 20.0  # to wait for scores and the disk at the end


def solve_race(arguments: argparse.Namespace, one: bool = False) -> int:
    """Run a race, print and write the results, return the exit code; `one`: the recommended solver by default."""
    with cluster_of(arguments) as client:
        return _solve_race(arguments, one, client)


def _solve_race(arguments: argparse.Namespace, one: bool, client: Any) -> int:
    outputs = Outputs(**{option: getattr(arguments, option) for option in _WRITERS})
    recipe = read_recipe(arguments)
    named = arguments.solvers or arguments.solver_option or arguments.scenario
    for choice in recipe.solvers:  # a misspelt name is reported before the kernels are built
        choice.make(recipe.split.seed)
    store = store_of(arguments)
    left = _left(store, recipe, bool(named)) if arguments.resume else None
    with on_workers(client):
        prepared = recipe.prepare(progress=Building())
    if left is not None:
        usual = SolverChoice(left.solver).make(recipe.split.seed).options()
        recipe = replace(recipe, solvers=[SolverChoice(left.solver, dict(left.options.items() - usual.items()))])
    elif not named and one:
        recipe = recipe.recommended(prepared)
    elif not named:
        recipe, why = recipe.usual(prepared)
        if why:
            print(f"mklviz: {one_line(why)}", file=sys.stderr)
    if left is None:
        head = head_for(recipe, MADE_BY, arguments.scenario or "")
        race = recipe.race(prepared, threads=arguments.threads)
    else:
        race, head = go_on(store, left, recipe, prepared, MADE_BY, threads=arguments.threads)
        tell_what_is_repeated(left, race)
    if client is not None:
        bank = prepared.problem.bank
        if bank.access == "factors":
            print(f"mklviz: kernels: {bank.backend}", file=sys.stderr)
        else:
            on_cluster(race, client)
    warm_up(prepared.problem, [choice.make(recipe.split.seed) for choice in recipe.solvers])
    train, problem = prepared.train, prepared.problem
    if not arguments.json:
        print(
            f"{train.title}: {problem.n:,} training and {prepared.test.n_samples:,} test samples,"
            f" {counted(problem.m, problem.noun)}"
        )
        sys.stdout.flush()
    return run_to_the_end(race, recipe, prepared, RecordedRace(race, head, prepared, store=store), arguments, outputs)


def _left(store: Store, recipe: Recipe, named: bool) -> StoredRun | None:
    """Return the run to go on from, or say that there is none."""
    if named and len(recipe.solvers) > 1:
        raise MklvizError("--resume goes on with one solver: name one, as --solvers spg.")
    left = left_of(store, recipe, recipe.solvers[0] if named else None)
    if left is None:
        print("mklviz: No run of this recipe was cut off since one ended: it begins anew.", file=sys.stderr)
    return left


_ENDED = {
    "converged": "which has converged",
    "precision": "which is as exact as double precision allows",
    "limit": "which a limit ended",
    "rule": "which another rule ended",
    "failed": "which failed",
}


def tell_what_is_repeated(run: StoredRun, race: Race) -> None:
    """Say from which step a race goes on, and what of the stored run is computed once more."""
    for origin in filter(None, (trace.origin for trace in race.traces.values())):
        later = run.steps - origin.step
        steps = f", {counted(later, 'later step')}" if later else ""
        what = (
            f"Going on from step {origin.step:,} of {origin.label} ({short_id(run.id)}),"
            f" {_ENDED.get(run.status, f'which was {run.status}')}:"
            f" {counted(origin.svm_solves, 'SVM solve')} and {origin.seconds:.1f} s of CPU are kept, and the kernels"
            f"{steps} and the step under way are repeated."
        )
        print(f"mklviz: {one_line(what)}", file=sys.stderr)


def run_to_the_end(
    race: Race,
    recipe: Recipe,
    prepared: Prepared,
    recorded: RecordedRace,
    arguments: argparse.Namespace,
    outputs: Outputs,
) -> int:
    """Run a race, print its results, where it is kept and what has gone wrong, write its files; return the exit code.

    The race may go on from a run that was stored.
    """
    complete = watch(race, outputs.keep_up)
    if arguments.json:
        print_document(race_document(race, recipe, prepared, complete))
    else:
        print(f"\n{result_table(race, prepared)}")
    recorded.wait(STORE_SECONDS)
    if not recorded.kept:
        print(f"mklviz: {one_line(recorded.not_kept)}", file=sys.stderr)
    elif recorded.ids and not arguments.json:
        print(f"\nKept: mklviz runs show {short_id(recorded.race)}")
    for run in race.runs.values():
        if run.status == "failed":
            print(f"mklviz: {run.reason}", file=sys.stderr)
    written = outputs.finish(race) and recorded.kept
    return code_of(race.traces.values(), recipe, complete, written)
