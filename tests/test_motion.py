"""The verdict on motion, the milestones of a run, and stop rules replayed on recordings."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from _problems import problem, ran, recorded
from _ticks import tick

import mklviz as mv
from mklviz.contract import Facts, Iterate
from mklviz.datasets import Dataset, load_dataset
from mklviz.engine import (
    KKT,
    Gap,
    IterateGap,
    MaxIter,
    Measured,
    ModelGap,
    ObjectiveChange,
    ProjectedGradient,
    Race,
    WeightChange,
)
from mklviz.engine.replaying import measured, replay
from mklviz.errors import MklvizError
from mklviz.kernels import Gaussian
from mklviz.recipe import Recipe
from mklviz.record import Trace
from mklviz.record.summary import PARTS, Milestone, Reference, milestones
from mklviz.record.weights import SHORTEST, Motion, MotionTracker
from mklviz.scenarios import load_scenario, scenarios
from mklviz.views.race.race_view import RaceView
from mklviz.views.race.results import moved_words, weights_pills


def along(path: np.ndarray) -> Trace:
    return recorded(*(Iterate(np.array(d, dtype=float), np.zeros(2), 2.0, 1.0, 0.1, t + 1) for t, d in enumerate(path)))


def by_definition(path: np.ndarray) -> dict[str, float]:
    """Compute everything from the whole path at once, kernel by kernel."""
    totals = path.sum(axis=1, keepdims=True)
    scaled = np.divide(path, totals, out=np.zeros_like(path), where=totals > 0.0)
    moves = np.diff(scaled, axis=0)
    begin = len(moves) // 5
    opposed = moves[1:] * moves[:-1] < 0.0
    taken_back = np.where(opposed, np.minimum(np.abs(moves[1:]), np.abs(moves[:-1])), 0.0).sum() / 2.0
    moved = np.abs(moves).sum() / 2.0
    net = np.abs(scaled[-1] - scaled[0]).sum() / 2.0
    late = np.abs(moves[begin:]).sum() / 2.0 - np.abs(scaled[-1] - scaled[begin]).sum() / 2.0
    third = 2 * len(moves) // 3
    last = np.abs(moves[third:]).sum() / 2.0 - np.abs(scaled[-1] - scaled[third]).sum() / 2.0
    return {
        **{"last": last, "steps": len(moves), "moved": moved, "net": net, "in_vain": moved - net, "late": late},
        "back": taken_back / moved if moved else 0.0,
    }


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("steps", [1, 2, 5, 23])
def test_motion_is_what_it_is_by_definition(seed: int, steps: int) -> None:
    rng = np.random.default_rng(seed)
    path = rng.exponential(size=(steps + 1, 7)) * rng.integers(0, 2, size=(steps + 1, 7))
    motion = along(path).motion
    for name, expected in by_definition(path).items():
        assert getattr(motion, name) == pytest.approx(expected, abs=1e-12), name  # sums of fewer than 200 numbers


def test_motion_while_a_run_grows_is_that_of_the_path_until_then_and_a_look_out_of_time_goes_on_later() -> None:
    path = np.random.default_rng(5).dirichlet(np.ones(6), size=40)
    trace, tracker = Trace(), MotionTracker()
    for t, found in enumerate(along(path)):
        trace.append(found, 0.0)
        assert trace.motion == tracker.read(trace) == along(path[: t + 1]).motion
    trace, tracker = along(np.random.default_rng(0).dirichlet(np.ones(6), size=20)), MotionTracker()
    assert tracker.read(trace, seconds=0.0) == Motion()
    assert tracker.read(trace) == trace.motion


@pytest.mark.parametrize(
    ("late", "back", "last", "verdict"),
    [
        (1.0, 0.0, 0.7, "oscillates"),
        (0.5, 0.4, 0.7, "oscillates"),
        (0.99, 0.39, 0.7, "stable"),  # too little is taken back
        (0.49, 0.41, 0.7, "stable"),  # too little is late
        (1.0, 0.5, 0.69, "stable"),  # at rest in the end
    ],
)
def test_each_bound_of_the_rule_decides(late: float, back: float, last: float, verdict: str) -> None:
    assert Motion(steps=30, moved=1.4, net=0.0, late=late, last=last, back=back).verdict == verdict


def test_jumps_from_corner_to_new_corner_oscillate_though_only_half_is_taken_back() -> None:
    motion = along(np.eye(30)).motion
    assert motion.back == pytest.approx(0.5, abs=0.02)  # what a corner got goes on, what it took from does not get it
    assert motion.verdict == "oscillates"


@pytest.mark.parametrize("length", [0, 1, 2, SHORTEST])
def test_short_paths_are_not_judged(length: int) -> None:
    trace = along(np.eye(12)[:length])
    assert trace.motion.moved == max(length - 1, 0)
    assert trace.motion.verdict == ""
    assert weights_pills(trace.motion) == ""


def test_scale_does_not_matter_all_weights_zero_are_a_place_like_others_and_what_is_no_number_is_not_judged() -> None:
    path = np.random.default_rng(1).dirichlet(np.ones(5), size=20)
    grown = along(path * np.geomspace(1e-9, 1e9, 20)[:, None]).motion
    assert grown.moved == pytest.approx(along(path).motion.moved)
    still = along(np.vstack([np.zeros((10, 2)), np.full((10, 2), 3.0)])).motion
    assert (still.moved, still.net, still.verdict) == (0.5, 0.5, "stable")
    motion = along(np.where(np.arange(20)[:, None] == 7, np.nan, np.eye(20))).motion
    assert (motion.verdict, str(motion)) == ("", "")


def test_the_words_above_the_weights_say_the_verdict_and_the_rule_behind_it() -> None:
    motion = along(np.eye(2)[np.arange(41) % 2]).motion
    shown = weights_pills(motion) + moved_words(motion)
    assert ">oscillates</span>" in shown
    assert "shifted weight worth 40 full moves; 100 % was undone" in shown
    assert "After the first fifth of the steps, 32 full moves were undone" in shown
    assert "The rule: a path oscillates if" in shown


# What a person sees in the pictures of the weights; "settles" jumps at first and then comes to rest, and "" has fewer
# than eight steps, too few to tell.
SEEN = {
    "silp-oscillates": {"silp": "oscillates", "pgd": "settles", "spg": "stable", "level": "stable"},
    "best-response": {"smkl": "oscillates", "SMKL, averaged": "stable", "spg": ""},
    "certificate": {"pairwise": "settles", "Pairwise FW, equal start": "stable"},
    "without-svms": {"level": "stable", "ogaprox": "settles", "OGAProx, balance 100": "oscillates"},
    "silp-is-fine": {"silp": "oscillates", "simplemkl": "", "level": "stable", "spg": "stable"},
    "spg-parts": {"pgd": "settles", "PGD+N": "settles", "PGD+S": "stable", "PGD+N+S": "settles", "spg": "settles"},
    # two words where the numbers lie on either side of the rule, as the steps depend on the processor's rounding
    "products": {"spg": "settles or stable", "SPG, start 1": "settles", "SPG, start 7": "settles", "pgd": "settles"},
    "three-kernels": {"silp": "settles", "level": "", "spg": ""},
    "sparse-or-dense": {"closed-form": "", "spg": "stable"},
    "line-search": {"simplemkl": "stable", "level": "stable", "spg": "stable"},
    "noisy-svms": {"pgd": "settles", "PGD 2": "settles", "spg": "stable"},
    "second-order": {"newton": "", "level": "settles", "spg": "settles"},
    "objective-and-accuracy": {"newton": "", "level": "stable"},
    "thousands": {"newton": "", "level": "settles", "spg": "settles"},
    "regularization-path": {"newton": "", "level": "stable", "spg": "stable"},
    "three-groups": {"ufo": "stable", "closed-form": "stable"},
    "one-class": {"spg": "", "pgd": "stable", "closed-form": ""},
    "three-groups-one-against-all": {"silp": "", "level": "stable"},
    "lp-norms": {"closed-form": "", "smo-mkl": "", "spg": "stable"},
    "letter-sum": {"closed-form": "", "spg": ""},
    "letter-product": {"spg": "stable"},
    "half-a-million": {"closed-form": "", "spg": "stable"},
    "polynomials": {"spg": "stable", "SPG, start 1": "stable", "pgd": "stable", "PGD": "settles"},
    "sonar-million": {"closed-form": "stable"},
    "sonar-million-l1": {"newton": ""},
}


def reduced(name: str) -> tuple[Recipe, Dataset | None]:
    """Return a scenario's recipe and the data to run it on, the large ones on a part of their data or kernels."""
    recipe = load_scenario(name).recipe
    if name.startswith("letter"):
        return recipe, load_dataset("letter").split(train=0.05, standardize=False)[0]
    if name == "half-a-million":
        return recipe, load_dataset("covertype_like", n=1000)
    if name.startswith("sonar-million"):
        return recipe.changed(families=(Gaussian(on="random:100"),)), None
    return recipe, None


