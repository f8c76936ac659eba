"""The optimal value of a convex program by general conic solvers, wherever the tests run.

Asked for 1e-9, an interior point method (Clarabel) gets there, stops a little short or gives up, by the last digit of
its data; and that is decided by the processor, through BLAS. Where it does not get there, a method that has nothing in
common with it (SCS, of first order) is asked for 1e-9 too, and only then both for less. What no solver vouches for is
no reference.
"""

import warnings

import cvxpy as cp

__all__ = ["answer", "by_clarabel", "by_scs", "optimal_value"]

TOLERANCE = 1e-9


def optimal_value(posed: cp.Problem, accuracy: float = 1e-7) -> float:
    """Return the optimal value of `posed`, to a relative `accuracy` at least, and leave the solution in its variables.

    Answers that were asked for a tenth of it will do: gap and violations add up.
    """
    value = answer(posed, accuracy)
    assert value is not None, "No conic solver got where it was asked to."
    return value


def answer(posed: cp.Problem, accuracy: float) -> float | None:
    """Return what `optimal_value` does, None where no conic solver got there."""
    for tol in (TOLERANCE, 0.1 * accuracy):
        for ask in (by_clarabel, by_scs):
            value = ask(posed, tol)
            if value is not None:
                return value
    return None


def by_clarabel(posed: cp.Problem, tol: float = TOLERANCE) -> float | None:
    """Return the optimal value by Clarabel, None where it did not get to `tol`."""
    return _ask(posed, solver=cp.CLARABEL, tol_gap_abs=tol, tol_gap_rel=tol, tol_feas=tol)


def by_scs(posed: cp.Problem, tol: float = TOLERANCE) -> float | None:
    """Return the optimal value by SCS, None where it did not get to `tol`."""
    return _ask(posed, solver=cp.SCS, eps_abs=tol, eps_rel=tol, max_iters=20_000)


def _ask(posed: cp.Problem, **options: object) -> float | None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Solution may be inaccurate")  # then it is not used
        warnings.filterwarnings("ignore", message="Power|.*approx", category=UserWarning)
        try:
            posed.solve(**options)
        except cp.error.SolverError:
            return None
    # the solver's own value: cvxpy's is infinite where it divides by a weight that is rounded to zero
    return float(posed.solution.opt_val) if posed.status == cp.OPTIMAL else None
