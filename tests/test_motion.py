"""The verdict on motion: its numbers, its rule, and that it says what a person sees in every scenario's picture."""

from __future__ import annotations

import numpy as np
import pytest
from _problems import ran

from mklviz.contract import Iterate
from mklviz.datasets import Dataset, load_dataset
from mklviz.kernels import Gaussian
from mklviz.recipe import Recipe
from mklviz.record import Trace
from mklviz.record.weights import SHORTEST, Motion, MotionTracker
from mklviz.scenarios import load_scenario, scenarios
from mklviz.views.race.results import moved_words, weights_pills


def along(path: np.ndarray) -> Trace:
    trace = Trace()
    for t, weights in enumerate(path):
        trace.append(Iterate(np.array(weights, dtype=float), np.zeros(2), 2.0, 1.0, 0.1, t + 1), float(t))
    return trace


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


def test_motion_while_a_run_grows_is_that_of_the_path_until_then() -> None:
    path = np.random.default_rng(5).dirichlet(np.ones(6), size=40)
    trace, tracker = Trace(), MotionTracker()
    for t, found in enumerate(along(path)):
        trace.append(found, 0.0)
        assert trace.motion == tracker.read(trace) == along(path[: t + 1]).motion


def test_a_look_that_runs_out_of_time_goes_on_at_the_next() -> None:
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


def test_scale_does_not_matter_and_weights_that_are_all_zero_are_a_place_like_others() -> None:
    path = np.random.default_rng(1).dirichlet(np.ones(5), size=20)
    grown = along(path * np.geomspace(1e-9, 1e9, 20)[:, None]).motion
    assert grown.moved == pytest.approx(along(path).motion.moved)
    still = along(np.vstack([np.zeros((10, 2)), np.full((10, 2), 3.0)])).motion
    assert (still.moved, still.net, still.verdict) == (0.5, 0.5, "stable")


def test_weights_that_are_no_numbers_are_not_judged() -> None:
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


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.full] * (n in LONG)) for n in scenarios()])
def test_the_verdict_is_what_a_person_sees_in_the_picture(name: str) -> None:
    recipe, data = reduced(name)
    race = ran(recipe.race(recipe.prepare(data)))
    found = {key: trace.motion.verdict for key, trace in race.traces.items()}
    assert set(found) == set(SEEN[name])
    for key, verdict in found.items():
        assert verdict in SEEN[name][key].split(" or "), (key, race.traces[key].motion)
