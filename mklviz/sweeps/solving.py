"""Solve one member, wherever that is: build its kernels, unless they are there, run it, and keep the result."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

from mklviz.context.blas import one_blas_thread
from mklviz.context.meter import cpu_time
from mklviz.contract import Iterate
from mklviz.datasets import DataError
from mklviz.engine import Run
from mklviz.errors import Interrupted, MklvizError
from mklviz.inner import SvmOracle
from mklviz.problem import Problem
from mklviz.quoting import message_of
from mklviz.recipe import Recipe
from mklviz.recipe.banks import BankStore
from mklviz.recipe.prepared import Prepared
from mklviz.record import Trace
from mklviz.record.run_facts import Verdict
from mklviz.record.store import Asker, Recording, RunHead, Store
from mklviz.record.store.catalogue import RUNS
from mklviz.record.store.folder import NOT_TAKEN
from mklviz.record.store.stored import owned_key, this_machine
from mklviz.record.store.upkeep import pack
from mklviz.sweeps.engine import SweepCommand, Work
from mklviz.sweeps.member import DONE, Member, MemberOutcome

_BANKS = BankStore(max_count=2, at_once=1)  # those of this process; members on the same kernels come one after another
_FITS: dict[object, float] = {}  # seconds of a fit, by data and kernels, and by the loss
_ENDS: dict[object, Iterate] = {}  # where runs ended, by their keys, for those on the same path that begin there
MOST_KEPT = 100  # of each
_lock = threading.Lock()  # a worker of a cluster may have several threads, each with a path of its own
MOST_SCORED = 5_000  # test samples, whose share of right answers is within a point; solving may take less than scoring
MOST_WAITING = 20  # runs that the disk has not taken
_WAITING: dict[str, Recording] = {}  # by the run's key in the store

T = TypeVar("T")
Watch = Callable[[Trace], None]


def solve_member(member: Member, command: SweepCommand, begun: Watch, stepped: Watch) -> tuple[Trace, dict[str, Any]]:
    """Return the trace of a member that has ended, and what else is known of it, see `MemberOutcome.results`.

    `begun` is called with the trace before its first step, and `stepped` after each.
    """
    machine = {"machine": this_machine().id}
    try:
        with one_blas_thread():
            prepared = _prepared(member.recipe, command)
            run = _run_of(member, prepared, _start(member, command))
            begun(run.trace)
            _solve(run, command, stepped)
            if len(run.trace) and run.trace.status in DONE:
                _keep(_ENDS, member.key, run.trace.best_start)
            fit = {"fit_seconds": _fit_seconds(member.first, command)}
            return run.trace, {**machine, **_results(prepared, run.trace), **fit}
    except Interrupted:
        verdict = Verdict("stopped", "The sweep was stopped.")
    except (MklvizError, DataError, MemoryError, OSError) as error:
        verdict = Verdict("failed", message_of(error) or "There is not enough memory for this.")
    choice = member.recipe.solvers[0]
    trace = Trace(choice.name, choice.name, dict(choice.options), recipe=member.recipe.to_json())
    begun(trace)
    trace.finish(verdict)
    return trace, machine


def head_of(member: Member, sweep: str, owner: Asker) -> RunHead:
    """Return what a store records about a member's run; an owner's members on the same problem make a race."""
    words, race = member.recipe.to_words(), owned_key(member.race, owner.name)
    return RunHead(race, words, member.data, made_by="sweep", owner=owner.name, sweep=sweep, member=member.key)


def _prepared(recipe: Recipe, command: SweepCommand) -> Prepared:
    built = _BANKS.take(recipe.bank_key, lambda progress: recipe.build(progress=progress), lambda _: command.check())
    return recipe.posed(built)


def _start(member: Member, command: SweepCommand) -> Iterate | None:
    """Return where a member of a path begins; runs before it whose ends are not known here are solved once more."""
    missing, before, start = list[Member](), member.before, None
    while before is not None and (start := _end_of(before)) is None:
        missing.append(before)
        before = before.before
    for earlier in reversed(missing):
        run = _run_of(earlier, _prepared(earlier.recipe, command), start)
        _solve(run, command, lambda trace: None)
        start = run.trace.best_start if len(run.trace) else None
    return start


def _end_of(member: Member) -> Iterate | None:
    with _lock:
        return _ENDS.pop(member.key, None)


def _keep(kept: dict[object, T], key: object, value: T) -> None:
    with _lock:
        while len(kept) >= MOST_KEPT:
            kept.pop(next(iter(kept)))
        kept[key] = value


def _run_of(member: Member, prepared: Prepared, start: Iterate | None) -> Run:
    recipe = member.recipe
    run = Run(prepared.problem, recipe.solvers[0].make(member.split), recipe.stop.rules(recipe.convex), start=start)
    run.trace.recipe = recipe.to_json()
    return run


def _solve(run: Run, command: SweepCommand, stepped: Watch) -> None:
    command.on_cancel(run.cancel)
    try:
        more = True
        while more and not run.finished:
            command.while_paused()
            more = run.advance()
            stepped(run.trace)
    finally:
        command.on_cancel(None)


def _results(prepared: Prepared, trace: Trace) -> dict[str, Any]:
    known: dict[str, Any] = {"samples": prepared.problem.n, "bank": prepared.problem.m}
    if len(trace):
        known |= {"score": _scored(prepared).score(trace.best), "score_label": prepared.score_label}
        known |= {"moved": trace.motion.moved}
    return known


def _scored(prepared: Prepared) -> Prepared:
    """Return the problem with test samples of which there are not too many, evenly spaced."""
    test, step = prepared.test, -(-prepared.test.n_samples // MOST_SCORED)
    if step < 2 or test.grams is not None:
        return prepared
    test = replace(test, X=test.X[::step], y=test.y[::step])
    return replace(prepared, test=test, cross=prepared.problem.bank.cross(test.X))


def _fit_seconds(recipe: Recipe, command: SweepCommand) -> float:
    """Return what one fit takes on this machine, measured once for all who share the problem's fit."""
    key = (recipe.bank_key, recipe.problem.loss, recipe.problem.class_weight)
    seconds = _FITS.get(key)
    if seconds is None:
        seconds = mean_fit_seconds(_prepared(recipe, command).problem)
        _keep(_FITS, key, seconds)
    return seconds


