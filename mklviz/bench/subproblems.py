"""The subproblems of the cutting plane methods: SILP's linear program and Level's projection.

- *SILP's linear program* grows by one row per step. Ours starts from the last basis; the others are
  ``scipy.optimize.linprog`` from scratch for each number of cuts, and HiGHS given one row after the other, warm, which
  stands behind ours where rounding is in the way. All walk through the same cuts, those of a real run.
- *Level's projection* of a real run's weights on its level set, by our Newton method in the dual and by solvers anybody
  can install, at an accuracy of 1e-9. Each answer's error is shown, so that a fast wrong answer cannot win: the larger
  of its violation of a constraint and of its distance from the optimal value, which our duality gap proves.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.optimize import linprog

from mklviz.bench._cuts import CutHistory, half, many_kernels, record
from mklviz.bench._quadratic import RIVALS, projection, violation
from mklviz.bench._suite import Bench, Row, Suite
from mklviz.problem import Simplex
from mklviz.solvers._cutting_plane import CuttingPlaneModel
from mklviz.solvers._level_qp import LevelProjection, project_to_level_set
from mklviz.typing import Array

__all__ = ["SUITE", "linear_programs", "measure", "projections"]

LP_GOAL, QP_GOAL = 10.0, 50.0
RIGHT = 1e-8  # error above which an answer is called wrong; it was asked for 1e-9
MOST_KERNELS, MOST_CUTS = 10_000, 100


def measure(bench: Bench) -> Iterator[Row]:
    """Measure the linear programs, then the projections."""
    names = ("heart",) if bench.quick else ("heart", "ionosphere", "sonar")
    for name in names:
        bench.say(f"cuts of SILP on {name}")
        history = record(half(name), "silp", 30 if bench.quick else 60)
        yield from linear_programs(f"SILP's linear program, {name}", history, bench)
    for name in names:
        bench.say(f"cuts of Level on {name}")
        problem = half(name)
        history = record(problem, "level", 500, gap=1e-2)
        yield from projections(f"Level's projection, {name}", history, problem.n, bench)
    m, count = (MOST_KERNELS // 10, MOST_CUTS // 4) if bench.quick else (MOST_KERNELS, MOST_CUTS)
    bench.say(f"{count} cuts of Level with {m:,} kernels")
    problem = many_kernels(m)
    history = record(problem, "level", count)
    yield from projections(f"Level's projection, Sonar with {m:,} kernels", history, problem.n, bench, budget=1e-3)


def linear_programs(name: str, history: CutHistory, bench: Bench) -> Iterator[Row]:
    """Time all through all cuts of `history`, one after the other."""
    minima = {label: np.zeros(len(history.cuts)) for label in ("ours", "linprog", "HiGHS, warm")}

    def ours() -> None:
        model = CuttingPlaneModel(history.cuts.shape[1])
        for t, cut in enumerate(history.cuts):
            model.add(cut)
            minima["ours"][t] = model.minimize().theta

    def highs() -> None:
        model = CuttingPlaneModel(history.cuts.shape[1])
        for t, cut in enumerate(history.cuts):
            model.add(cut)
            minima["HiGHS, warm"][t] = model.ask_highs().theta

    def scratch() -> None:
        for t in range(len(history.cuts)):
            minima["linprog"][t] = _linprog(history.cuts[: t + 1])

    bench.say(name)
    seconds = bench.alternate({"ours": ours, "linprog": scratch, "HiGHS, warm": highs}, 3)
    for label, goal in (("linprog", LP_GOAL), ("HiGHS, warm", None)):
        # nan where linprog found none: then there is no difference either
        apart = float(np.nanmax(np.abs(minima["ours"] - minima[label]) / np.abs(minima[label])))
        note = (
            f"{len(history.cuts)} programs with 1 to {len(history.cuts)} cuts; minima differ by {apart:.0e}, relative"
        )
        pair = ("dual simplex, warm", seconds["ours"]), (label, seconds[label])
        yield Row.of(name, *pair, m=history.cuts.shape[1], goal=goal, note=note)


def _linprog(cuts: Array) -> float:
    """Return ``min theta`` subject to ``theta >= c_j'd`` over the simplex."""
    J, m = cuts.shape
    cost, upper = np.append(np.zeros(m), 1.0), np.hstack([cuts, -np.ones((J, 1))])
    total = np.append(np.ones(m), 0.0)[None]
    bounds = [(0.0, None)] * m + [(None, None)]
    solution = linprog(cost, upper, np.zeros(J), total, [1.0], bounds, method="highs")
    return float(solution.fun) if solution.status == 0 else np.nan


