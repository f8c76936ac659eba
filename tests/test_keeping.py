"""What a trace keeps of many kernels comes back bit for bit, in little room."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

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
        trace.append(
            Iterate(row.copy(), np.array([0.5, 0.5]), 2.0 - 0.1 * t, 1.0, 0.5, t + 1, Facts(svm_tolerance=float(t))), t
        )
    return trace


@pytest.mark.parametrize("in_memory", [0, 3 * 8 * MANY, 2**27])
@pytest.mark.parametrize("kind", ["sparse", "dense", "mixed"])
def test_weights_come_back_bit_for_bit(kind: str, in_memory: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights_module, "IN_MEMORY", in_memory)
    weights = path(kind)
    trace = trace_of(weights)
    for kept, row in zip(trace, weights, strict=True):
        assert kept.weights.tobytes() == row.tobytes()
        assert isinstance(kept, Iterate)
    assert trace.weights.tobytes() == np.array(weights).tobytes()
    assert trace[2].gap == pytest.approx(0.8 / 1.8)
    assert replace(trace[2], weights=np.ones(3)).weights.tolist() == [1.0, 1.0, 1.0]


def test_a_full_disk_leaves_weights_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(weights_module, "IN_MEMORY", 0)
    monkeypatch.setattr(weights_module.tempfile, "TemporaryFile", refuse)
    weights = path("dense", steps=3)
    assert trace_of(weights).weights.tobytes() == np.array(weights).tobytes()


def test_few_kernels_are_kept_as_they_are() -> None:
    trace = trace_of(path("sparse", m=weights_module.FEW))
    assert all(type(iterate) is Iterate for iterate in trace)


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
