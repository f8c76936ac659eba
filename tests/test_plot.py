"""Pictures by `mv.plot`: what they draw is what the runs and the banks say, and they compose and are saved."""

import doctest
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import holoviews as hv
import numpy as np
import pytest
from _problems import blobs, ran, random_grams, small_bank
from bokeh.models import HoverTool

import mklviz as mv
from mklviz.analysis.kernel_weights import by_feature
from mklviz.engine import Race
from mklviz.errors import ProblemError
from mklviz.views.look.palette import DARK, LIGHT
from mklviz.views.look.styles import race_styles
from mklviz.views.model.kernel_pictures import draw_grid
from mklviz.views.pictures.style import rendered

KINDS = ["gauss 2⁻¹", "gauss 2⁰", "gauss 2²", "poly 1", "poly 2"]


@cache
def posed() -> mv.Problem:
    X, y = blobs(40, 0.2)
    return mv.Problem(small_bank(X), y, mv.Hinge(10.0))


@cache
def raced() -> Race:
    return mv.race(posed(), ["silp", "level", "spg"])


def level() -> mv.Trace:
    return raced().traces["level"]


def bars(drawn: hv.Bars) -> dict[str, float]:
    """The bars from the top."""
    names, values = drawn.dimension_values(0), drawn.dimension_values(1)
    return dict(zip(names[::-1].tolist(), values[::-1].tolist(), strict=True))


# gap


def test_a_run_of_one_step_is_within_its_picture() -> None:
    (value,) = mv.solve(posed(), "level", gap=1e9).gap
    shown = rendered(mv.plot.gap(mv.solve(posed(), "level", gap=1e9))).y_range
    assert shown.start < value < shown.end


# weights


def test_the_heaviest_kernels_stand_first_with_their_weights() -> None:
    drawn, best = bars(mv.plot.weights(level())), level().best
    assert list(drawn.values()) == sorted(drawn.values(), reverse=True)
    assert len(drawn) == best.active
    for name, value in drawn.items():
        assert value == best.weights[level().kernel_names.index(name)]


def test_weights_of_a_step_are_those_of_that_step() -> None:
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


def test_by_feature_every_kernel_has_its_place() -> None:
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


def test_the_heat_map_has_the_first_row_at_the_top_and_a_field_for_kernels_without_weight() -> None:
    drawn = mv.plot.weights(level(), posed().bank, by="feature")
    assert drawn.dimension_values("weight").sum() == pytest.approx(level().best.weights.sum())
    assert set(drawn.dimension_values("kind")) == set(KINDS)
    grid = by_feature(level().best.weights, posed().bank)
    assert hv.render(drawn).y_range.factors == list(grid.rows[::-1])
    assert "of the weight" not in hv.render(drawn).title.text
    part = draw_grid(replace(grid, share=0.8), LIGHT, "By feature")
    assert hv.render(part).title.text == "By feature: 80 % of the weight"


def test_what_families_cannot_be_known_of_is_said() -> None:
    with pytest.raises(ProblemError, match="none was given"):
        mv.plot.weights(level(), by="family")
    with pytest.raises(ProblemError, match="has 3 kernels and the run 20"):
        mv.plot.weights(level(), mv.KernelBank.from_grams(random_grams(3, 40)), by="family")
    grams = mv.KernelBank.from_grams(random_grams(20, 40))
    with pytest.raises(ProblemError, match="come from no families"):
        mv.plot.weights(level(), grams, by="feature")
    with pytest.raises(ProblemError, match="by='colour'"):
        mv.plot.weights(level(), by="colour")  # type: ignore[arg-type]
    with pytest.raises(ProblemError, match="step 9,999"):
        mv.plot.weights(level(), step=9999)


# gap


def test_every_run_has_its_gap_in_the_colour_of_its_solver() -> None:
    for dark, theme in ((False, LIGHT), (True, DARK)):
        drawn = mv.plot.gap(raced().traces, dark=dark)
        curves = [part for part in drawn if isinstance(part, hv.Curve)]
        styles = race_styles(raced(), theme)
        assert [curve.label for curve in curves] == ["SILP", "Level", "SPG"]
        for curve, (key, trace) in zip(curves, raced().traces.items(), strict=True):
            assert curve.dimension_values("gap") == pytest.approx(trace.gap)
            assert hv.Store.lookup_options("bokeh", curve, "style").kwargs["color"] == styles[key].colour


def test_the_gap_of_a_branch_begins_at_the_step_that_it_goes_on_from() -> None:
    grown = ran(raced().branch("silp", 3, "level"))
    trace = list(grown.traces.values())[-1]
    curve = next(iter(mv.plot.gap(trace)))
    assert curve.dimension_values("iteration") == pytest.approx(np.arange(3.0, 3.0 + len(trace)))


def test_traces_come_one_by_one_in_lists_and_in_mappings_and_twice() -> None:
    drawn = mv.plot.gap(level(), [level()], {"mine": level()})
    assert [part.label for part in drawn if isinstance(part, hv.Curve)] == ["Level", "Level 2", "mine"]
    with pytest.raises(ProblemError, match="not 'level'"):
        mv.plot.gap("level")
    with pytest.raises(ProblemError, match="at least one"):
        mv.plot.gap()


def test_runs_without_a_gap_say_why() -> None:
    X, y = blobs(20)
    trace = mv.solve(mv.Problem(mv.ProductBank.build(X), y, mv.Hinge(1.0), mv.L1Penalty(1.0)), "spg", max_iter=2)
    with pytest.raises(ProblemError, match="not convex"):
        mv.plot.gap(trace)


# all of them


@pytest.mark.parametrize(("dark", "theme"), [(False, LIGHT), (True, DARK)])
def test_pictures_have_the_colours_of_the_page(dark: bool, theme: Any) -> None:
    for drawn in (mv.plot.weights(level(), dark=dark), mv.plot.gap(level(), dark=dark)):
        figure = hv.render(drawn)
        assert figure.background_fill_color == figure.border_fill_color == theme.card
        assert {axis.major_label_text_color for axis in figure.axis} == {theme.muted}


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