def projections(name: str, history: CutHistory, n: int, bench: Bench, budget: float | None = None) -> Iterator[Row]:
    """Time the last projection of `history`: cold against the rivals, and warm from the multipliers before it."""
    d0, cuts, level = history.points[-2], history.cuts[:-1], float(history.levels[-1])
    ends = np.stack([cuts.min(axis=1), cuts.max(axis=1)], axis=1)  # Level keeps them with its cuts
    before = project_to_level_set(history.points[-3], history.cuts[:-2], float(history.levels[-2])).multipliers
    start = np.append(before, 0.0)
    best = project_to_level_set(d0, cuts, level)
    value, m, title = 0.5 * float(((best.weights - d0) ** 2).sum()), len(d0), f"{name}, {len(cuts)} cuts"
    error = max(violation(best.weights, cuts, level), abs(value - _dual_value(best, d0, cuts, level)))
    things = {
        "cold": lambda: project_to_level_set(d0, cuts, level, extremes=ends),
        "warm": lambda: project_to_level_set(d0, cuts, level, start, extremes=ends),
    }
    bench.say(title)
    if budget is not None:
        for label, seconds in bench.alternate(things, 9).items():
            allowed = f"{1e3 * budget:g} ms", np.full(len(seconds), budget)
            pair = (f"dual Newton, {label}", seconds), allowed
            yield Row.of(title, *pair, n, m, goal=1.0, note=f"errors: ours {error:.0e}")
    fastest: tuple[Array, Array, str, str] | None = None
    for rival in RIVALS:
        solve, reason = projection(rival, d0, cuts, level)
        try:
            answer = None if solve is None else solve()
        except Exception as error:  # each has its own
            answer, reason = None, f"it gave up: {error}"
        if solve is None or answer is None:
            yield Row.missing(title, "dual Newton, cold", rival, reason, n, m)
            continue
        seconds = bench.alternate({**things, rival: solve}, 5 if m < 2000 else 3)
        worst = max(violation(answer, cuts, level), abs(0.5 * float(((answer - d0) ** 2).sum()) - value))
        note = f"errors: ours {error:.0e}, {rival} {worst:.0e}{'' if worst <= RIGHT else ', WRONG'}"
        pair = ("dual Newton, cold", seconds["cold"]), (rival, seconds[rival])
        yield Row.of(title, *pair, n, m, QP_GOAL, note)
        if worst <= RIGHT and (fastest is None or np.median(seconds[rival]) < np.median(fastest[1])):
            fastest = seconds["warm"], seconds[rival], rival, note
    if fastest is not None:
        warm, other, rival, note = fastest
        yield Row.of(
            title, ("dual Newton, warm", warm), (rival, other), n, m, QP_GOAL, f"{note}; the fastest right one"
        )


def _dual_value(best: LevelProjection, d0: Array, cuts: Array, level: float) -> float:
    """Return the dual function at mu, a lower bound of ``1/2 ||d - d0||²``."""
    G = cuts - level
    nearest = Simplex().project(d0 - best.multipliers @ G)
    return 0.5 * float(((nearest - d0) ** 2).sum()) + float(best.multipliers @ (G @ nearest))


SUITE = Suite(
    "Subproblems of the cutting plane methods",
    "SILP's growing linear program against linprog and HiGHS, and Level's projection against solvers of quadratic"
    " programs at an accuracy of 1e-9.",
    measure,
)
