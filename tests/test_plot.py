"""Pictures by `mv.plot`: their numbers are what runs, banks and models say, and they compose and are saved."""

import doctest
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import holoviews as hv
import numpy as np
import pytest
from _problems import blobs, ran, random_grams, small_bank
from bokeh.document import Document
from bokeh.io.doc import patch_curdoc
from bokeh.models import HoverTool
from sklearn.pipeline import make_pipeline

import mklviz as mv
from mklviz.analysis.decisions import confusion, plane_of, roc, solution_of, surface
from mklviz.analysis.kernel_weights import align, by_feature, gram_on, ordered_gram, rivals, sampled
from mklviz.engine import Race
from mklviz.errors import ProblemError
from mklviz.inner import SvmOracle
from mklviz.typing import Array
from mklviz.views.look.palette import DARK, LIGHT
from mklviz.views.look.styles import race_styles
from mklviz.views.model.decision_pictures import draw_confusion
from mklviz.views.model.kernel_pictures import ABOVE, BELOW, FIELD, draw_grid
from mklviz.views.pictures.style import rendered

KINDS = ["gauss 2⁻¹", "gauss 2⁰", "gauss 2²", "poly 1", "poly 2"]


@cache
def posed() -> mv.Problem:
    X, y = blobs(40, 0.2)
    return mv.Problem(small_bank(X), y, mv.Hinge(10.0))


@cache
def raced() -> Race:
    return mv.race(posed(), ["silp", "level", "spg"])


def grams(m: int, n: int) -> mv.KernelBank:
    return mv.KernelBank.from_grams(random_grams(m, n))


def ready(m: int) -> mv.Problem:
    """A problem whose kernels are given, not computed of features."""
    return mv.Problem(grams(m, 40), posed().y, mv.Hinge(10.0))


@cache
def multiplied() -> mv.Problem:
    X, y = blobs(20)
    return mv.Problem(mv.ProductBank.build(X), y, mv.Hinge(1.0), mv.L1Penalty(1.0))


def level() -> mv.Trace:
    return raced().traces["level"]


def bars(drawn: hv.Bars) -> dict[str, float]:
    """The bars from the top."""
    names, values = drawn.dimension_values(0), drawn.dimension_values(1)
    return dict(zip(names[::-1].tolist(), values[::-1].tolist(), strict=True))


def test_the_heaviest_kernels_stand_first_with_their_weights_of_the_best_or_of_another_step() -> None:
    drawn, best = bars(mv.plot.weights(level())), level().best
    assert list(drawn.values()) == sorted(drawn.values(), reverse=True)
    assert len(drawn) == best.active
    for name, value in drawn.items():
        assert value == best.weights[level().kernel_names.index(name)]
    assert bars(mv.plot.weights(level(), step=0)) == pytest.approx(dict.fromkeys(posed().bank.names, 1 / 20))


@pytest.mark.parametrize("by", ["kernel", "family", "feature"])
def test_what_a_bar_says_under_the_mouse_is_what_it_stands_for(by: Any) -> None:
    figure = rendered(mv.plot.weights(level(), posed().bank, by=by))
    tools = list(figure.select(HoverTool))
    assert tools
    for tool in tools:
        known = {name for renderer in tool.renderers for name in renderer.data_source.data}
        asked = re.findall(r"@\{?(\w+)", tool.tooltips)
        assert asked
        assert known.issuperset(asked), tool.tooltips
        assert LIGHT.card in tool.tooltips  # a box of the page's, not of Bokeh's


def test_families_share_all_of_the_weight() -> None:
    drawn = mv.plot.weights(level(), posed().bank, by="family")
    weights, kernels = level().best.weights, posed().bank.kernels
    gaussian = sum(w for w, spec in zip(weights, kernels, strict=True) if spec.family.name_ == "gaussian")
    assert bars(drawn) == pytest.approx({"Gaussian": gaussian, "Polynomial": weights.sum() - gaussian})
    used = sum(int(note.split()[0]) for note in drawn.dimension_values("note"))
    assert used == level().best.active


