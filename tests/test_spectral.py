"""PGD, SPG and the parts they share: spectral steps, averaged reference values, line searches, tuned precision."""

from dataclasses import replace
from functools import cache
from itertools import islice, pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from _conic import conic_optimum
from _formulations import conic_value
from _problems import problem, random_problem
from test_geometry import few

from mklviz.analysis.steps import facts_of, step_of
from mklviz.analysis.weight_map import Slice
from mklviz.contract import Array, Iterate, Solver
from mklviz.engine import solve
from mklviz.inner.oracle import SvmOracle
from mklviz.problem import Entropy, L1Penalty, LpBall, LpPenalty, PowerPenalty, Problem, Regularizer, Simplex
from mklviz.record import Trace
from mklviz.solvers._spectral import (
    TYPICAL,
    ReferenceValue,
    halve,
    interpolate,
    search_segment,
    spectral_step,
    steep_near_zero,
)
from mklviz.solvers._words import MOST_TRIALS
from mklviz.solvers.pgd import Pgd
from mklviz.solvers.spg import PRESETS, Spg, _SpectralDescent

SETTINGS = {"PGD": (False, False), "PGD+N": (True, False), "PGD+S": (False, True), "PGD+N+S": (True, True)}
NAMES = ["blobs, C = 100", "random Gram matrices", "pima", "linear penalty, blobs"]


class Parabola:
    """1/2 (x - 1)'diag(h)(x - 1) in place of a solved SVM."""

    def __init__(self, weights: Array, h: Array) -> None:
        self.weights = weights
        self.value = float(0.5 * (weights - 1.0) @ (h * (weights - 1.0)))
        self.gradient = h * (weights - 1.0)

    def slope(self, target: Array) -> float:
        return float(self.gradient @ (target - self.weights))


def pgd(setting: str, **options: Any) -> Pgd:
    nonmonotone, spectral = SETTINGS[setting]
    return Pgd(nonmonotone=nonmonotone, spectral=spectral, svm_tolerance=1e-10, **options)


def steps(solver: Solver, posed: Problem, count: int) -> list[Iterate]:
    return list(islice(solver.iterates(posed), count))


def test_steps_are_the_inverse_of_the_curvature_and_interpolation_finds_the_lowest_point_of_a_parabola() -> None:
    h = np.array([2.0, 8.0])
    start = np.zeros(2)
    assert spectral_step(Parabola(start, h), Parabola(np.array([1.0, 0.0]), h)) == pytest.approx(0.5)  # type: ignore[arg-type]
    both = spectral_step(Parabola(start, h), Parabola(np.array([1.0, 1.0]), h))  # type: ignore[arg-type]
    assert both == pytest.approx(2.0 / 10.0)
    flat = np.zeros(2)
    assert np.isnan(spectral_step(Parabola(np.zeros(2), flat), Parabola(np.ones(2), flat)))  # type: ignore[arg-type]
    # t^2 - 0.6 t, lowest at 0.3
    assert interpolate(1.0, -0.6, 0.4) == pytest.approx(0.3)
    assert interpolate(0.08, -0.6, 0.4) == pytest.approx(0.04)
    assert halve(0.5, -0.6, 0.4) == 0.25


def test_the_memory_follows_the_model_within_its_bounds() -> None:
    reference = ReferenceValue(1.0, 0.5)
    reference.adapt(0.95)
    assert reference.memory == pytest.approx(0.525)
    reference.adapt(0.5)
    assert reference.memory == pytest.approx(0.525)
    for _ in range(50):
        reference.adapt(0.0)
    assert reference.memory == pytest.approx(0.1)
    for _ in range(50):
        reference.adapt(1.0)
    assert reference.memory == pytest.approx(1.0)


def test_a_line_search_says_when_there_is_no_way_down() -> None:
    here = Parabola(np.array([1.0]), np.array([1.0]))
    search = search_segment(lambda d: Parabola(d, np.ones(1)), here, np.array([2.0]), here.value, least=1e-6)  # type: ignore[arg-type,return-value]
    assert search.accepted is None
    assert search.share < 1e-6


@pytest.mark.each_value
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("setting", ["PGD", "PGD+S"])
def test_without_patience_the_objective_never_rises(setting: str, name: str) -> None:
    values = [iterate.objective for iterate in steps(pgd(setting), problem(name), 20)]
    assert all(after <= before * (1 + 1e-9) for before, after in pairwise(values))