class RecordedMember:
    """A run as it is recorded here, while its steps come back."""

    def __init__(self, member: Member, attempt: str, trace: Trace, work: Work) -> None:
        self.attempt = attempt
        self._member, self._trace = member, trace
        self._recording: Recording | None = None
        self._store = work.store
        if work.store is not None:
            self._recording = work.store.record({member.solver: trace}, work.head(member))

    def extend(self, start: int, steps: Sequence[tuple[Any, float, Mapping[str, float]]]) -> None:
        """Add steps, of which some may be there."""
        for iterate, seconds, split in steps[max(len(self._trace) - start, 0) :] if start <= len(self._trace) else ():
            self._trace.append(iterate, seconds, split or None)

    def finish(self, trace: Trace, results: Mapping[str, Any]) -> MemberOutcome:
        """Add what is missing, and say how the run ended."""
        if trace is not self._trace:
            self.extend(0, [(trace[t], trace.seconds_at(t), trace.split_at(t)) for t in range(len(trace))])
            self._trace.finish(Verdict(trace.status, trace.reason))
        outcome = MemberOutcome.of(self._member.key, trace, results)
        if self._recording is None or self._store is None:
            return outcome
        self._recording.finish({self._member.solver: results})
        run = self._recording.ids.get(self._member.solver, "")
        if run:
            # at once: the owner of the store, which packs others, may be too slow for thousands
            with suppress(OSError):  # frames stay, and are packed another time
                pack(self._store.folder / RUNS / run)
        unkept = "" if self._recording.kept else _waiting(self._store, run, self._recording)
        return replace(outcome, run=run, unkept=unkept)

    def leave(self) -> None:
        """Leave the run cut off."""
        if self._recording is not None:
            self._recording.close()


def _waiting(store: Store, run: str, recording: Recording) -> str:
    """Return why a run is not kept, which is tried again while there is memory for it."""
    _WAITING[run] = recording
    while len(_WAITING) > MOST_WAITING:
        _WAITING.pop(next(iter(_WAITING))).give_up()
    return store.trouble or NOT_TAKEN


def on_disk(run: str) -> bool:
    """Return whether a run that a store knows is more than in this process's memory."""
    return run not in _WAITING or _WAITING[run].kept


# What learning no kernel weights costs: one SVM fit of the mean kernel, the unit that machines have in common.

TOLERANCE = 1e-3  # LIBSVM's
TIMES, ENOUGH_SECONDS = 5, 0.5


def mean_fit_seconds(problem: Problem) -> float:
    """Return the least CPU seconds of forming the mean kernel and solving its inner problem; nan if unsolved."""
    times: list[float] = []
    try:
        with one_blas_thread():
            while len(times) < TIMES and sum(times) < ENOUGH_SECONDS:
                begun = cpu_time()
                SvmOracle(problem, TOLERANCE).begin(None)
                times.append(cpu_time() - begun)
    except MklvizError:
        return math.nan
    return min(times)
