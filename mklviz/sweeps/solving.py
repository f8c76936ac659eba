"""Solve one member, wherever that is: build its kernels, unless they are there, run it, and say what came out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mklviz.context.blas import one_blas_thread
from mklviz.datasets import DataError
from mklviz.engine import Run
from mklviz.errors import Interrupted, MklvizError
from mklviz.quoting import said_by
from mklviz.recipe.banks import BankStore
from mklviz.recipe.prepared import Prepared
from mklviz.record import Trace
from mklviz.record.store import RunHead
from mklviz.record.store.machine import this_machine
from mklviz.record.verdict import Verdict
from mklviz.sweeps.command import SweepCommand
from mklviz.sweeps.fit import mean_fit_seconds
from mklviz.sweeps.member import Member

__all__ = ["head_of", "solve_member"]

_BANKS = BankStore(max_count=2, at_once=1)  # those of this process; members on the same kernels come one after another
_FITS: dict[object, float] = {}  # seconds of a fit, by data and kernels, and by the loss
MOST_FITS = 100

Watch = Callable[[Trace], None]


def solve_member(member: Member, command: SweepCommand, begun: Watch, stepped: Watch) -> tuple[Trace, dict[str, Any]]:
    """Return the trace of a member that has ended, and what else is known of it, see `MemberOutcome.results`.

    `begun` is called with the trace before its first step, and `stepped` after each. What cannot be prepared or solved
    ends as failed, with the reason.
    """
    machine = {"machine": this_machine().id, "calibration": this_machine().calibration}
    try:
        with one_blas_thread():
            prepared = _prepared(member, command)
            run = _run_of(member, prepared)
            begun(run.trace)
            _solve(run, command, stepped)
            return run.trace, {**machine, **_results(member, prepared, run.trace)}
    except Interrupted:
        verdict = Verdict("stopped", "The sweep was stopped.")
    except (MklvizError, DataError, MemoryError, OSError) as error:
        verdict = Verdict("failed", said_by(error) or "There is not enough memory for this.")
    trace = _empty(member)
    begun(trace)
    trace.finish(verdict)
    return trace, machine


def head_of(member: Member, sweep: str) -> RunHead:
    """Return what a store is told of a member's run; the members on the same problem make a race."""
    words = member.recipe.to_words()
    return RunHead(race=member.race, words=words, data=member.data, made_by="sweep", sweep=sweep, member=member.key)


def _prepared(member: Member, command: SweepCommand) -> Prepared:
    recipe = member.recipe
    built = _BANKS.take(recipe.bank_key, lambda progress: recipe.build(progress=progress), lambda _: command.check())
    return recipe.posed(built)


def _run_of(member: Member, prepared: Prepared) -> Run:
    recipe = member.recipe
    run = Run(prepared.problem, recipe.solvers[0].make(member.split), recipe.stop.rules(recipe.convex))
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


def _results(member: Member, prepared: Prepared, trace: Trace) -> dict[str, Any]:
    known: dict[str, Any] = {"samples": prepared.problem.n, "bank": prepared.problem.m}
    if len(trace):
        known |= {"score": prepared.score(trace.best), "score_label": prepared.score_label}
        known |= {"moved": trace.motion.moved}
    return {**known, "fit_seconds": _fit_seconds(member, prepared)}


def _fit_seconds(member: Member, prepared: Prepared) -> float:
    """Return what one fit takes on this machine, measured once for all who share the problem's fit."""
    key = (member.recipe.bank_key, member.recipe.problem.loss, member.recipe.problem.class_weight)
    if key not in _FITS:
        while len(_FITS) >= MOST_FITS:
            _FITS.pop(next(iter(_FITS)), None)
        _FITS[key] = mean_fit_seconds(prepared.problem)
    return _FITS[key]
