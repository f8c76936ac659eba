"""The cursor that is dragged on a figure: which step is nearest, and what no figure tells."""

from __future__ import annotations

import pytest
from _problems import problem

from mklviz.engine import solve
from mklviz.views.race.components import CursorDrag, step_near


def test_the_nearest_step_is_found_on_each_axis() -> None:
    trace = solve(problem("blobs, C = 1"), "level", max_iter=6, gap=None)
    assert step_near([trace], "iteration", 2.4) == 2
    assert step_near([trace], "iteration", -5.0) == 0
    assert step_near([trace], "iteration", 1e9) == trace.last_step
    assert step_near([trace], "svm_solves", float(trace.svm_solves[3])) == 3
    assert trace.seconds[step_near([trace], "seconds", float(trace.seconds[4]))] == trace.seconds[4]
    assert step_near([], "seconds", 1.0) is None


@pytest.mark.parametrize(
    ("told", "heard"),
    [
        ({"x": [3.5], "line": [-1]}, [(3.5, -1)]),
        ({"x": [3.5], "line": [1]}, [(3.5, 1)]),
        ({"x": [3.5]}, []),
        ({"x": ["a"], "line": [0]}, []),
        ({"x": [float("nan")], "line": [0]}, []),
        ({"x": [1, 2], "line": [0, 0]}, []),
    ],
)
def test_a_place_is_handed_on_and_answered_whatever_it_is(
    told: dict[str, list[object]], heard: list[tuple[float, int]]
) -> None:
    drag, places = CursorDrag(), list[tuple[float, int]]()
    drag.on_place = lambda place, line: places.append((place, line))
    drag.dragged.asked.data = told
    assert places == heard
    assert drag.dragged.answered.data["count"] == [1]