@pytest.mark.each_value
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("setting", ["PGD+N", "PGD+N+S"])
def test_with_patience_the_objective_stays_below_the_reference(setting: str, name: str) -> None:
    for before, after in pairwise(steps(pgd(setting), problem(name), 30)):
        assert after.objective <= before.facts.reference_value * (1 + 1e-9)
        assert 0.1 <= after.facts.memory <= 1.0


@pytest.mark.each_value
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("regularizer", [Simplex(), L1Penalty(150.0)], ids=["simplex", "penalty"])
def test_every_setting_reaches_the_conic_optimum(setting: str, regularizer: Regularizer) -> None:
    posed = random_problem(4, regularizer)
    trace = solve(posed, pgd(setting), gap=1e-7, max_iter=5000)
    assert abs(trace.best.objective - conic_optimum(posed)) <= 1e-6 * trace.best.objective


POWERS = [pytest.param(kind(1.1, 1.0), marks=pytest.mark.product) for kind in (LpPenalty, PowerPenalty)]


@pytest.mark.full
@pytest.mark.parametrize("regularizer", [*POWERS, Entropy(30.0)], ids=repr)
def test_exact_penalties_end_the_crawl_where_curvature_has_no_bound(regularizer: Regularizer) -> None:
    """The curvature of r in a tiny weight is d^{p-2} or 1/d: no step along a slope has a good length."""
    posed = random_problem(4, regularizer)
    best = conic_value(posed)
    counts = {}
    for name, exact, crawling in [
        ("SPG", Spg(), Spg(preset="paper")),
        ("PGD+S", pgd("PGD+S", exact=True), pgd("PGD+S")),
    ]:
        fine = solve(posed, exact, gap=1e-7, max_iter=500)
        # the conic solver approximates cones of such powers
        assert fine.best.objective == pytest.approx(best, rel=1e-5), name
        counts[name] = [solve(posed, it, gap=1e-3, max_iter=400).final.svm_solves for it in (exact, crawling)]
    assert all(few < many / 3 for few, many in counts.values()), counts


def test_the_name_and_the_dash_show_the_setting() -> None:
    made = {setting: pgd(setting) for setting in SETTINGS}
    assert {setting: solver.name for setting, solver in made.items()} == {setting: setting for setting in SETTINGS}
    assert len({solver.dash for solver in made.values()}) == 4
    turned = Pgd()
    turned.spectral = True
    assert (turned.name, turned.dash) == ("PGD+S", made["PGD+S"].dash)
    assert Pgd(name="mine", spectral=True).name == "mine"
    assert Pgd.dash == "solid"  # the class is left alone


@pytest.mark.each_value
@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("name", NAMES)
def test_the_precision_only_ever_grows(preset: str, name: str) -> None:
    tolerances = [it.facts.svm_tolerance for it in steps(Spg(preset=preset), problem(name), 60)]
    assert tolerances[0] == 0.1
    assert all(after <= before for before, after in pairwise(tolerances))
    assert tolerances[-1] >= PRESETS[preset].finest


def scheduled(preset: str, gap: float, excess: float = 0.0, tolerance: float = 0.1, slope: float = 0.0) -> float:
    """The tolerance that SPG wants at a point of that gap and P = 1; of that projected gradient where it has none."""
    point = SimpleNamespace(gap=gap, primal=1.0, lower_bound=1.0 - gap)
    here = SimpleNamespace(point=point, excess=excess, value=1.0, stationarity=lambda units: slope)
    state: Any = SimpleNamespace(here=here, constants=PRESETS[preset], tolerance=tolerance, units=None)
    return _SpectralDescent._scheduled(state)


RUNGS = [(2.0, 0.1), (1.0, 0.1), (0.9, 0.01), (0.1, 0.01), (0.09, 1e-3)]
FALLS = [*RUNGS, (0.05, 1e-3), (5e-3, 1e-4), (5e-4, 1e-5), (5e-6, 1e-7)]  # a hundredth of the gap's power of ten


