"""What a trace keeps of many kernels comes back bit for bit, in little room; and runs can be pickled and sent."""

import copy
import io
import pickle
from collections.abc import Sequence
from dataclasses import replace
from tempfile import TemporaryFile
from typing import Any

import joblib
import numpy as np
import pytest
from _problems import problem

import mklviz as mv
from mklviz.contract import Facts, Iterate
from mklviz.record import Trace
from mklviz.record import weights as weights_module

RNG = np.random.default_rng(8)
MANY = weights_module.FEW + 1


def path(kind: str, steps: int = 9, m: int = MANY) -> list[np.ndarray]:
    """Weights with few that are not zero, with all, or now this and now that."""
    dense = [RNG.random(m) / m for _ in range(steps)]
    thin = [np.where(RNG.random(m) < 0.01, weights, 0.0) for weights in dense]
    thin[0][:3] = -0.0, np.nan, 5e-324  # whatever a solver says
    return {"sparse": thin, "dense": dense, "mixed": [*dense[::2], *thin[1::2]]}[kind]


def trace_of(weights: Sequence[np.ndarray]) -> Trace:
    trace = Trace("spg", "SPG", kernel_names=[f"k{k}" for k in range(len(weights[0]))])
    for t, row in enumerate(weights):
        facts = Facts(svm_tolerance=float(t))
        trace.append(Iterate(row.copy(), np.array([0.5, 0.5]), 2.0 - 0.1 * t, 1.0, 0.5, t + 1, facts), t)
    return trace


def full_disk(**_: object) -> None:
    raise OSError("No space left on device")


@pytest.mark.parametrize(
    ("in_memory", "file"), [(0, TemporaryFile), (0, full_disk), (3 * 8 * MANY, TemporaryFile), (2**27, TemporaryFile)]
)
@pytest.mark.parametrize("kind", ["sparse", "dense", "mixed"])
def test_weights_come_back_bit_for_bit(kind: str, in_memory: int, file: object, monkeypatch: Any) -> None:
    for name, value in {"IN_MEMORY": in_memory, "tempfile.TemporaryFile": file}.items():
        monkeypatch.setattr(f"mklviz.record.weights.{name}", value)
    assert all(type(iterate) is Iterate for iterate in trace_of(path(kind, m=weights_module.FEW)))
    weights = path(kind)
    trace = trace_of(weights)
    for kept, row in zip(trace, weights, strict=True):
        assert kept.weights.tobytes() == row.tobytes()
        assert isinstance(kept, Iterate)
    assert trace.weights.tobytes() == np.array(weights).tobytes()
    assert trace[2].gap == pytest.approx(0.8 / 1.8)
    assert replace(trace[2], weights=np.ones(3)).weights.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_a_saved_trace_of_many_kernels_is_the_trace_loaded(kind: str) -> None:
    trace, file = trace_of(path(kind)), io.BytesIO()
    trace.save(file)
    file.seek(0)
    again = Trace.load(file)
    assert again.weights.tobytes() == trace.weights.tobytes()
    assert list(again.kernel_names) == list(trace.kernel_names)
    assert [facts.known() for facts in again.facts] == [facts.known() for facts in trace.facts]


def test_runs_saved_with_a_header_of_letters_are_read_as_well() -> None:
    """As files written before were: numpy alone, all of it at once."""
    trace, file = trace_of(path("dense", steps=3, m=4)), io.BytesIO()
    trace.save(file)
    file.seek(0)
    with np.load(file) as archive:
        columns = {name: archive[name] for name in archive}
    assert columns["weights"].tobytes() == trace.weights.tobytes()
    columns["header"] = np.array(columns["header"].tobytes().decode())
    before = io.BytesIO()
    np.savez_compressed(before, **columns)
    before.seek(0)
    np.testing.assert_array_equal(Trace.load(before).weights, trace.weights)


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


def test_a_trace_and_a_path_can_be_pickled_and_copied_also_one_that_still_grows() -> None:
    trace = mv.solve(problem("blobs, C = 100"), "level", gap=1e-4)
    _ = trace.motion  # what it has worked out so far needs not travel
    for again in (pickled(trace), copy.deepcopy(trace), copy.copy(trace)):
        assert_same(again, trace)
    found = mv.path(problem("blobs, C = 1"), "level", C=[10.0, 1.0], max_iter=5)
    again = pickled(found)
    assert (again.parameter, again.warm, again.complete) == ("C", True, True)
    for (value, trace), (other, same) in zip(found, again, strict=True):
        assert value == other
        assert_same(same, trace)
    trace = trace_of(path("dense", steps=4))
    again = pickled(trace)
    assert again.status == "running"
    again.append(trace[1], 9.0)
    assert (len(trace), len(again)) == (4, 5)
    np.testing.assert_array_equal(again[4].weights, trace[1].weights)


@pytest.mark.full
def test_solves_can_be_spread_over_processes() -> None:
    asked = problem("blobs, C = 1")
    solvers = ["level", "spg", "closed-form"]
    spread = joblib.Parallel(n_jobs=2, max_nbytes=1)(joblib.delayed(mv.solve)(asked, name) for name in solvers)
    for name, found in zip(solvers, spread, strict=True):
        alone = mv.solve(asked, name)
        assert (found.solver, found.status) == (name, alone.status)
        # a process among several has one BLAS thread, and may add up in another order
        np.testing.assert_allclose(found.weights, alone.weights, rtol=1e-9, atol=1e-12)
