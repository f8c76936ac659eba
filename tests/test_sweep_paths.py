"""Members of a path begin where those before them ended, and no run is made twice for that."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from _waits import PATIENCE

import mklviz as mv
from mklviz.record import Trace
from mklviz.sweeps import Processes, Sweep, SweepRun
from mklviz.sweeps.engine import CANCEL, MemberQueue, SweepCommand
from mklviz.sweeps.solving import solve_member

ONE = "data=heart; kernels=gauss:1,2@all+each; C=100,50,10; solvers=level; gap=1e-4; path=C"


def nothing(trace: Trace) -> None:
    """Watch no trace."""


class Ended(list[int]):
    """A trace of one step that has converged."""

    status, reason, best_start = "converged", "", object()

    def finish(self, verdict: object) -> None:
        raise AssertionError(verdict)


@pytest.mark.parametrize("threads", [1, 3])
def test_each_member_of_many_paths_is_solved_once(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    solved = list[str]()

    def run_of(member: Any, prepared: object, start: object) -> Any:
        assert (start is None) == (not member.earlier)
        solved.append(member.key)
        return SimpleNamespace(trace=Ended([1]))

    replaced: dict[str, object] = {"_prepared": None, "_solve": None, "_results": {}, "_fit_seconds": 1.0}
    for name, value in replaced.items():
        monkeypatch.setattr(f"mklviz.sweeps.solving.{name}", Mock(return_value=value))
    monkeypatch.setattr("mklviz.sweeps.solving._run_of", run_of)
    nine = ",".join(f"level:lam=0.{k}" for k in range(1, 10))
    members = Sweep.from_words(f"data=heart; C=100,50,20,10,5,2,1,0.5; gap=1e-2,1e-3; solvers={nine}; path=C").members
    queue = MemberQueue(members)
    while len(queue):
        for member in [member for _ in range(threads) if (member := queue.take("worker")) is not None]:
            solve_member(member, SweepCommand(), nothing, nothing)
            queue.ended(member)
    assert len(solved) == len(members) == 9 * 2 * 8


def test_a_run_that_was_stopped_is_no_beginning_for_the_next() -> None:
    sweep, command = Sweep.from_words(ONE), SweepCommand()
    first, second, _ = sweep.members
    trace, _ = solve_member(first, command, nothing, lambda trace: command.say(CANCEL))
    assert trace.status == "stopped"
    trace, _ = solve_member(second, SweepCommand(), nothing, nothing)
    path = mv.path(sweep.recipe.prepare().problem, "level", gap=1e-4, C=[100, 50])
    assert trace.best.objective == path.objective.tolist()[1]


def test_for_one_path_one_process_is_started() -> None:
    with Processes(2) as engine:
        run = SweepRun(Sweep.from_words(ONE), None, engine)
        run.start()
        assert run.wait(PATIENCE)
        assert run.table().frame.status.tolist() == ["converged"] * 3
        assert len(engine.pids) == 1