LONG = {"spg-parts", "products", "half-a-million", "noisy-svms", "thousands"}  # races of more than a few seconds


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.product] * (n in LONG)) for n in scenarios()])
def test_the_verdict_is_what_a_person_sees_in_the_picture(name: str) -> None:
    recipe, data = reduced(name)
    race = ran(recipe.race(recipe.prepare(data)))
    found = {key: trace.motion.verdict for key, trace in race.traces.items()}
    assert set(found) == set(SEEN[name])
    for key, verdict in found.items():
        assert verdict in SEEN[name][key].split(" or "), (key, race.traces[key].motion)


# Milestones: the first step at which a run has come so far down


def of(*objectives: float) -> Trace:
    weights, dual = np.ones(1), np.zeros(1)
    return recorded(*(Iterate(weights, dual, value, math.nan, 1.0, 2 * t) for t, value in enumerate(objectives)))


def test_the_way_leads_from_the_first_objective_to_the_least_and_who_has_not_come_so_far_has_no_milestone() -> None:
    trace = of(1000.0, 2000.0, 95.0, 500.0, 9.0, 0.0)
    best = Reference(objective=0.0)
    assert milestones(trace, best) == (Milestone(2, 4, 2.0), Milestone(4, 8, 4.0), Milestone(5, 10, 5.0))
    assert str(Milestone(1, 1, 0.5)) == "1 step · 1 SVM solve · 0.50 s"
    assert milestones(of(1000.0, 50.0), best) == (Milestone(1, 2, 1.0), None, None)
    assert milestones(Trace(), best) == (None, None, None)
    assert milestones(of(3.0), Reference()) == (None, None, None)