def test_by_feature_every_kernel_has_its_place_and_the_heat_map_has_the_first_row_at_the_top() -> None:
    bank, weights = posed().bank, np.arange(1.0, 21.0)
    grid = by_feature(weights, bank)
    assert grid.rows == ("all features", "x3", "x2", "x1")
    assert grid.columns == tuple(KINDS)
    assert grid.values.sum() == pytest.approx(weights.sum())
    assert grid.share == pytest.approx(1.0)
    for k, name in enumerate(bank.names):
        kind, _, on = name.partition(" on ")
        row = grid.rows.index("all features" if on == "all" else on)
        assert grid.values[row, grid.columns.index(kind)] == weights[k]
    drawn = mv.plot.weights(level(), bank, by="feature")
    assert drawn.dimension_values("weight").sum() == pytest.approx(level().best.weights.sum())
    assert set(drawn.dimension_values("kind")) == set(KINDS)  # those without weight, too
    shown = hv.render(drawn)
    assert shown.y_range.factors == list(by_feature(level().best.weights, bank).rows[::-1])
    assert "of the weight" not in shown.title.text
    part = draw_grid(replace(grid, share=0.8), LIGHT, "By feature")
    assert hv.render(part).title.text == "By feature: 80 % of the weight"


@pytest.mark.parametrize(("dark", "theme"), [(False, LIGHT), (True, DARK)], ids=["light", "dark"])
def test_every_run_has_its_gap_in_the_colour_of_its_solver_on_a_card_of_the_page(dark: bool, theme: Any) -> None:
    drawn = mv.plot.gap(raced().traces, dark=dark)
    curves = [part for part in drawn if isinstance(part, hv.Curve)]
    styles = race_styles(raced(), theme)
    assert [curve.label for curve in curves] == ["SILP", "Level", "SPG"]
    for curve, (key, trace) in zip(curves, raced().traces.items(), strict=True):
        assert curve.dimension_values("gap") == pytest.approx(trace.gap)
        assert hv.Store.lookup_options("bokeh", curve, "style").kwargs["color"] == styles[key].colour
    for figure in (hv.render(drawn), hv.render(mv.plot.weights(level(), dark=dark))):
        assert figure.background_fill_color == figure.border_fill_color == theme.card
        assert {axis.major_label_text_color for axis in figure.axis} == {theme.muted}


def test_the_gap_of_a_branch_begins_at_the_step_that_it_goes_on_from_and_a_single_step_is_within_its_picture() -> None:
    grown = ran(raced().branch("silp", 3, "level"))
    trace = list(grown.traces.values())[-1]
    curve = next(iter(mv.plot.gap(trace)))
    assert curve.dimension_values("iteration") == pytest.approx(np.arange(3.0, 3.0 + len(trace)))
    single = mv.solve(posed(), "level", gap=1e9)
    (value,) = single.gap
    shown = rendered(mv.plot.gap(single)).y_range
    assert shown.start < value < shown.end


def test_traces_come_one_by_one_in_lists_and_in_mappings_and_twice() -> None:
    drawn = mv.plot.gap(level(), [level()], {"mine": level()})
    assert [part.label for part in drawn if isinstance(part, hv.Curve)] == ["Level", "Level 2", "mine"]


def test_a_picture_is_saved_as_a_page_that_needs_no_network(tmp_path: Path) -> None:
    mv.plot.save(mv.plot.gap(level()), tmp_path / "gap.html")
    page = (tmp_path / "gap.html").read_text()
    outside = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL) + "".join(re.findall(r"<script[^>]*>", page))
    assert "http" not in outside
    assert not re.search(r"<(script|link)[^>]+(src|href)=", outside)
    assert "relative duality gap" in page


@pytest.mark.full
def test_a_picture_is_saved_still_where_there_is_no_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    picture = mv.plot.weights(level()) + mv.plot.gap(raced().traces)
    for kind, beginning in (("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")):
        mv.plot.save(picture, tmp_path / f"both.{kind}")
        assert (tmp_path / f"both.{kind}").read_bytes().startswith(beginning)
    text = (tmp_path / "both.svg").read_text()
    assert all(word in text for word in ("relative duality gap", "Level", "SPG", *bars(mv.plot.weights(level()))))


def test_what_is_laid_over_another_is_saved_and_what_browsers_alone_draw_is_refused(tmp_path: Path) -> None:
    level_gap, spg_gap = (mv.plot.gap(raced().traces[name]) for name in ("level", "spg"))
    mv.plot.save(level_gap * spg_gap * hv.VLine(3.0).opts(color="#123456"), tmp_path / "both.svg")
    text = (tmp_path / "both.svg").read_text()
    assert all(word in text for word in ("Level", "SPG", 'stroke="#123456"'))
    shape = hv.Polygons([{"x": [0, 1, 1], "y": [0, 0, 1]}])
    with pytest.raises(ProblemError, match=r"browsers alone.*html"):
        mv.plot.save(level_gap * shape, tmp_path / "shape.svg")
    with pytest.raises(ProblemError, match=r"ends in none"):
        mv.plot.save(mv.plot.gap(level()), tmp_path / "gap.gif")
    assert [path.name for path in tmp_path.iterdir()] == ["both.svg"]


