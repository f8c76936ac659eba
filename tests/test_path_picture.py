"""The picture of a path shows every kernel with weight, names the largest, and counts what each value cost."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from _problems import blobs, problem, small_bank
from bokeh.document import Document
from bokeh.models import GlyphRenderer, LinearScale, LogScale
from measure.paths import measure

import mklviz as mv
from mklviz.errors import ProblemError
from mklviz.views.chart.path_picture import NAMED, PathPicture
from mklviz.views.look.palette import LIGHT
from mklviz.views.notebook.path_view import PathFigure


@cache
def paths() -> tuple[mv.Path, mv.Path]:
    X, y = blobs(40, 0.2)
    found = mv.Problem(small_bank(X), y, mv.Hinge(10.0), mv.LpBall(2.0))  # all twenty kernels have weight
    warm, cold = (mv.path(found, "closed-form", warm=warm, C=[100.0, 10.0, 1.0]) for warm in (True, False))
    return warm, cold


def drawn(plot: object) -> list[GlyphRenderer]:
    return [found for found in plot.renderers if isinstance(found, GlyphRenderer)]  # type: ignore[attr-defined]


def test_the_largest_kernels_are_named_and_the_others_are_grey() -> None:
    shown = mv.path_figure(paths()[0])
    assert isinstance(shown, PathFigure)
    items = shown.weights.legend[0].items
    assert len(items) == NAMED
    weights, names = paths()[0].weights, paths()[0].kernel_names
    by_weight = [names[k] for k in np.argsort(-weights.max(axis=0))]
    assert [item.label.value for item in items] == by_weight[:NAMED]
    grey = drawn(shown.weights)[0].data_source.data["ys"]
    assert len(grey) == 20 - NAMED
    np.testing.assert_array_equal(items[0].renderers[0].data_source.data["y"], weights[:, names.index(by_weight[0])])


def test_what_the_values_cost_is_compared_with_cold_starts() -> None:
    warm, cold = paths()
    alone, both = mv.path_figure(warm), mv.path_figure(warm, cold)
    assert [item.label.value for item in alone.cost.legend[0].items] == [
        f"warm starts, {warm.svm_solves.sum()} in all",
    ]
    assert [item.label.value for item in both.cost.legend[0].items][1] == f"cold starts, {cold.svm_solves.sum()} in all"


def test_the_axis_is_logarithmic_where_values_are_spread_widely() -> None:
    assert isinstance(mv.path_figure(paths()[0]).weights.x_scale, LogScale)
    near = mv.path(problem("one kernel"), "level", C=[10.0, 9.0])
    assert isinstance(mv.path_figure(near).weights.x_scale, LinearScale)


def test_the_three_figures_share_their_axis_and_make_one_document() -> None:
    shown = mv.path_figure(*paths())
    assert shown.weights.x_range is shown.active.x_range is shown.cost.x_range
    document = Document()
    document.add_root(shown.layout)
    document.validate()


def test_kernels_of_a_race_keep_their_colours_and_others_are_dashed() -> None:
    path, _ = paths()
    heaviest = np.argsort(-path.weights.max(axis=0), kind="stable")
    coloured = [int(heaviest[1]), int(heaviest[0])]
    drawn = PathPicture(path, None, LIGHT, coloured).weights.renderers
    found = {
        line.name: (line.glyph.line_color, line.glyph.line_dash) for line in drawn if line.name in path.kernel_names
    }
    for colour, k in enumerate(coloured):
        assert found[path.kernel_names[k]] == (LIGHT.kernels[colour], [])
    assert len(set(map(str, found.values()))) == len(found)


def test_what_cannot_be_drawn_is_refused_in_a_sentence() -> None:
    with pytest.raises(ProblemError, match="no values yet"):
        mv.path_figure(mv.Path("C", True))
    found = mv.Problem(small_bank(blobs(40)[0]), blobs(40)[1], mv.Hinge(1.0), mv.LpBall(2.0))
    with pytest.raises(ProblemError, match="One path varies C, the other p"):
        mv.path_figure(paths()[0], mv.path(found, "closed-form", p=[2.0]))


def test_the_benchmark_compares_warm_and_cold_starts_on_the_same_path() -> None:
    (row,) = measure(["two_moons"], ["spg"], count=4)
    assert (row["data"], row["solver"], row["cold_unfinished"], row["warm_unfinished"]) == ("two_moons", "spg", 0, 0)
    assert row["warm"] <= row["cold"]