def test_they_are_what_looking_at_every_step_finds() -> None:
    race = ran(Race(problem("random Gram matrices"), ["silp", "level"], rules=[Gap(1e-4), MaxIter(60)]))
    best = Reference.of(race.traces.values())
    for trace in race.traces.values():
        least = np.minimum.accumulate(trace.objective)
        for part, found in zip(PARTS, milestones(trace, best), strict=True):
            low = best.objective + (1.0 - part) * (least[0] - best.objective)
            reached = np.flatnonzero(least <= low)
            assert (None if found is None else found.steps) == (reached[0] if len(reached) else None)


def test_they_stand_below_the_results_of_a_race_that_has_ended() -> None:
    view = RaceView()
    race = Race(problem("random Gram matrices"), ["silp", "level"], rules=[MaxIter(20)])
    view.show(race)
    assert view.page.milestones.object == ""
    ran(race)
    tick(view)
    assert view.page.milestones.object
    found = milestones(race.traces["level"], Reference.of(race.traces.values()))[0]
    assert str(found) in view.page.milestones.object
    view.clear()
    assert view.page.milestones.object == ""


# Rules replayed: they stop where they stopped live, and what is returned is told in numbers


@dataclass(frozen=True, kw_only=True)
class Told(Facts):
    """What a method with a model knows."""

    model_gap: float = math.nan


def iterate(first: float, objective: float, bound: float, **facts: float) -> Iterate:
    return Iterate(np.array([first, 1.0 - first]), np.zeros(4), objective, bound, 0.1, 1, Told(**facts))


ZIGZAG = recorded(
    iterate(0.5, 20.0, 4.0),
    iterate(1.0, 12.0, 8.0),
    iterate(0.2, 16.0, 9.0),
    iterate(0.3, 15.9, 9.5),
    iterate(0.6, 10.0, 9.8),
)


@cache
def long_run(solver: str) -> Trace:
    return mv.solve(problem("blobs, C = 100"), solver, gap=1e-6, max_iter=200)


