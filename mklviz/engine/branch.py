"""Going on from a recorded step with another solver: the weights and dual variables of one run, the method of another.

The SVM at those weights is solved already, so solving it once more is not counted: a branch begins with the SVM solves
of the step that it goes on from. The bounds that the first run had proved stay valid; the branch carries them as its
certificate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mklviz.contract import Iterate, Solver
from mklviz.engine.kinds import KINDS, recommend, rivals
from mklviz.engine.registry import solver_classes, why_not
from mklviz.errors import MklvizError, UnsupportedProblem
from mklviz.numbers import counted, is_whole
from mklviz.problem import Problem
from mklviz.record.run_facts import Origin
from mklviz.record.trace import Trace

__all__ = ["BRANCH_DASH", "branch_label", "branch_refusal", "branch_start", "narrated", "origin_of", "successors"]

BRANCH_DASH = "dashed"


def branch_label(solver: Solver, origin: Origin) -> str:
    """Return what a branch is called: "Level from step 12 of SILP"."""
    return f"{solver.name} from step {origin.step:,} of {origin.label}"


def branch_refusal(problem: Problem, solver: Solver) -> str:
    """Return "" or why a solver cannot go on from a step of another, in a sentence."""
    if solver.stochastic:
        return f"{solver.label} always begins at the zero function, so it cannot go on from where another method is."
    return why_not(solver, problem)


def successors(problem: Problem, solver: str, usual: Sequence[str]) -> list[str]:
    """Return all solvers by name, those first that are of most use at a step of `solver`.

    Those that can go on there come before those that cannot, and another one before the same; then those that would
    race by default, the recommended solver, and those that the table of kinds recommends elsewhere.
    """
    known = solver_classes()
    refused = {name: bool(branch_refusal(problem, made())) for name, made in known.items()}
    able = () if all(refused.values()) else ({*rivals(problem, usual)[0]}, {recommend(problem)})
    tiers = [*able, {kind.solver for kind in KINDS}, {*known}]

    def tier(name: str) -> int:
        return next(rank for rank, names in enumerate(tiers) if name in names)

    return sorted(known, key=lambda name: (refused[name], name == solver, tier(name)))


def origin_of(trace: Trace, label: str, step: int) -> Origin:
    """Return a step of a recorded run as an origin, or raise `MklvizError` where there is no such step."""
    if not is_whole(step):
        raise MklvizError(f"A step is a whole number, not {step!r:.40}.")
    step = int(step)
    index = step - trace.first_step
    if not 0 <= index < len(trace):
        there = f"steps {trace.first_step:,} to {trace.last_step:,}" if len(trace) else "no steps yet"
        raise MklvizError(f"{label} has {there}: there is no step {step!r:.40} to go on from.")
    return Origin(label, step, trace[index].svm_solves, trace.seconds_at(index), trace.split_at(index))


def branch_start(problem: Problem, solver: Solver, trace: Trace, step: int) -> Iterate:
    """Return where a branch begins: the iterate of that step, with what proves the best lower bound until there.

    Raises `UnsupportedProblem` if the solver cannot go on from there, with the reason.
    """
    reason = branch_refusal(problem, solver)
    if reason:
        raise UnsupportedProblem(reason)
    here = trace[step - trace.first_step]
    if not problem.convex:
        return here
    proving = max(trace[: step - trace.first_step + 1], key=lambda iterate: iterate.lower_bound)
    return replace(here, certificate=proving.dual if proving.certificate is None else proving.certificate)


def narrated(solver: Solver, trace: Trace, index: int) -> str:
    """Say what a solver did at an iterate of its run, the first one of a branch included."""
    here, origin = trace[index], trace.origin
    if index or origin is None:
        return solver.narrate(trace[index - 1] if index else None, here)
    return (
        f"{solver.label} takes over the weights of {origin.label} at step {origin.step:,}, with"
        f" {counted(origin.svm_solves, 'SVM solve')} behind it: objective {here.objective:,.6g}."
    )
