"""A race from a script or a notebook: ``mv.race`` blocks in the one and shows itself live in the other.

In a notebook the cell ends at once; solvers and picture go on in threads of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from mklviz.contract import Solver
from mklviz.engine import FLAT, Race, StopRule, standard_rules
from mklviz.engine.run import check_problem
from mklviz.engine.solving import hand_over
from mklviz.problem import Problem
from mklviz.views.host.installed import need_screen
from mklviz.views.host.kernel import in_notebook

__all__ = ["race"]

STOP_SECONDS = 5.0  # seconds for solvers to leave a step; they ask some ten times a second


def race(
    problem: Problem,
    solvers: Sequence[str | Solver],
    gap: float | None = 1e-2,
    max_iter: int | None = 500,
    max_seconds: float | None = None,
    seed: int = 0,
    pace: float = 0.0,
    stop: Sequence[StopRule] = (),
    projected_gradient: float | None = FLAT,
) -> Race:
    """Race several solvers on one problem.

    Outside notebooks this returns when all have ended. In a notebook it returns at once and the output of the cell
    shows the race as it runs, with buttons to pause, step and stop it; ``race.wait()`` waits for the end.

    Parameters
    ----------
    problem : Problem
    solvers : sequence of str or Solver
        Registry names (see `available_solvers`), or solvers with their options set.
    gap, max_iter, max_seconds : number or None
        Stop rules: relative certified duality gap, steps, CPU seconds of each solver; None leaves one out.
    seed : int
        Seed of every random choice of the solvers given by name.
    pace : float
        Steps per second of each solver; 0 for full speed.
    stop : sequence of StopRule
        Further stop rules.
    projected_gradient : float or None
        The rule in place of the gap where the problem is not convex: projected gradient, relative to the objective.

    Returns
    -------
    Race
        Its ``traces`` holds one trace for each solver, by name.

    Raises
    ------
    UnknownName
        If there is no such solver.
    UnsupportedProblem
        If a solver cannot solve this problem, with the reason.
    KeyboardInterrupt
        On Ctrl-C, outside notebooks; its `found` is the race with all that was found until then.
    """
    check_problem(problem)
    names = [solvers] if isinstance(solvers, str | Solver) else solvers
    rules = standard_rules(gap, max_iter, max_seconds, stop, problem.convex, projected_gradient)
    race = Race(problem, names, rules, pace, seed)
    if in_notebook():
        need_screen()
        from mklviz.views.notebook.cell_updates import show_in_cell

        show_in_cell(race, gap if problem.convex else projected_gradient)
        race.start()
        return race
    race.start()
    try:
        race.wait()
    except KeyboardInterrupt as stop:
        hand_over(stop, race)
        race.cancel()
        race.wait(STOP_SECONDS)
        raise
    return race
