"""The tab Your mix without a browser: what kernel weights set by hand are worth beside what solvers have found."""

import asyncio
from types import SimpleNamespace

import numpy as np
import pytest
from _problems import ran
from _ticks import Prepared, following, shown
from _waits import soon, wait_for
from test_geometry import few

from mklviz.analysis.landscape import MOST_BARS, YOURS, above, mixed_kernels, standing
from mklviz.engine import MaxIter, Race, solve
from mklviz.problem import LpBall, Problem
from mklviz.recipe import Recipe
from mklviz.views.look.palette import DARK
from mklviz.views.session.session import Session
from mklviz.views.tabs.your_mix import YourMix


class Scored(Prepared):
    """With words for the score."""

    score_label = "test accuracy"
    train = SimpleNamespace(grams=())  # ready kernels, of samples nowhere


def opened(posed: Problem, *solvers: str, steps: int = 8) -> tuple[Session, YourMix]:
    session = shown(ran(Race(posed, solvers or ("silp", "level"), rules=(MaxIter(steps),))), prepared=Scored())
    return session, following(session, YourMix())


def mixed(tab: YourMix, weights: list[float]) -> None:
    """Drag bars, as the browser does, and wait for the picture."""
    before = tab.bars.drawn

    async def page() -> None:
        tab.bars.receive({"weights": weights})
        await soon(lambda: tab.bars.drawn != before, "the picture")

    asyncio.run(page())


def test_a_mix_is_worth_what_the_problem_solved_at_its_weights_is() -> None:
    posed = few(3)
    session, tab = opened(posed)
    assert ("Press Run first" in YourMix.supports(Session()), YourMix.supports(session)) == (True, "")
    mixed(tab, [0.5, 0.3, 0.2])
    assert tab.mix.iterate.weights == pytest.approx([0.5, 0.3, 0.2])
    assert posed.objective(tab.mix.iterate.weights, tab.mix.iterate.dual) == pytest.approx(tab.mix.iterate.objective)
    share = above(tab.mix.iterate.objective, session.traces)
    lines = tab.figure.tables["lines"]
    assert sorted(lines["label"]) == sorted(["SILP", "Level", YOURS])
    assert lines["ys"][lines["label"].index(YOURS)] == [share, share]
    assert f"{100 * share:.3g} %" in tab.score.object
    assert "test accuracy" in tab.score.object
    mixed(tab, [0.1, 0.1, 0.8])
    lines = tab.figure.tables["lines"]
    assert lines["ys"][lines["label"].index(YOURS)] != [share, share]


def test_who_mixes_what_a_solver_found_is_told_when_it_got_lower() -> None:
    posed = few(3)
    session, _tab = opened(posed, "level", steps=30)
    best = solve(posed, "spg", gap=1e-6).best
    lowest = above(best.objective, session.traces)
    assert "You beat Level" in standing(0.0, session.traces)
    assert "Level first gets lower at step 0." in standing(np.inf, session.traces)
    middle = session.traces["level"].objective[3] * (1 + 1e-9)
    share = above(middle, session.traces)
    assert share > lowest
    first = int(np.flatnonzero(session.traces["level"].objective < middle)[0])
    assert f"gets lower at step {first}." in standing(share, session.traces)


def test_of_many_kernels_the_heaviest_are_mixed_and_others_have_no_weight() -> None:
    posed = few(20)
    session, tab = opened(posed)
    kernels = mixed_kernels(session.traces)
    assert len(kernels) == len(tab.bars.names) == MOST_BARS
    assert "12 heaviest of 20 kernels" in tab.about.object
    mixed(tab, [1.0] + [0.0] * (MOST_BARS - 1))
    assert np.flatnonzero(tab.mix.iterate.weights).tolist() == [kernels[0]]


def test_weights_that_are_not_allowed_become_the_nearest_that_are() -> None:
    posed = few(3)
    balls = Problem(posed.bank, posed.y, posed.loss, LpBall(2.0))
    _, tab = opened(balls, "spg")
    assert not tab.bars.shared
    mixed(tab, [tab.bars.most] * 3)
    assert float((tab.mix.iterate.weights**2).sum()) <= 1.0 + 1e-9
    assert tab.bars.weights == pytest.approx(list(tab.mix.iterate.weights))


@pytest.mark.parametrize("message", [None, {}, {"weights": [1.0]}, {"weights": [-1, 1, 1]}, {"weights": ["a", 1, 1]}])
def test_what_no_browser_tells_mixes_nothing(message: object) -> None:
    _, tab = opened(few(3))
    before = tab.mix
    tab.bars.receive(message)
    assert tab.mix is before


def test_in_the_plane_the_boundary_of_the_mix_is_drawn_over_that_of_the_best_solver() -> None:
    recipe = Recipe.from_words("data=two_moons; kernels=gauss:1,2@all poly:1@each; C=10; solvers=silp,level")
    prepared = recipe.prepare()
    race = ran(Race(prepared.problem, ("silp", "level"), rules=(MaxIter(8),)))
    session = shown(race, recipe, prepared)
    tab = following(session, YourMix())
    figure = tab.boundaries.figure
    assert len(figure.tables["samples"]["x"]) == prepared.problem.n
    drawn = []
    for weights in ([1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]):
        mixed(tab, weights)
        drawn.append(figure.tables["mine"])
        points = np.concatenate([np.array(line).T for line in tab.mix.boundary])
        decide = prepared.problem.predictor(tab.mix.iterate.weights, tab.mix.iterate.dual).decision_values
        assert np.abs(decide(points)).max() < 0.05 * np.abs(decide(prepared.train.X)).max()
    assert drawn[0] != drawn[1]
    wait_for(lambda: figure.tables["best"]["xs"], "the best solver's boundary", lambda: tab.tick(0.0))
    best = min(race.traces.values(), key=lambda trace: trace.best.objective)
    assert best.label in tab.boundaries.root.objects[0].object
    session.theme = DARK
    tab.tick(1.0)
    assert tab.boundaries.figure is not figure
    assert tab.boundaries.figure.tables["mine"]["xs"] == drawn[1]["xs"]
