"""The picture of a path shows every kernel with weight, names the largest, and counts what each value cost."""

from __future__ import annotations

from functools import cache

import numpy as np
from _problems import blobs, problem, small_bank
from _undrawn import DrawnChart, draw_none
from bokeh.document import Document

import mklviz as mv
from mklviz.views.chart.description import LineMark
from mklviz.views.chart.race_charts import NAMED, path_charts
from mklviz.views.look.palette import LIGHT
from mklviz.views.notebook.race_cell import PathFigure


@cache
def paths() -> tuple[mv.Path, mv.Path]:
    X, y = blobs(40, 0.2)
    found = mv.Problem(small_bank(X), y, mv.Hinge(10.0), mv.LpBall(2.0))  # all twenty kernels have weight
    warm, cold = (mv.path(found, "closed-form", warm=warm, C=[100.0, 10.0, 1.0]) for warm in (True, False))
    return warm, cold


def drawn(path: mv.Path, cold: mv.Path | None = None) -> list[DrawnChart]:
    """What is drawn of weights, kernels in use and cost."""
    charts, tables = path_charts(path, cold, LIGHT, NAMED)
    return [draw_none(chart, tables) for chart in charts]


def test_the_largest_kernels_are_named_and_the_others_are_grey() -> None:
    path = paths()[0]
    (grey, *named) = drawn(path)[0].of(LineMark)
    by_weight = np.argsort(-path.weights.max(axis=0))
    assert [line.mark.label for line in named] == [path.kernel_names[k] for k in by_weight[:NAMED]]
    assert len(grey.columns["y"]) == 20 - NAMED
    np.testing.assert_array_equal(named[0].columns["y"], path.weights[:, by_weight[0]])


def test_what_the_values_cost_is_compared_with_cold_starts() -> None:
    warm, cold = paths()
    told = [line.mark.label for line in drawn(warm, cold)[2].of(LineMark)]
    assert told == [f"warm starts, {warm.svm_solves.sum()} in all", f"cold starts, {cold.svm_solves.sum()} in all"]
    assert len(drawn(warm)[2].of(LineMark)) == 1


def test_every_kernel_with_a_name_stands_in_the_legend_of_the_page() -> None:
    shown = mv.path_figure(*paths())
    assert isinstance(shown, PathFigure)
    assert len(shown.weights.legend[0].items) == NAMED
    assert len(shown.cost.legend[0].items) == 2


def test_the_axis_is_logarithmic_where_values_are_spread_widely() -> None:
    assert {each.chart.x.scale for each in drawn(paths()[0])} == {"log"}
    near = mv.path(problem("one kernel"), "level", C=[10.0, 9.0])
    assert {each.chart.x.scale for each in drawn(near)} == {"linear"}


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
    (chart, *_), _ = path_charts(path, None, LIGHT, NAMED, coloured)
    found = {mark.label: (mark.colour, mark.dash) for mark in chart.marks if isinstance(mark, LineMark) and mark.label}
    for colour, k in enumerate(coloured):
        assert found[path.kernel_names[k]] == (LIGHT.kernels[colour], "solid")
    assert len(set(found.values())) == len(found) == NAMED
