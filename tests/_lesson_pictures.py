"""What the picture of each lesson says, read from what is drawn alone: the place of its answer among the choices."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from _undrawn import DrawnChart, draw_none

from mklviz.analysis.weight_map import CORNERS
from mklviz.scenarios import Answer, Outcome, scenarios
from mklviz.views.chart.description import BarMark, LineMark, TextMark
from mklviz.views.lessons.picture import LessonRuns
from mklviz.views.lessons.pictures import picture_of
from mklviz.views.look.palette import LIGHT
from mklviz.views.look.styles import run_styles

__all__ = ["place_shown"]

Charts = Mapping[str, DrawnChart]


def place_shown(name: str, outcome: Outcome, answer: Answer) -> int:
    """Return the place of the answer that the picture of a lesson shows."""
    runs = LessonRuns(outcome.traces, run_styles(outcome.traces, LIGHT), answer.evidence, LIGHT)
    picture = picture_of(scenarios()[name], runs)
    read: Callable[[Charts], int] = globals()[name.replace("-", "_")]  # called as its lesson
    return read({chart.name: draw_none(chart, picture.tables) for chart in picture.charts})


def _bars(chart: DrawnChart) -> dict[str, float]:
    [bars] = chart.of(BarMark)
    return dict(zip(bars.columns["y"], bars.columns["x"], strict=True))


def _drawn(chart: DrawnChart, table: str, column: str = "y") -> Sequence[Any]:
    """Return a column that is drawn of a table."""
    return next(drawn.columns[column] for drawn in chart.marks if drawn.mark.table == table)


def silp_oscillates(charts: Charts) -> int:
    [silp] = charts["moved"].of(LineMark, "SILP")
    often = silp.columns["y"][-1]
    colours = {label: set(_column(charts[label], "colour")) for label in ("strip-silp", "strip-level")}
    assert len(colours["strip-silp"]) > len(colours["strip-level"])  # it jumps between more kernels
    return (often >= 3.0) + (often >= 30.0)


def best_response(charts: Charts) -> int:
    lines = {drawn.mark.table: drawn.columns["y"][-1] for drawn in charts["moved"].of(LineMark) if "y" in drawn.columns}
    often = lines["moved-smkl"]
    assert often > 10.0 * lines["moved-SMKL, averaged"]  # which takes answers of the same kind
    return (often >= 3.0) + (often >= 30.0)


def _column(chart: DrawnChart, name: str) -> Sequence[str]:
    return next(drawn.columns[name] for drawn in chart.marks if name in drawn.columns)


def three_kernels(charts: Charts) -> int:
    place = [*(_drawn(charts["map"], "best", axis)[0] for axis in "xy"), 1.0]
    shares = np.linalg.solve(np.vstack([CORNERS.T, np.ones(3)]), place)
    return int((shares > 1e-3).sum()) - 1


def sparse_or_dense(charts: Charts) -> int:
    bars = _bars(charts["counts"])
    many, few, every = bars["p = 4/3"], bars["simplex"], bars["all kernels"]
    return 2 if many > every / 2 else 0 if many < few else 1


def line_search(charts: Charts) -> int:
    bars = _bars(charts["solves"])
    return (bars["SimpleMKL"] / bars["Level"] >= 2.0) + (bars["SimpleMKL"] / bars["Level"] > 10.0)


def spg_parts(charts: Charts) -> int:
    solves, tries = _bars(charts["solves"]), _bars(charts["trials"])
    alone = [solves["PGD+N"], solves["PGD+S"]]
    assert tries["PGD+S"] < 0.5 * tries["PGD"]  # why it helps
    return int(np.argmin(alone)) if min(alone) < 0.5 * solves["PGD"] else 2


def noisy_svms(charts: Charts) -> int:
    [sizes] = charts["step-size"].of(LineMark, "PGD, rough SVMs")
    assert charts["lesson-gap"].of(LineMark, "PGD 2, exact SVMs")  # as the chips call it
    key = sizes.mark.table.removeprefix("gap-")
    share = len(_drawn(charts["step-size"], f"vain-{key}", "x")) / (len(sizes.columns["x"]) - 1)
    return (share > 0.0) + (share > 0.25)


def second_order(charts: Charts) -> int:
    gaps = charts["lesson-gap"]
    assert gaps.chart.x.log
    assert gaps.chart.y.log
    [newton] = gaps.of(LineMark, "Newton")
    digits = list(_bars(charts["digits"]).values())[::-1]
    assert digits[-1] > 1.4 * digits[-2] > 1.4 * 1.4 * digits[-3]
    solves = newton.columns["x"][-1]
    return (solves >= 20) + (solves > 100)


def silp_is_fine(charts: Charts) -> int:
    ways = {drawn.mark.table: drawn.columns["y"] for drawn in charts["valley"].of(LineMark) if drawn.columns["y"]}
    valley = [value for table, way in ways.items() if table not in ("way-equal weights", "room") for value in way]
    assert max(valley) < 1.02 * min(valley)
    assert max(ways["way-equal weights"]) > 1.5 * max(valley)
    bars = _bars(charts["solves"])
    return ["SILP", "SimpleMKL", "Level", "SPG"].index(max(bars, key=lambda name: bars[name]))


def objective_and_accuracy(charts: Charts) -> int:
    steps, star = _drawn(charts["accuracy"], "accuracy", "x"), _drawn(charts["accuracy"], "best", "x")[0]
    return (star > 0) + (star > steps[-1] / 4) + (star == steps[-1] > 0)


def three_groups(charts: Charts) -> int:
    [words] = charts["machines"].of(TextMark)
    used = Counter(name for name in words.columns["y"] if "class" in name)
    assert [text for name, text in zip(words.columns["y"], words.columns["text"], strict=True) if "all" in name] == [
        "kernel 4"
    ]
    assert len(set(used.values())) == 1
    return used["class 1"] - 1


def thousands(charts: Charts) -> int:
    bars = _bars(charts["counts"])
    return (bars["with weight"] >= 100) + (bars["with weight"] > bars["all kernels"] / 2)


def products(charts: Charts) -> int:
    heights = sorted(_drawn(charts["hill"], "ends"))
    apart = sum(above > (1.0 + 1e-4) * below for below, above in pairwise(heights))
    assert max(_drawn(charts["hill"], "way")) > heights[-1]  # there is a hill
    return apart


def regularization_path(charts: Charts) -> int:
    first, *_, last = _drawn(charts["in-use"], "path")  # from C = 1,000 down to 1
    return 0 if first > 1.5 * last else 1 if last > 1.5 * first else 2


def certificate(charts: Charts) -> int:
    bars = _bars(charts["proved"])
    gaps = charts["lesson-gap"].of(LineMark)
    own = next(drawn.columns["y"] for drawn in gaps if drawn.mark.y == "own")
    averages = next(
        drawn.columns["y"] for drawn in gaps if drawn.mark.table == "gap-pairwise" and drawn.mark.y == "gap"
    )
    assert all(proved <= alone for proved, alone in zip(averages, own, strict=True))
    return int(np.argmin([bars["equal weights"], bars["one kernel"], bars["their average"]]))


def without_svms(charts: Charts) -> int:
    bars = _bars(charts["passes"])
    plain, balanced = (
        {drawn.mark.y: drawn.columns["y"] for drawn in charts[f"steps-{key}"].of(LineMark) if drawn.mark.colour}
        for key in ("ogaprox", "OGAProx, balance 100")
    )
    assert plain["last"][-1] < 0.5 * plain["average"][-1]
    # its last steps go round the solution: where the very last one is, depends on rounding
    assert balanced["average"][-1] < max(balanced["last"][-50:])
    ratio = bars["OGAProx"] / bars["Level"]
    return (ratio >= 1.0) + (ratio > 10.0)
