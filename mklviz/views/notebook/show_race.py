"""A race from a script or a notebook: ``mv.race`` blocks in the one and shows itself live in the other.

In a notebook the cell ends at once; solvers and picture go on in threads of their own.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from mklviz.contract import Solver
from mklviz.datasets import Dataset
from mklviz.engine import FLAT, Race, StopRule, standard_rules
from mklviz.engine.run import check_problem
from mklviz.engine.solving import hand_over
from mklviz.errors import MklvizError
from mklviz.problem import Problem
from mklviz.quoting import one_line
from mklviz.recipe.recorded import RecordedRace, resume_run
from mklviz.record.history import KeptRun, run_named
from mklviz.record.store import RunHead, StoredRun, open_store
from mklviz.sweeps.dask_race import on_cluster
from mklviz.views.host.environment import in_notebook, need_screen

STORE_SECONDS = 20.0  # to wait until all stands on the disk
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
    dask: Any = None,
) -> Race:
    """Race several solvers on one problem.

    Outside notebooks this returns when all have ended. In a notebook it returns at once and the output of the cell
    shows the race as it runs, with buttons to pause, step and stop it; ``race.wait()`` waits for the end. Its runs are
    kept in the store, where `runs` finds them.

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
    dask : str or distributed.Client, optional
        A Dask cluster whose workers compute the steps: its scheduler's address, such as ``"tcp://head:8786"``, or a
        client. The controls stay the same; a run whose worker is lost ends with what it had found.

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

    Examples
    --------
    >>> problem = mv.Problem(mv.KernelBank.build(np.eye(4), "gauss:1,4"), np.array([1.0, 1.0, -1.0, -1.0]))
    >>> race = mv.race(problem, ["level", "spg"])  # shows itself in a notebook
    >>> race.traces["level"].status
    'converged'
    """
    check_problem(problem)
    names = [solvers] if isinstance(solvers, str | Solver) else solvers
    rules = standard_rules(gap, max_iter, max_seconds, stop, problem.convex, projected_gradient)
    race = Race(problem, names, rules, pace, seed)
    if dask is not None:
        on_cluster(race, dask)
    recorded = RecordedRace(race, RunHead(made_by=_made_by()))
    return _shown(race, recorded, gap if problem.convex else projected_gradient)


def resume(run: StoredRun | str, solver: str = "", data: Dataset | None = None) -> Race:
    """Go on from a run of the store, such as one that was cut off, at its best step.

    The run's problem is posed anew from its recipe. The race that begins has one run, whose trace says in `origin` from
    which step it goes on, and which counts steps, SVM solves and seconds on from there. It begins with the weights,
    dual variables and lower bound that had been found; nothing inside the solver is restored, so it may go another way
    than the run would have gone. It is kept in the store as a branch in the run's race, and shown like one by `race`.

    Parameters
    ----------
    run : StoredRun or str
        As `runs` returns it, or its key.
    solver : str
        Name of another solver, with its usual options; by default the same one, with the same options.
    data : Dataset, optional
        The data, where they are your own: those are not stored.

    Returns
    -------
    Race

    Raises
    ------
    UnsupportedProblem
        If the solver cannot go on from there, with the reason.
    MklvizError
        If there is no such run, its recipe is not known, or `data` are not those it had.
    KeyboardInterrupt
        On Ctrl-C, outside notebooks; its `found` is the race with all that was found until then.

    Examples
    --------
    >>> import mklviz as mv
    >>> for run in mv.runs('status:"cut off"'):
    ...     race = mv.resume(run)
    """
    store = (run.store if isinstance(run, KeptRun) else None) or open_store()
    runs = run_named(store, run) if isinstance(run, str) else [run]
    if len(runs) > 1:
        raise MklvizError(f"That race has several runs: go on from one of {', '.join(each.id for each in runs)}.")
    race, recipe, prepared, head = resume_run(store, runs[0], _made_by(), solver, data)
    return _shown(race, RecordedRace(race, head, prepared, store=store), recipe.goal)


def _made_by() -> str:
    return "notebook" if in_notebook() else "script"


def _shown(race: Race, recorded: RecordedRace, goal: float | None) -> Race:
    """Start a race, and show it in a notebook, or wait for its end in a script."""
    if in_notebook():
        need_screen()
        from mklviz.views.notebook.race_cell import RaceCell

        RaceCell(race, goal).begin()
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
    recorded.wait(STORE_SECONDS)
    if not recorded.kept:
        print(f"mklviz: {one_line(recorded.not_kept)}", file=sys.stderr)
    return race