@pytest.mark.full
@pytest.mark.parametrize("name", mv.plot.__all__)
def test_the_examples_of_the_docstrings_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (example,) = doctest.DocTestFinder().find(getattr(mv.plot, name), name, globs={})
    assert example.examples
    said: list[str] = []
    assert doctest.DocTestRunner().run(example, out=said.append).failed == 0, "".join(said)
    assert len(list(tmp_path.glob("*.html"))) == 1


def centred_alignment(K: Array, L: Array) -> float:
    H = np.eye(len(K)) - 1.0 / len(K)
    a, b = H @ K @ H, H @ L @ H
    return float((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum()))


def one(m: int, k: int) -> Array:
    return np.eye(m)[k]


@cache
def moons() -> tuple[mv.Problem, mv.Trace]:
    X, y = blobs(50, 0.1, features=2)
    problem = mv.Problem(small_bank(X), y, mv.Hinge(10.0))
    return problem, mv.solve(problem, "level")


@pytest.mark.parametrize("kind", ["sum", "by rows", "landmarks", "product", "polynomial", "given"])
def test_a_gram_matrix_on_some_samples_is_that_part_of_the_whole(kind: str) -> None:
    X, _ = blobs(40)
    families = [mv.Gaussian(widths=(1.0, 2.0), on="all+each"), mv.Polynomial(degrees=(1, 2))]
    banks = {
        "sum": lambda: mv.KernelBank.build(X, families),
        "by rows": lambda: mv.KernelBank.build(X, families, rows=True),
        "landmarks": lambda: mv.NystromBank.build(X, families, landmarks=10),
        "product": lambda: mv.ProductBank.build(X),
        "polynomial": lambda: mv.ParametricBank.build(X, mv.LearnedPolynomial(2)),
        "given": lambda: grams(5, 40),
    }
    bank = banks[kind]()
    weights = np.random.default_rng(0).random(len(bank))
    some = np.array([1, 3, 4, 17, 39])
    whole = bank.apply(weights, np.eye(40))
    tolerance = 1e-6 if kind == "by rows" else 1e-10  # rows come in single precision
    assert gram_on(bank, weights, some) == pytest.approx(whole[np.ix_(some, some)], rel=tolerance, abs=tolerance)
    assert gram_on(bank, weights, np.arange(40)) == pytest.approx(whole, rel=tolerance, abs=tolerance)


def test_samples_stand_class_by_class_and_are_measured_by_themselves() -> None:
    problem, trace = moons()
    shown = ordered_gram(problem.bank, trace.best.weights, problem.y, ("no", "yes"))
    order = np.argsort(problem.y, kind="stable")
    whole = problem.bank.combine(trace.best.weights)[np.ix_(order, order)]
    assert shown.values == pytest.approx(whole / np.diag(whole).mean(), rel=1e-5, abs=1e-6)
    assert shown.classes == ("no", "yes")
    assert shown.edges == (0.0, float((problem.y < 0).sum()), 50.0)


def test_a_gram_matrix_is_drawn_with_the_first_sample_at_the_top_left_and_of_many_some() -> None:
    gram = np.diag([4.0, 1.0, 1.0])
    gram[0, 1] = gram[1, 0] = 1.0
    image = mv.plot.gram(mv.KernelBank.from_grams([gram]), 0).get(0)
    assert image[0.5, 2.5] == pytest.approx(2.0)  # y goes up, so the first row is at the top
    assert image[1.5, 2.5] == image[0.5, 1.5] == pytest.approx(0.5)
    assert image[2.5, 0.5] == pytest.approx(0.5)
    X, y = blobs(700, features=1)
    drawn = mv.plot.gram(mv.KernelBank.build(X, [mv.Polynomial(degrees=(1,))]), 0, y)
    assert hv.render(drawn).title.text == "poly 1 on all, 600 of 700 samples"
    assert len(set(sampled(700, 600).tolist())) == 600


