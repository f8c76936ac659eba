"""What a run leaves behind can be pickled, and so be sent to other processes and back."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import joblib
import numpy as np
from _problems import problem

import mklviz as mv
from mklviz.contract import Iterate
from mklviz.record import Trace
from mklviz.record import weights as weights_module

RNG = np.random.default_rng(3)
MANY = weights_module.FEW + 1
COLUMNS = ["weights", "dual", "objective", "lower_bound", "gap", "iterate_gap", "step", "svm_solves", "seconds"]


def pickled(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))


def assert_same(one: Trace, other: Trace) -> None:
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for name in ("solver", "label", "options", "problem", "status", "reason", "best_index", "motion"):
        assert getattr(one, name) == getattr(other, name), name
    assert [facts.known() for facts in one.facts] == [facts.known() for facts in other.facts]
    assert list(map(type, one.facts)) == list(map(type, other.facts))
    assert [iterate.end for iterate in one] == [iterate.end for iterate in other]
    assert list(one.kernel_names) == list(other.kernel_names)
    assert one.split.keys() == other.split.keys()


def of_many_kernels(share: float, steps: int = 4) -> Trace:
    """Return a trace that keeps its weights in little room; so large a share of them is not zero."""
    trace = Trace("spg", "SPG")
    for t in range(steps):
        weights = np.where(RNG.random(MANY) < share, RNG.random(MANY), 0.0)
        trace.append(Iterate(weights, np.zeros(2), 2.0 - 0.1 * t, 1.0, 0.5, t), float(t))
    return trace


def test_a_trace_can_be_pickled_and_copied() -> None:
    trace = mv.solve(problem("blobs, C = 100"), "level", gap=1e-4)
    _ = trace.motion  # what it has worked out so far needs not travel
    assert_same(pickled(trace), trace)
    assert_same(copy.deepcopy(trace), trace)
    assert_same(copy.copy(trace), trace)


def test_a_trace_that_still_grows_is_pickled_as_it_is_and_its_copy_can_go_on() -> None:
    trace = of_many_kernels(1.0)
    again = pickled(trace)
    assert again.status == "running"
    again.append(trace[1], 9.0)
    assert (len(trace), len(again)) == (4, 5)
    np.testing.assert_array_equal(again[4].weights, trace[1].weights)


def test_a_path_can_be_pickled() -> None:
    found = mv.path(problem("blobs, C = 1"), "level", C=[10.0, 1.0], max_iter=5)
    again = pickled(found)
    assert (again.parameter, again.warm, again.complete) == ("C", True, True)
    for (value, trace), (other, same) in zip(found, again, strict=True):
        assert value == other
        assert_same(same, trace)


def test_solves_can_be_spread_over_processes() -> None:
    asked = problem("blobs, C = 1")
    solvers = ["level", "spg", "closed-form"]
    spread = joblib.Parallel(n_jobs=2, max_nbytes=1)(joblib.delayed(mv.solve)(asked, name) for name in solvers)
    for name, found in zip(solvers, spread, strict=True):
        alone = mv.solve(asked, name)
        assert (found.solver, found.status) == (name, alone.status)
        # a process among several has one BLAS thread, and may add up in another order
        np.testing.assert_allclose(found.weights, alone.weights, rtol=1e-9, atol=1e-12)