def test_what_is_returned_is_told_by_what_is_known_at_the_end_and_by_other_runs_more_exactly() -> None:
    found = replay(ZIGZAG, WeightChange(0.15))
    assert found.step == 3
    assert found.verdict.status == "rule"
    last, best = found.last, found.best
    assert (last.step, best.step) == (3, 1)
    assert (last.at_least, last.at_most) == (pytest.approx(0.59), pytest.approx(0.61))  # of 10, bound 9.8
    assert (best.at_least, best.at_most) == (pytest.approx(0.2), pytest.approx(0.22))
    assert (last.misplaced, best.misplaced) == (pytest.approx(0.3), pytest.approx(0.4))
    assert math.isnan(last.score)
    scored = replay(ZIGZAG, WeightChange(0.15), score=lambda step: step.objective)
    assert (scored.last.score, scored.best.score) == (15.9, 12.0)
    better = recorded(iterate(0.0, 8.0, 7.9))
    found = replay(ZIGZAG, Gap(0.5), [better, Trace("none", "None")])
    assert found.step == 1
    assert found.last is found.best
    assert found.last.at_most == pytest.approx((12.0 - 9.8) / 8.0)
    assert found.last.misplaced == pytest.approx(1.0)


def test_a_rule_that_never_fires_returns_what_the_run_did_and_without_a_bound_a_least_distance_is_known() -> None:
    found = replay(ZIGZAG, KKT(0.1))
    assert found.verdict is None
    assert (found.step, found.best.step) == (4, 4)
    assert found.best.at_least == 0.0
    with pytest.raises(MklvizError, match="no steps"):
        replay(Trace("none", "None"), Gap(0.1))
    found = replay(recorded(iterate(0.5, 20.0, math.nan), iterate(1.0, 10.0, math.nan)), ObjectiveChange(2.0))
    assert math.isnan(found.best.at_most)
    assert found.best.at_least == 0.0


@pytest.mark.parametrize("solver", ["silp", "level", "spg"])
@pytest.mark.parametrize("rule", [Gap(0.05), IterateGap(0.05), WeightChange(0.02), ObjectiveChange(1e-3), KKT(0.05)])
def test_a_rule_stops_a_recording_where_it_stops_the_run(solver: str, rule: Measured) -> None:
    live = mv.solve(problem("blobs, C = 100"), solver, gap=None, max_iter=200, stop=[rule])
    found = replay(long_run(solver), rule)
    assert found.step == min(len(live), len(long_run(solver))) - 1
    assert found.best.iterate.objective == live.best.objective
    if found.verdict is not None:
        assert found.verdict.reason == live.reason


@pytest.mark.parametrize("rule", [Gap, IterateGap, ModelGap, WeightChange, ObjectiveChange, KKT, ProjectedGradient])
def test_a_rule_fires_at_the_first_step_that_measures_at_most_its_threshold(rule: Callable[[float], Measured]) -> None:
    trace = long_run("level")
    values = measured(trace, rule(1.0))
    assert len(values) == len(trace)
    for tol in (0.3, 0.03, 0.003):
        below = np.flatnonzero(values <= tol)
        found = replay(trace, rule(tol))
        assert (found.verdict is not None) == bool(len(below))
        assert found.step == (below[0] if len(below) else len(trace) - 1)


def test_what_rules_measure() -> None:
    assert measured(ZIGZAG, ObjectiveChange(1.0))[1:] == pytest.approx([8 / 12, 4 / 16, 0.1 / 15.9, 5.9 / 10])
    assert measured(ZIGZAG, Gap(1.0)) == pytest.approx([0.8, 4 / 12, 3 / 12, 2.5 / 12, 0.02])
    assert measured(ZIGZAG, IterateGap(1.0)) == pytest.approx([0.8, 4 / 12, 7 / 16, 6.4 / 15.9, 0.02])
    assert np.isnan(measured(ZIGZAG, ModelGap(1.0))).all()
    told = recorded(iterate(0.5, 20.0, 0.0, model_gap=0.25), iterate(1.0, 0.0, 0.0))
    assert measured(told, ModelGap(1.0))[0] == 0.25
    assert measured(told, ObjectiveChange(1.0))[1] == math.inf