def test_a_kernel_is_asked_for_by_number_by_name_or_by_weights() -> None:
    bank = moons()[0].bank
    by_name, by_number = mv.plot.gram(bank, "poly 1 on x2"), mv.plot.gram(bank, bank.names.index("poly 1 on x2"))
    assert by_name.get(0).dimension_values(2) == pytest.approx(by_number.get(0).dimension_values(2))


def test_alignments_are_those_of_the_formula_and_twins_stand_side_by_side() -> None:
    grams = random_grams(5, 30)
    bank = mv.KernelBank.from_grams([*grams, 3.0 * grams[1] + 0.5])  # a twin up to a scale and a bias
    found = align(bank, range(6))
    for i, k in enumerate(found.kernels):
        for j, l in enumerate(found.kernels):
            expected = centred_alignment(bank.combine(one(6, int(k))), bank.combine(one(6, int(l))))
            assert found.values[i, j] == pytest.approx(expected, abs=1e-9)
    order = found.kernels.tolist()
    assert abs(order.index(1) - order.index(5)) == 1
    assert found.names == tuple(bank.names[k] for k in order)


def test_similarity_is_drawn_for_all_the_heaviest_or_fifty_kernels() -> None:
    problem, trace = moons()
    drawn = mv.plot.similarity(problem.bank, trace.best.weights)
    used = np.flatnonzero(trace.best.weights > 1e-8)
    assert set(drawn.dimension_values("one")) == {problem.bank.names[k] for k in used}
    X, _ = blobs(20, features=6)
    many = mv.paper_bank(X)
    shown = mv.plot.similarity(many)
    assert len(set(shown.dimension_values("one"))) == 50
    assert hv.render(shown).title.text == "Kernel similarity, 50 of 91 kernels"
    assert not hv.render(shown).below[0].visible  # where all names have no room
    named = hv.render(mv.plot.similarity(grams(24, 20)))
    assert named.below[0].visible
    assert named.height == ABOVE + 24 * FIELD + BELOW  # room for the names


def test_a_twin_that_was_not_picked_is_the_first_of_the_rivals() -> None:
    X, y = blobs(40, 0.2)
    grams = [np.outer(X[:, k], X[:, k]) for k in (0, 1, 2)]
    noise = [0.01 * gram for gram in random_grams(30, 40)]
    trace = mv.solve(mv.Problem(mv.KernelBank.from_grams([*grams, *noise]), y, mv.Hinge(1.0)), "level", gap=1e-4)
    problem = mv.Problem(mv.KernelBank.from_grams([*grams, *noise, grams[0]]), y, mv.Hinge(1.0))
    weights = np.append(trace.best.weights, 0.0)
    found = rivals(problem, replace(trace.best, weights=weights)).tolist()
    used = np.flatnonzero(weights > 1e-8)
    assert 0 in used
    assert set(found[: len(used)]) == set(used.tolist())
    assert found[len(used)] == 33
    assert len(found) == 16


def test_the_surface_is_the_decision_function_and_rings_are_around_support_vectors() -> None:
    problem, trace = moons()
    best = trace.best
    points = plane_of(problem)
    found = surface(problem, best.weights, best.dual, points)
    predictor = problem.predictor(best.weights, best.dual)
    for row, column in ((0, 0), (10, 70), (79, 3)):
        place = np.array([[found.x[column], found.y[row]]])
        assert found.values[row, column] == pytest.approx(float(predictor.decision_values(place)[0]))
    assert np.flatnonzero(found.support).tolist() == predictor.support.tolist()
    for places, column in ((found.x, points[:, 0]), (found.y, points[:, 1])):
        room = np.ptp(column)
        assert column.min() - 0.5 * room < places[0] < column.min()
        assert column.max() < places[-1] < column.max() + 0.5 * room
    drawn = mv.plot.decision(problem, trace)
    image = drawn.get(0)
    assert image[found.x[70], found.y[10]] == pytest.approx(found.values[10, 70], rel=1e-5)
    rings = [part for part in drawn if part.label == "support vectors"]
    assert len(rings[0]) == len(predictor.support)


def test_weights_alone_are_enough_for_a_decision() -> None:
    problem, trace = moons()
    weights, dual = solution_of(problem, trace.best.weights)
    # both solved to 1e-2 or so
    assert problem.objective(weights, dual) == pytest.approx(trace.best.objective, rel=0.02)
    assert solution_of(problem, trace[0])[1] is trace[0].dual
    for wrong in ("level", [0.5], -np.ones(15), None):
        with pytest.raises(ProblemError, match="Give a trace, an iterate or 15 weights"):
            mv.plot.decision(problem, wrong)


