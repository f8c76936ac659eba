"""Kernels whose sizes differ by far: the run that fails on them and the bank say so, and that normalizing helps."""

from __future__ import annotations

import numpy as np
import pytest

from mklviz.datasets import load_dataset
from mklviz.engine import solve
from mklviz.kernels import KernelBank, NystromBank, Polynomial, ProductBank, size_remark
from mklviz.problem import Hinge, Problem

PIMA = load_dataset("pima")
ROWS = np.random.default_rng(0).permutation(len(PIMA.y))[:40]
RAW, LABELS = PIMA.X[ROWS], PIMA.y[ROWS]
CUBES = [Polynomial(degrees=(1, 2, 3), on="all+each")]


def raw_bank(normalize: str) -> KernelBank:
    return KernelBank.build(RAW, CUBES, normalize=normalize)


@pytest.mark.parametrize("solver", ["silp", "level"])
def test_a_run_on_raw_features_that_ends_early_says_that_normalizing_helps(solver: str) -> None:
    lost, found = (
        solve(Problem(raw_bank(normalize), LABELS, Hinge(100.0)), solver, gap=1e-12, max_iter=2)
        for normalize in ("none", "trace")
    )
    assert lost.status != "converged"
    assert "times as large as the smallest" in lost.reason
    assert 'normalize="trace"' in lost.reason
    assert "normalize" not in found.reason


def test_a_run_that_converged_needs_no_remark() -> None:
    fine = solve(Problem(raw_bank("none"), LABELS, Hinge(1e-12)), "level", gap=0.5)
    assert fine.status == "converged"
    assert "normalize" not in fine.reason


def test_kernels_of_like_size_need_no_remark() -> None:
    scaled = (RAW - RAW.mean(0)) / RAW.std(0)
    grams = np.array([10.0**power * np.eye(5) for power in (0, 5)])
    for bank in (
        raw_bank("trace"),
        raw_bank("diagonal"),
        KernelBank.build(scaled, CUBES, normalize="none"),
        NystromBank.build(scaled, CUBES, landmarks=10, normalize="none"),
        ProductBank.build(RAW),
        KernelBank.from_grams(grams),
        KernelBank.from_grams([np.eye(5), np.zeros((5, 5))]),
    ):
        assert size_remark(bank) == ""
    assert "1e+08 times" in size_remark(KernelBank.from_grams([np.eye(5), 1e8 * np.eye(5)]))
