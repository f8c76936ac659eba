"""Maps of kernel weights in numbers: planes, slices, what cuts say on them, and how high the objective is."""

from functools import cache

import numpy as np
import pytest
from _problems import blobs, random_grams

from mklviz.analysis.landscape import RESOLUTION, Landscape
from mklviz.analysis.steps import Cuts, edge, envelope, facts_of, keeps_cuts, level_interval, level_polygon, lowest
from mklviz.analysis.weight_map import Slice, WeightMap, principal_plane, slice_through
from mklviz.contract import Array
from mklviz.engine import solve
from mklviz.errors import Interrupted
from mklviz.inner.oracle import SvmOracle
from mklviz.kernels import KernelBank
from mklviz.problem import Hinge, LpBall, Problem, Simplex
from mklviz.record import Trace

FINER = 10  # tenths from the first tolerance to the finest, each of them one more solve


@cache
def few(m: int) -> Problem:
    """A problem with m kernels of which none is best alone."""
    _, y = blobs(24, 0.3, seed=3)
    return Problem(KernelBank.from_grams(random_grams(m, 24, seed=m)), y, Hinge(100.0), Simplex())


@cache
def trace(solver: str, m: int) -> Trace:
    return solve(few(m), solver, gap=1e-4, max_iter=40)


def objective(posed: Problem, weights: Array) -> float:
    return float(SvmOracle(posed, 1e-9).solve(weights).primal)


def cuts_of(run: Trace, m: int, steps: int) -> Array:
    cuts = Cuts(few(m), np.eye(m))
    return np.array([cuts.of(run[t].dual) for t in range(steps)])


def shares(k: int, count: int = 40) -> Array:
    return np.random.default_rng(0).dirichlet(np.ones(k), size=count)


# cuts


@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("solver", ["silp", "level"])
def test_cuts_lie_below_the_objective_and_touch_it_where_they_were_made(solver: str, m: int) -> None:
    run = trace(solver, m)
    cuts = cuts_of(run, m, len(run))
    for p in shares(m, 10):
        assert envelope(cuts, p[None])[0] <= objective(few(m), p) * (1.0 + 1e-9)
    for t in (0, len(run) - 1):  # as exact as the inner problem, 1e-4
        touched = float(cuts[t] @ run[t].weights)
        assert touched == pytest.approx(objective(few(m), run[t].weights), rel=2e-3)


def test_the_lowest_point_of_the_envelope_is_where_silp_goes_next_and_who_works_on_cuts_is_told() -> None:
    run = trace("silp", 2)
    assert len(run) > 3
    for t in range(1, len(run)):
        share, value = lowest(cuts_of(run, 2, t))
        assert run[t].weights[0] == pytest.approx(share, abs=1e-6)
        assert float(run[t].facts.lp_value) == pytest.approx(value, rel=1e-7)
    assert keeps_cuts(trace("silp", 2)[:2])
    assert keeps_cuts(trace("level", 2)[:2])
    assert not keeps_cuts(trace("spg", 2)[:2])
    assert facts_of(trace("spg", 2)[1]).reference is not None


@pytest.mark.parametrize("m", [2, 3], ids=["on a segment", "in a triangle"])
def test_level_goes_to_the_nearest_point_of_the_level_set(m: int) -> None:
    run = trace("level", m)
    assert len(run) > 3
    for t in range(1, len(run)):
        level, before, cuts = facts_of(run[t]).level, run[t - 1].weights, cuts_of(run, m, t)
        assert level is not None
        if m == 2:
            nearest = np.clip(before[0], *level_interval(cuts, level))
            assert run[t].weights[0] == pytest.approx(nearest, abs=1e-6)
        else:
            assert run[t].weights == pytest.approx(nearest_of(level_polygon(cuts, level), before), abs=1e-5)


def nearest_of(polygon: Array, point: Array) -> Array:
    """Return the point of a convex polygon, corners in order, that lies nearest to a point outside of it."""
    ends = np.roll(polygon, -1, axis=0)
    along = ends - polygon
    lengths = np.maximum((along**2).sum(axis=1), 1e-30)
    share = np.clip(((point - polygon) * along).sum(axis=1) / lengths, 0.0, 1.0)
    feet = polygon + share[:, None] * along
    return np.asarray(feet[np.argmin(((feet - point) ** 2).sum(axis=1))])


def test_a_level_set_holds_what_no_cut_exceeds_and_nothing_else() -> None:
    cuts = cuts_of(trace("silp", 3), 3, 4)
    level = float(np.median(envelope(cuts, shares(3))))
    corners = level_polygon(cuts, level)
    assert envelope(cuts, corners).max() == pytest.approx(level, rel=1e-9)
    mixed = shares(len(corners), 20) @ corners
    assert (envelope(cuts, mixed) <= level * (1.0 + 1e-9)).all()
    for cut in cuts:
        ends = edge(cut, level)
        assert len(ends) in (0, 2)
        assert ends @ cut == pytest.approx(np.full(len(ends), level))
    assert len(level_polygon(cuts, envelope(cuts, np.eye(3)).min() - 1e9)) == 0
    assert level_interval(np.array([[3.0, 3.0]]), 2.0) is None