def test_the_tolerance_follows_the_gap_the_svm_s_own_part_of_it_and_the_slope_where_there_is_none() -> None:
    assert [scheduled("paper", gap) for gap, _ in (*RUNGS, (1e-6, 1e-3))] == [*(rung for _, rung in RUNGS), 1e-3]
    assert [scheduled("default", gap) for gap, _ in FALLS] == pytest.approx([rung for _, rung in FALLS])
    assert scheduled("default", 2.0, excess=1.1, tolerance=0.01) == pytest.approx(1e-3)
    assert scheduled("default", 2.0, excess=0.9, tolerance=0.01) == 0.1
    assert scheduled("paper", 2.0, excess=1.1, tolerance=0.01) == 0.1
    slopes = [scheduled("paper", np.nan, slope=slope / TYPICAL) for slope in (6.0, 4.0, 0.9)]
    assert slopes == [0.1, 0.01, 1e-3]  # the paper's bounds are 5 and 1, for objectives about 50


@pytest.mark.parametrize("preset", PRESETS)
def test_spectral_steps_keep_their_bounds(preset: str) -> None:
    found = steps(Spg(preset=preset), problem("pima"), 40)
    unit = TYPICAL / found[0].objective  # weights on the simplex sum to 1
    low, high = PRESETS[preset].shortest * unit, PRESETS[preset].longest * unit
    assert all(low * (1 - 1e-12) <= it.facts.bb_step <= high * (1 + 1e-12) for it in found)


SHARP = [LpPenalty(1.1), PowerPenalty(1.1), Entropy()]
SMOOTH = [Simplex(), LpBall(2.0), L1Penalty(1.0), LpPenalty(2.0), LpPenalty(3.0), PowerPenalty(2.0)]


@pytest.mark.parametrize("regularizer", [*SHARP, *SMOOTH], ids=repr)
def test_penalties_are_steep_near_zero_whose_curvature_has_no_bound_there(regularizer: Regularizer) -> None:
    assert steep_near_zero(regularizer, np.array([0.7, 0.0, 0.3])) == (regularizer in SHARP)


@pytest.mark.parametrize(
    ("solver", "options", "instead"),
    [
        ("pgd", {"spectral": True}, {"spectral": True, "exact": True}),
        ("pgd", {"spectral": True, "nonmonotone": True}, {"spectral": True, "nonmonotone": True, "exact": True}),
        ("spg", {"preset": "paper"}, {"preset": "default"}),
    ],
    ids=str,
)
def test_where_a_limit_ends_steps_that_crawl_the_reason_says_what_to_choose(
    solver: str, options: dict[str, Any], instead: dict[str, Any]
) -> None:
    posed = replace(problem("blobs, C = 100"), regularizer=PowerPenalty(1.1))
    trace = solve(posed, solver, gap=1e-4, max_iter=50, **options)
    key, value = next((key, value) for key, value in instead.items() if options.get(key) != value)
    quoted = f'{key}="{value}"' if isinstance(value, str) else f"{key}={value}"
    assert trace.status == "limit"
    assert trace.reason.startswith("Reached the limit of 50 iterations. Its steps follow the slope of the penalty")
    assert quoted in trace.reason
    assert trace.reason.endswith("with each step instead.")
    assert solve(posed, solver, gap=1e-4, max_iter=50, **instead).status == "converged"


def test_where_a_limit_ends_svms_that_are_rough_by_choice_the_reason_says_so() -> None:
    posed = problem("linear penalty, blobs")
    trace = solve(posed, "spg", gap=1e-12, max_iter=3, preset="code")
    said = "Reached the limit of 3 iterations."
    assert trace.reason.startswith(f"{said} With these constants SVMs are still solved to 0.")
    assert solve(posed, "spg", gap=1e-12, max_iter=3).reason == said


def test_spectral_steps_save_svms() -> None:
    # table 7 of the paper: a factor of 4 to 180
    plain, spectral = (
        solve(problem("random Gram matrices"), pgd(s), gap=1e-3, max_iter=3000) for s in ("PGD", "PGD+S")
    )
    assert spectral.final.svm_solves < plain.final.svm_solves / 3


SEARCHES = {
    "SPG": ("spg", {}),
    "SPG as in the paper": ("spg", {"preset": "paper"}),
    "PGD": ("pgd", {}),
    "PGD+N": ("pgd", {"nonmonotone": True}),
    "PGD+S": ("pgd", {"spectral": True}),
    "PGD+N+S": ("pgd", {"nonmonotone": True, "spectral": True}),
    "SimpleMKL": ("simplemkl", {}),
    "SimpleMKL, Armijo": ("simplemkl", {"variant": "armijo"}),
}
SPECTRAL = [name for name in SEARCHES if "SimpleMKL" not in name]
SUFFICIENT = 1e-4


