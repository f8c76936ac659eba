"""Solve one member, wherever that is: build its kernels, unless they are there, run it, and return the result."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from mklviz.context.blas import one_blas_thread
from mklviz.contract import Iterate
from mklviz.datasets import DataError
from mklviz.engine import Run
from mklviz.errors import Interrupted, MklvizError
from mklviz.quoting import said_by
from mklviz.recipe import Recipe
from mklviz.recipe.banks import BankStore
from mklviz.recipe.prepared import Prepared
from mklviz.record import Trace
from mklviz.record.run_facts import Verdict
from mklviz.record.store import Asker, RunHead
from mklviz.record.store.head import owned_key, this_machine
from mklviz.sweeps.command import SweepCommand
from mklviz.sweeps.fit import mean_fit_seconds
from mklviz.sweeps.member import Member
from mklviz.sweeps.outcome import DONE

__all__ = ["head_of", "solve_member"]

_BANKS = BankStore(max_count=2, at_once=1)  # those of this process; members on the same kernels come one after another
_FITS: dict[object, float] = {}  # seconds of a fit, by data and kernels, and by the loss
_ENDS: dict[object, Iterate] = {}  # where runs ended, by their keys, for those on the same path that begin there
MOST_KEPT = 100  # of each
_lock = threading.Lock()  # a worker of a cluster may have several threads, each with a path of its own

T = TypeVar("T")
Watch = Callable[[Trace], None]


def solve_member(member: Member, command: SweepCommand, begun: Watch, stepped: Watch) -> tuple[Trace, dict[str, Any]]:
    """Return the trace of a member that has ended, and what else is known of it, see `MemberOutcome.results`.

    `begun` is called with the trace before its first step, and `stepped` after each. What cannot be prepared or solved
    ends as failed, with the reason.
    """
    machine = {"machine": this_machine().id, "calibration": this_machine().calibration}
    try:
        with one_blas_thread():
            prepared = _prepared(member.recipe, command)
            run = _run_of(member, prepared, _start(member, command))
            begun(run.trace)
            _solve(run, command, stepped)
            _keep_end(member, run.trace)
            return run.trace, {
                **machine,
                **_results(prepared, run.trace),
                "fit_seconds": _fit_seconds(member.first, command),
            }
    except Interrupted:
        verdict = Verdict("stopped", "The sweep was stopped.")
    except (MklvizError, DataError, MemoryError, OSError) as error:
        verdict = Verdict("failed", said_by(error) or "There is not enough memory for this.")
    trace = _empty(member)
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


def _keep_end(member: Member, trace: Trace) -> None:
    if len(trace) and trace.status in DONE:
        _keep(_ENDS, member.key, trace.best_start)


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


def _empty(member: Member) -> Trace:
    choice = member.recipe.solvers[0]
    return Trace(choice.name, choice.name, dict(choice.options), recipe=member.recipe.to_json())


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
        known |= {"score": prepared.score(trace.best), "score_label": prepared.score_label}
        known |= {"moved": trace.motion.moved}
    return known


def _fit_seconds(recipe: Recipe, command: SweepCommand) -> float:
    """Return what one fit takes on this machine, measured once for all who share the problem's fit."""
    key = (recipe.bank_key, recipe.problem.loss, recipe.problem.class_weight)
    seconds = _FITS.get(key)
    if seconds is None:
        seconds = mean_fit_seconds(_prepared(recipe, command).problem)
        _keep(_FITS, key, seconds)
    return seconds
