"""What claims measure beyond pairs of solvers: growth, and runs on different problems."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from mklviz.reproduce import GrowthExponent, RatioAcross


def row(**values: object) -> dict[str, object]:
    plain = {"data": "sonar", "split": 0, "solver": "spg", "status": "converged", "gap": 1e-3, "machine": "one"}
    return {**plain, "samples": 100, "m": 10, "seconds": 1.0, "kernels": 5, **values}


def test_the_exponent_is_the_power_with_which_a_cost_grows() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        [
            row(split=split, samples=n, train=n / 1000, seconds=1e-4 * n**1.5 * math.exp(0.01 * rng.normal()))
            for split in range(5)
            for n in (100, 200, 400)
        ]
        + [row(split=split, samples=900, train=0.9, solver="pgd", seconds=1e3) for split in range(5)]
    )
    found = GrowthExponent("seconds", "spg", "samples").estimates(frame)["sonar"]
    assert found.low <= found.value <= found.high
    assert found.value == pytest.approx(1.5, abs=0.05)
    assert found.cases == 15


def test_a_ratio_across_problems_pairs_the_splits_that_both_have() -> None:
    """SILP takes four times as long; runs that failed, and splits with one of the two, do not count."""
    both = [("silp", "simplex", 4.0), ("ufo", "group-squared", 1.0)]
    rows = [
        row(split=split, solver=solver, regularizer=regularizer, seconds=seconds * 2.0**split)
        for split in range(5)
        for solver, regularizer, seconds in both
    ]
    rows.append(row(split=9, solver="silp", regularizer="simplex", seconds=1e6))
    rows.append(row(split=0, solver="silp", regularizer="group-squared", status="failed", seconds=0.0))
    found = RatioAcross("seconds", both[0][:2], both[1][:2]).estimates(pd.DataFrame(rows))["sonar"]
    assert (found.value, found.low, found.high) == pytest.approx((4.0, 4.0, 4.0))
    assert found.cases == 5


def test_without_a_split_in_common_a_ratio_across_problems_is_not_known() -> None:
    frame = pd.DataFrame([row(solver="silp", regularizer="simplex")])
    assert math.isnan(RatioAcross("seconds", ("silp", "simplex"), ("ufo", "simplex")).estimates(frame)["sonar"].value)