def with_kernels(*families: Any) -> mv.Problem:
    X, y = blobs(40, 0.2)
    return mv.Problem(mv.KernelBank.build(X, families), y, mv.Hinge(10.0))


@cache
def three() -> Race:
    return mv.race(with_kernels(mv.Gaussian(widths=(0.5, 2.0)), mv.Polynomial(degrees=(1,))), ["silp", "level"])


def test_each_path_over_three_kernels_is_where_the_weights_are() -> None:
    drawn = mv.plot.simplex(three().traces)
    paths = {part.label: part for part in drawn if isinstance(part, hv.Curve)}
    assert list(paths) == ["SILP", "Level"]
    weights = three().traces["silp"].weights
    assert paths["SILP"].dimension_values("up") == pytest.approx(np.sqrt(0.75) * weights[:, 2])
    assert paths["SILP"].dimension_values("along") == pytest.approx(weights[:, 1] + 0.5 * weights[:, 2])


def test_contours_beneath_the_triangle_are_where_the_objective_is_as_high_as_they_say() -> None:
    race = three()
    problem = race.problem
    (contours,) = (part for part in mv.plot.simplex(race.traces, problem=problem) if isinstance(part, hv.Contours))
    oracle = SvmOracle(problem, 1e-6)
    spread = np.ptp([oracle.solve(corner).primal for corner in np.eye(3)])
    lines = contours.split(datatype="dictionary")
    assert len(lines) >= 10
    for line in lines[::4]:
        x, y = (np.atleast_1d(line[name])[len(np.atleast_1d(line[name])) // 2] for name in ("along", "up"))
        share = y / np.sqrt(0.75)
        weights = np.maximum([1.0 - x - 0.5 * share, x - 0.5 * share, share], 0.0)
        height = float(np.atleast_1d(line["objective"])[0])
        assert oracle.solve(weights / weights.sum()).primal == pytest.approx(height, abs=0.03 * spread)  # of the mesh


@cache
def two() -> tuple[mv.Problem, dict[str, mv.Trace]]:
    problem = with_kernels(mv.Gaussian(widths=(0.5,)), mv.Polynomial(degrees=(1,)))
    return problem, {name: mv.solve(problem, name, gap=1e-4) for name in ("silp", "level", "spg")}


def test_cuts_touch_the_objective_over_two_kernels_where_they_were_made_and_lie_below_it() -> None:
    problem, traces = two()
    parts = list(mv.plot.segment(problem, traces["silp"], 1))
    (cuts,) = (part for part in parts if isinstance(part, hv.Path))
    (objective,) = (part for part in parts if isinstance(part, hv.Curve) and len(part) > 60 and part is not parts[1])
    shares, heights = objective.dimension_values("share"), objective.dimension_values("objective")
    exact = 0.02 * np.ptp(heights)  # heights are solved to a hundredth
    assert len(cuts.split()) == 2
    for cut, share in zip(cuts.split(), traces["silp"].weights[:2, 0], strict=True):
        (_, at_zero), (_, at_one) = cut.array()
        assert (at_zero + (at_one - at_zero) * shares <= heights + exact).all()
        assert at_zero + (at_one - at_zero) * share == pytest.approx(np.interp(share, shares, heights), abs=exact)


def test_level_is_drawn_with_its_set_and_others_with_their_points() -> None:
    problem, traces = two()
    for trace in traces.values():
        parts = mv.plot.segment(problem, trace, dark=True)
        points = next(part for part in parts if isinstance(part, hv.Scatter))
        assert points.dimension_values("share") == pytest.approx(trace.weights[:, 0])
        assert points.dimension_values("objective") == pytest.approx(trace.objective)
    drawn = [part for part in mv.plot.segment(problem, traces["level"], 1) if isinstance(part, hv.Curve)]
    facts = traces["level"][1].facts
    flat = [part for part in drawn if set(part.dimension_values("objective")) == {facts.level}]
    assert sorted(len(part) for part in flat) >= [2, 2]
    assert not any(isinstance(part, hv.Path) for part in mv.plot.segment(problem, traces["spg"]))


REFUSED: dict[str, Callable[[], object]] = {
    "none was given": lambda: mv.plot.weights(level(), by="family"),
    "has 3 kernels and the run 20": lambda: mv.plot.weights(level(), grams(3, 40), by="family"),
    "come from no families": lambda: mv.plot.weights(level(), grams(20, 40), by="feature"),
    "by='colour'": lambda: mv.plot.weights(level(), by="colour"),  # type: ignore[arg-type]
    "step 9,999": lambda: mv.plot.weights(level(), step=9999),
    r"pipeline\[-1\]": lambda: mv.plot.weights(make_pipeline(mv.MKLClassifier())),
    "not 'level'": lambda: mv.plot.gap("level"),
    'x="iteration" or x="svm_solves" or x="seconds", but': lambda: mv.plot.gap(level(), x="steps"),  # type: ignore[arg-type]
    "at least one": mv.plot.gap,
    "not convex": lambda: mv.plot.gap(mv.solve(multiplied(), "spg", max_iter=2)),
    "no kernel 'nobody'": lambda: mv.plot.gram(moons()[0].bank, "nobody"),
    "99 was asked": lambda: mv.plot.gram(moons()[0].bank, 99),
    r"shape \(3,\)": lambda: mv.plot.gram(moons()[0].bank, np.ones(3)),
    "7 targets": lambda: mv.plot.gram(moons()[0].bank, 0, np.ones(7)),
    "multiplied": lambda: mv.plot.similarity(multiplied().bank),
    r"shape \(2,\)": lambda: mv.plot.similarity(grams(3, 20), [0.5, 0.5]),
    "No kernel has weight": lambda: mv.plot.similarity(grams(3, 20), np.zeros(3)),
    "have 3 features": lambda: mv.plot.decision(posed(), np.ones(20)),
    "are not known": lambda: mv.plot.decision(ready(3), np.ones(3)),
    "different kernels": lambda: mv.plot.simplex(three().traces, mv.solve(ready(3), "level", max_iter=1)),
    "has 15": lambda: mv.plot.simplex(moons()[1]),
    "over 3 kernels whose weights sum to one": lambda: mv.plot.simplex(
        three().traces, problem=replace(three().problem, regularizer=mv.LpBall(p=2.0))
    ),
    r"has the steps 0 to \d+, but step=99": lambda: mv.plot.segment(two()[0], two()[1]["silp"], 99),
    "weights sum to one; this problem has 3": lambda: mv.plot.segment(three().problem, two()[1]["silp"]),
    "another problem's": lambda: mv.plot.segment(two()[0], three().traces["silp"]),
}


@pytest.mark.parametrize("said", REFUSED)
def test_what_cannot_be_drawn_is_refused_in_a_sentence(said: str) -> None:
    with pytest.raises(ProblemError, match=said):
        REFUSED[said]()


def test_the_area_below_the_curve_is_the_chance_of_the_right_order() -> None:
    rng = np.random.default_rng(3)
    y = np.where(rng.random(200) < 0.4, 1.0, -1.0)
    scores = np.round(y + 2.0 * rng.normal(size=200), 1)  # with ties
    pairs = scores[y > 0][:, None] - scores[y < 0][None, :]
    assert roc(y, scores).area == pytest.approx(((pairs > 0) + 0.5 * (pairs == 0)).mean())
    assert roc(y, y).area == 1.0
    curve = roc(y, scores)
    assert (curve.hits[0], curve.mistaken[0], curve.hits[-1], curve.mistaken[-1]) == (0.0, 0.0, 1.0, 1.0)


def test_rows_of_the_confusion_are_true_classes() -> None:
    true, predicted = np.array([-1.0, -1.0, -1.0, 1.0]), np.array([1.0, -1.0, -1.0, 1.0])
    counts = confusion(true, predicted, (-1.0, 1.0))
    assert counts.tolist() == [[2, 1], [0, 1]]
    drawn = draw_confusion(counts, ("no", "yes"), LIGHT)
    columns = (drawn.get(0).dimension_values(name).tolist() for name in ("predicted", "true", "samples"))
    told = {(x, y): n for x, y, n in zip(*columns, strict=True)}
    assert told == {("no", "no"): 2, ("yes", "no"): 1, ("no", "yes"): 0, ("yes", "yes"): 1}
    assert hv.render(drawn).y_range.factors == ["yes", "no"]  # the first class at the top


def test_a_picture_drawn_beside_a_session_leaves_its_document_alone() -> None:
    held = Document()
    before = held.theme
    with patch_curdoc(held):  # for all threads, as a page that is built does
        figure = rendered(hv.Curve([1.0, 2.0]))
    assert held.theme is before
    assert figure.document is None
