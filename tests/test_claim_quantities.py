"""What claims measure beyond pairs of solvers: growth, and runs on different problems."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from mklviz.reproduce import DigitsPerStep, GrowthExponent, PrecisionExponent, Quotient, RatioAcross


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


def _to_gaps(steps: dict[float, int]) -> pd.DataFrame:
    rows = [
        {"split": split, "gap": gap, "gap (set)": gap, "steps": n} for split in range(5) for gap, n in steps.items()
    ]
    return pd.DataFrame([row(**each, moved=1.0) for each in rows])


def test_the_exponent_in_the_precision_is_the_power_of_the_inverse_gap() -> None:
    found = PrecisionExponent("steps", "spg").estimates(_to_gaps({1e-1: 10, 1e-2: 100, 1e-3: 1000}))["sonar"]
    assert found.value == pytest.approx(1.0)


@pytest.mark.parametrize(("steps", "ratio"), [((4, 8, 12), 1.0), ((4, 8, 9), 4.0), ((4, 5, 9), 0.25)])
def test_digits_per_step_tell_linear_from_faster_convergence(steps: tuple[int, ...], ratio: float) -> None:
    frame = _to_gaps(dict(zip((1e-1, 1e-3, 1e-5), steps, strict=True)))
    found = DigitsPerStep("steps", "spg").estimates(frame)["sonar"]
    assert found.value == pytest.approx(ratio)
    assert found.cases == 5


def test_a_quotient_divides_two_numbers_of_the_same_run() -> None:
    frame = pd.DataFrame([row(split=split, svm_solves=3 * (split + 2), steps=split + 2) for split in range(5)])
    assert Quotient("svm_solves", "steps", "spg").estimates(frame)["sonar"].value == pytest.approx(3.0)
