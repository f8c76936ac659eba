"""What a newcomer waits for: how much is compiled, by whom, and what happens where the second process breaks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mklviz.cli import warmup as warmup_command
from mklviz.cli.commands import main
from mklviz.engine import compiling, make_solver, solver_classes
from mklviz.engine.compiling import PARTS, Sharing, everything, kind, miniatures, needs, problems

ROOT = Path(__file__).parent.parent
COUNT = """
from numba.core import event
counted = event.RecordingListener()
event.register("numba:compile", counted)
from mklviz.scenarios import DEFAULT, load_scenario
wanted = load_scenario(DEFAULT).recipe
race = wanted.race(wanted.prepare())
for run in race.runs.values():
    for _ in range(12):
        run.advance()
    assert len(run.trace) == 12, run.reason
print(sum(entry.is_start for _, entry in counted.buffer))
"""


def test_the_first_race_compiles_no_more_than_it_did(tmp_path: Path) -> None:
    """103 functions, where it was 167 with NumPy's reductions and fancy indexing; numba's own differ by its version."""
    settings = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    told = subprocess.run([sys.executable, "-c", COUNT], env=settings, cwd=ROOT, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    assert 50 < int(told.stdout) <= 115


def test_the_second_process_compiles_what_it_is_told_and_answers_by_name() -> None:
    command = [sys.executable, "-m", "mklviz.engine.compiling"]
    told = subprocess.run(command, input="game\nlevel\n", cwd=ROOT, capture_output=True, text=True)
    assert (told.stdout, told.returncode) == ("game\nlevel\n", 0)


@pytest.mark.parametrize("program", ["true", "no-such-program"])
def test_without_a_second_process_the_first_compiles_all(
    program: str, monkeypatch: pytest.MonkeyPatch, no_log: None
) -> None:
    monkeypatch.setattr(sys, "executable", program)
    done: list[str] = []
    for part in PARTS:
        monkeypatch.setitem(PARTS, part, lambda part=part: done.append(part))
    sharing = Sharing()
    with sharing.open():
        sharing._begin()
        for part in PARTS:
            sharing.ensure(part)
    assert sorted(done) == sorted(PARTS)
    assert sharing.done == set(PARTS)


def test_every_solver_of_the_first_scenario_and_every_other_names_parts_that_exist() -> None:
    assert {part for solver in solver_classes() for part in needs(solver)} <= set(PARTS)


def test_what_is_named_first_comes_first_and_everything_comes() -> None:
    pairs = list(everything(["spg", "level"]))
    assert [solver for _, solver in pairs[:2]] == ["spg", "level"]  # the one with less to compile in front
    assert len(pairs) == len(problems()) * len(solver_classes())


def test_a_miniature_is_of_the_kind_it_stands_for() -> None:
    for make in problems():
        posed = make()
        assert {kind(small) for small in miniatures(posed)} == {kind(posed)}


def test_the_command_compiles_says_how_long_it_took_and_can_be_stopped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    touched: list[str] = []
    monkeypatch.setattr(warmup_command, "few_steps", lambda problem, solver: touched.append(solver))
    assert main(["warmup"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("Everything is compiled; it took ")
    assert [line for line in err.splitlines() if line] == [f"compiling: {k} %" for k in range(0, 101, 10)]
    assert set(touched) == set(solver_classes())

    def interrupted(_problem: object, _solver: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(warmup_command, "few_steps", interrupted)
    assert main(["warmup"]) == 130
    assert "what is compiled stays" in capsys.readouterr().err


def test_a_solver_that_refuses_a_problem_does_not_end_the_warm_up() -> None:
    squared = next(posed for make in problems() if type((posed := make()).loss).__name__ == "Squared")
    assert make_solver("newton").supports(squared)
    begun: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        solver = solver_classes()["spg"]
        patch.setattr(solver, "iterates", lambda self, problem: begun.append("spg") or iter(()))
        for name in ("newton", "spg"):
            compiling.few_steps(squared, name)
    assert begun == ["spg"]