@cache
def run(name: str, m: int) -> Trace:
    solver, options = SEARCHES[name]
    return solve(few(m), solver, gap=1e-6, max_iter=20, **options)


def moved(name: str, m: int) -> list[tuple[Iterate, Iterate]]:
    """Return the steps that led somewhere, with those before them."""
    trace = run(name, m)
    return [(before, after) for before, after in pairwise(trace) if facts_of(after).trials]


@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("name", SEARCHES)
def test_a_trial_is_where_it_says_and_the_last_one_that_counts_is_where_the_step_ended(name: str, m: int) -> None:
    found = moved(name, m)
    assert found
    for before, after in found:
        trials = facts_of(after).trials
        assert any(along == pytest.approx(1.0, abs=1e-5) for along, _ in trials)
        assert len(trials) <= min(after.facts.known()["line_search_trials"], MOST_TRIALS)
        if m > 2:
            continue
        for along, value in trials:  # with two kernels the place is all of the weights
            weights = np.clip(before.weights + along * (after.weights - before.weights), 0.0, 1.0)
            exact = SvmOracle(few(2), 1e-9).solve(weights / weights.sum()).primal
            assert value == pytest.approx(exact, rel=2e-2)  # SPG's SVMs are solved to 0.1 at first


@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("name", SPECTRAL)
def test_what_was_taken_came_below_the_threshold_of_the_step_before_and_nothing_else_did(name: str, m: int) -> None:
    problem = few(m)
    assert moved(name, m)
    for before, after in moved(name, m):
        threshold, trials = facts_of(before).reference, facts_of(after).trials
        gradient = -0.5 * problem.bank.quad(problem.loss.signed(before.dual, problem.y))
        slope = abs(trials[0][0] * float(gradient @ (after.weights - before.weights)))  # of the whole move
        if str(after.facts.known().get("direction", "")) == "averaged":
            continue  # out of a kink the value itself is the threshold
        *refused, (_, taken) = trials
        assert taken <= threshold + 1e-9 * abs(threshold)
        assert all(value > threshold - SUFFICIENT * slope * 1.01 for _, value in refused)


def test_line_searches_refuse_trials_at_all() -> None:
    refused = [len(facts_of(after).trials) - 1 for _, after in moved("PGD", 2)]
    assert max(refused) >= 3


@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("name", SPECTRAL)
def test_a_threshold_is_the_average_of_the_values_taken_by_zhang_and_hager(name: str, m: int) -> None:
    # Q+ = eta Q + 1,  C+ = (eta Q C + W+) / Q+, begun anew where the SVMs become more exact
    trace, mass = run(name, m), 1.0
    checked = 0
    for before, after in pairwise(trace):
        known, was, now = after.facts.known(), facts_of(before).reference, facts_of(after).reference
        if before.facts.svm_tolerance != after.facts.svm_tolerance or known.get("direction"):
            mass = 1.0
            continue
        if not facts_of(after).trials:
            continue
        memory, value = float(known["memory"]), facts_of(after).trials[-1][1]
        new_mass = memory * mass + 1.0
        assert now == pytest.approx((memory * mass * was + value) / new_mass, rel=1e-8)
        mass, checked = new_mass, checked + 1
    assert checked  # SPG's SVMs become more exact at almost every step


@pytest.mark.parametrize("name", SEARCHES)
def test_crosses_stand_above_the_threshold_and_rings_below_it(name: str) -> None:
    trace, map_ = run(name, 2), Slice((0, 1), np.eye(2))
    for t in range(1, len(trace)):
        shown = step_of(trace[: t + 1], map_, (), lambda _: None)
        if not facts_of(trace[t]).trials:
            continue
        assert shown.refused or shown.passed
        assert all(high > shown.line for _, high in shown.refused)
        assert all(high <= shown.line for _, high in shown.passed)
        assert len(shown.refused) + len(shown.passed) == len(facts_of(trace[t]).trials)
        assert shown.passed[-1][0] == pytest.approx(trace[t].weights[0], abs=1e-6)  # the one that was taken