# where things are


def test_a_plane_of_all_paths_explains_what_the_largest_singular_values_do_and_laid_anew_looks_as_before() -> None:
    weights = np.random.default_rng(1).dirichlet(np.ones(6), size=30)
    origin = weights[-1]
    plane = principal_plane(weights, origin, Simplex().project)
    sizes = np.linalg.svd(weights - origin, compute_uv=False)
    assert plane.explained == pytest.approx((sizes[:2] ** 2).sum() / (sizes**2).sum())
    assert plane.directions @ plane.directions.T == pytest.approx(np.eye(2), abs=1e-12)
    places = np.array([plane.position(w) for w in weights])
    assert ((places[:, 0] ** 2).sum(), (places[:, 1] ** 2).sum()) == pytest.approx(tuple(sizes[:2] ** 2))
    assert ((places >= plane.low) & (places <= plane.high)).all()
    weights = np.random.default_rng(2).dirichlet(np.ones(6), size=40)
    before = principal_plane(weights[:38], weights[0], Simplex().project)
    after = principal_plane(weights, weights[0], Simplex().project, before.directions)
    agreement = before.directions @ after.directions.T
    assert agreement[0, 0] > 0.9
    assert agreement[1, 1] > 0.9


def test_a_slice_shares_what_its_kernels_have_and_leaves_the_others_alone() -> None:
    weights = np.array([0.1, 0.2, 0.3, 0.4])
    cut = slice_through(weights, (3, 1, 0))
    for key in cut.nodes(0):
        there = cut.weights_at(key)
        assert there.sum() == pytest.approx(1.0)
        assert there.min() >= 0.0
        assert there[2] == pytest.approx(0.3)
        assert cut.position(there) == pytest.approx(cut.drawn_at(key))
    assert cut.shares(weights) @ cut.vertices == pytest.approx(weights)
    assert slice_through(np.array([0.0, 0.0, 1.0]), (0, 1)).vertices.tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]


MAPS = {
    "plane": principal_plane(shares(4, 9), shares(4, 9)[0], Simplex().project),
    "ball": principal_plane(shares(4, 9), shares(4, 9)[0], LpBall(2.0).project),
    "triangle": Slice((0, 1, 2), np.eye(3)),
    "segment": Slice((0, 1), np.eye(2)),
}


@pytest.mark.parametrize("kind", MAPS)
def test_the_mesh_of_a_map_stands_where_its_nodes_are_drawn(kind: str) -> None:
    map_: WeightMap = MAPS[kind]
    x, y, z = map_.mesh(1, lambda key: sum(map_.drawn_at(key)))
    assert x.shape == y.shape == z.shape
    assert z == pytest.approx(x + y)  # a plane is what interpolation leaves as it is


@pytest.mark.parametrize("kind", MAPS)
def test_a_place_of_the_map_has_the_weights_of_the_node_that_is_drawn_there(kind: str) -> None:
    map_: WeightMap = MAPS[kind]
    for key in map_.nodes(0)[::5]:
        assert map_.weights_near(*map_.drawn_at(key)) == pytest.approx(map_.weights_at(key), abs=1e-12)
    far = map_.weights_near(7.0, -9.0)
    assert far.min() >= 0.0
    assert kind == "ball" or far.sum() == pytest.approx(1.0)


def test_a_landscape_becomes_finer_solves_no_node_twice_and_goes_on_from_where_it_was_stopped() -> None:
    posed = few(2)
    land = Landscape(posed, Slice((0, 1), np.eye(2)))
    reports: list[float] = []
    sizes = []
    while not land.finished:
        x, _, z = land.refine(reports.append)
        sizes.append(x.size)
    assert sizes == [17, 33, 65]
    assert 65 <= land.oracle.solves <= 65 + FINER
    assert all(0.0 <= fraction <= 1.0 for fraction in reports)
    exact = [objective(posed, np.array([t, 1.0 - t])) for t in x[0]]
    assert z[0] == pytest.approx(exact, abs=RESOLUTION * np.ptp(z))
    land = Landscape(few(3), Slice((0, 1, 2), np.eye(3)))

    def stop(fraction: float) -> None:
        if fraction > 0.5:
            raise Interrupted("Enough.")

    with pytest.raises(Interrupted):
        land.refine(stop)
    known = len(land.heights)
    assert 0 < known < 66
    land.refine(lambda fraction: None)
    assert land.stage == 0
    assert 66 <= land.oracle.solves <= 66 + FINER
