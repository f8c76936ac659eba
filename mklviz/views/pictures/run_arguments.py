"""The arguments of a picture: runs, one by one, in lists or in mappings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mklviz.analysis.landscape import no_heights
from mklviz.errors import ProblemError
from mklviz.problem import Problem
from mklviz.record import Trace

__all__ = ["check_ground", "traces_of"]


def traces_of(*arguments: Any) -> dict[str, Trace]:
    """Return the runs by their keys in a mapping, or else by their solvers, with a number where two runs share one.

    Raises `ProblemError` for anything else, or a run without steps.
    """
    runs: dict[str, Trace] = {}
    for one in arguments:
        if isinstance(one, Trace):
            runs[_free(one.solver, one.label, runs)] = one
        elif isinstance(one, Mapping):
            for key, trace in one.items():
                for inner in traces_of(trace).values():
                    runs[_free(str(key), str(key), runs)] = inner
        elif isinstance(one, Iterable) and not isinstance(one, (str, bytes)):
            for inner in one:
                for key, trace in traces_of(inner).items():
                    runs[_free(key, trace.label, runs)] = trace
        else:
            raise ProblemError(f"Give traces, as mv.solve returns them or race.traces holds them, not {one!r:.60}.")
    if not runs or not all(len(trace) for trace in runs.values()):
        raise ProblemError("Give at least one trace, and only such as have taken a step.")
    return runs


def _free(key: str, label: str, taken: Mapping[str, Trace]) -> str:
    """Return the key, or where it is taken the label with the next number."""
    number, free = 1, key
    while free in taken:
        number += 1
        free = f"{label} {number}"
    return free


def check_ground(problem: Problem, traces: Iterable[Trace], kernels: int) -> None:
    """Raise `ProblemError` unless the objective can be drawn over so many kernels, with these runs upon it."""
    if problem.m != kernels or not problem.regularizer.on_simplex:
        raise ProblemError(
            f"The objective is drawn over {kernels} kernels whose weights sum to one; this problem has {problem.m:,}"
            f" and {problem.regularizer}. Pose it with {kernels} kernels and mv.Simplex()."
        )
    if reason := no_heights(problem):
        raise ProblemError(reason)
    for trace in traces:
        if list(trace.kernel_names) != list(problem.bank.names):
            raise ProblemError("This run is another problem's: give the problem that was solved.")
