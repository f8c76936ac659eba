"""What learning no kernel weights costs: one SVM fit of the mean kernel, the unit that machines have in common."""

from __future__ import annotations

import math

import numpy as np

from mklviz.context.blas import one_blas_thread
from mklviz.context.meter import cpu_time
from mklviz.errors import MklvizError
from mklviz.inner import SvmOracle
from mklviz.problem import Problem

__all__ = ["mean_fit_seconds"]

TOLERANCE = 1e-3  # LIBSVM's
TIMES, ENOUGH_SECONDS = 5, 0.5


def mean_fit_seconds(problem: Problem) -> float:
    """Return the CPU seconds of the inner problem at equal weights, from nothing, the least of some; nan if unsolved.

    Forming the mean kernel counts: an SVM of a hundred samples alone takes a tenth of a millisecond.
    """
    times: list[float] = []
    try:
        with one_blas_thread():
            while len(times) < TIMES and sum(times) < ENOUGH_SECONDS:
                times.append(_fit(problem))
    except MklvizError:
        return math.nan
    return float(np.min(times))


def _fit(problem: Problem) -> float:
    begun = cpu_time()
    SvmOracle(problem, TOLERANCE).begin(None)
    return cpu_time() - begun
