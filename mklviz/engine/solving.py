"""One solve in the caller's thread; errors are raised."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mklviz.context.blas import one_blas_thread
from mklviz.contract import Iterate, Solver
from mklviz.engine.kinds import solver_for
from mklviz.engine.run import Run, check_callable, check_problem
from mklviz.engine.stop import FLAT, StopRule, standard_rules
from mklviz.errors import MklvizError, SolverError
from mklviz.problem import Problem
from mklviz.record.trace import Trace


def solve(
    problem: Problem,
    solver: str | Solver | None = None,
    gap: float | None = 1e-2,
    max_iter: int | None = 500,
    max_seconds: float | None = None,
    seed: int = 0,
    stop: Sequence[StopRule] = (),
    progress: Callable[[Trace], None] | None = None,
    projected_gradient: float | None = FLAT,
    start: Iterate | None = None,
    threads: int = 1,
    **options: Any,
) -> Trace:
    """Solve `problem` and return the trace of the run.

    Parameters
    ----------
    problem : Problem
    solver : str or Solver, optional
        A registry name (see `available_solvers`) or a solver with its options set; by default, or "auto", the one that
        `recommend` names for this kind of problem.
    gap : float or None
        Relative certified duality gap to stop at, where the problem is convex.
    max_iter : int or None
        Steps to stop at.
    max_seconds : float or None
        CPU seconds to stop at, in the middle of a step if need be; compiling functions on their first call is free.
    seed : int
        Seed of every random choice of a solver given by name.
    stop : sequence of StopRule
        Further stop rules.
    progress : callable, optional
        Called with the trace after every step.
    projected_gradient : float or None
        Projected gradient, relative to the objective, to stop at where the problem is not convex and has no gap.
    start : Iterate, optional
        Where to begin, such as ``trace.best_start`` of a problem with the same kernels and samples but another C or
        price. Its weights and dual variables are made to fit. Stochastic solvers (UFO-MKL, OBSCURE) begin anew.
    threads : int
        Threads that share the long computations on large banks; the result is the same bit for bit.
    **options
        Options of a solver given by name.

    Raises
    ------
    UnknownName
        If there is no such solver.
    UnsupportedProblem
        If the solver cannot solve this problem, with the reason, or none can.
    SolverError
        If the solver breaks down; its `found` is the trace until then.
    KeyboardInterrupt
        On Ctrl-C, in the middle of a step if need be; its `found` is the trace until then.

    Examples
    --------
    >>> train, test = mv.load_dataset("heart").split(train=0.5, seed=0)
    >>> problem = mv.Problem(mv.paper_bank(train.X), train.y)
    >>> mv.solve(problem, "level", gap=1e-3).status
    'converged'
    """
    check_problem(problem)
    check_callable(progress, "progress")
    made = solver_for(problem, "auto" if solver is None else solver, seed, **options)
    rules = standard_rules(gap, max_iter, max_seconds, stop, problem.convex, projected_gradient)
    run = Run(problem, made, rules, start=start, threads=threads)
    finish(run, lambda: progress(run.trace) if progress is not None else None)
    return run.trace


def finish(run: Run, progress: Callable[[], None]) -> None:
    """Advance `run` to its end in the caller's thread, calling `progress` after every step.

    Raises `MklvizError`: what broke the run; its `found` is the run's trace. Raises `KeyboardInterrupt`: on Ctrl-C,
    likewise.
    """
    with one_blas_thread():
        more = True
        try:
            while more:
                more = run.advance()
                if len(run.trace):  # the first step may fail
                    progress()
        except KeyboardInterrupt as stop:
            run.cancel()  # so that its trace says so
            hand_over(stop, run.trace)
            raise
    error = run.error
    if error is None:
        return
    if not isinstance(error, MklvizError):
        error = SolverError(run.reason)
        error.__cause__ = run.error
    error.found = run.trace
    raise error


def hand_over(stop: KeyboardInterrupt, result: Any) -> None:
    """Attach the result so far to the exception as `found`, as mklviz's own errors do."""
    stop.found = result  # type: ignore[attr-defined]
