"""What a newcomer waits for: how much is compiled, by whom, and what happens where the second process breaks."""

import os
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _waits import wait_for
from numba.core import event

from mklviz.cli.commands import main
from mklviz.datasets import load_dataset
from mklviz.engine import solver_classes
from mklviz.engine.compiling import PARTS, SMALL, CompilePool, everything, kind, miniatures, needs, problems
from mklviz.kernels import paper_bank
from mklviz.problem import Hinge, Problem

ROOT = Path(__file__).parent.parent
HELPER = ["-m", "mklviz.engine.compiling"]
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


@pytest.mark.product  # nobody shares what it compiles
def test_the_first_race_compiles_no_more_than_it_did(tmp_path: Path) -> None:
    """103 functions, where it was 167 with NumPy's reductions and fancy indexing; numba's own differ by its version."""
    settings = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    told = subprocess.run([sys.executable, "-c", COUNT], env=settings, cwd=ROOT, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    assert 50 < int(told.stdout) <= 115


@pytest.mark.full
def test_a_helper_compiles_what_it_is_told_and_answers_by_name() -> None:
    command = [sys.executable, *HELPER, str(os.getpid())]
    told = subprocess.run(command, input="game\nlevel\n", cwd=ROOT, capture_output=True, text=True)
    assert (told.stdout, told.returncode) == ("game\nlevel\n", 0)


@pytest.mark.full
@pytest.mark.skipif(os.name == "nt", reason="a process without a parent cannot be told there")
def test_a_helper_ends_with_who_started_it() -> None:
    start = f"""
import os, subprocess, sys
print(subprocess.Popen([sys.executable, *{HELPER}, str(os.getpid())], stdin=sys.stdin, stdout=subprocess.DEVNULL).pid)
"""
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", start], cwd=ROOT, **pipes) as gone:
        helper = int(gone.stdout.readline())
        gone.wait()
        wait_for(lambda: not _alive(helper), "the end of the helper")  # its input stays open


def _alive(process: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has asked for does not."""
    state = Path(f"/proc/{process}/stat")
    if state.exists():
        return state.read_text().rsplit(")", 1)[1].split()[0] != "Z"
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return not Path("/proc").exists()


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Parts that compile nothing and write down when they were done in this process."""
    done: list[str] = []
    for part in PARTS:
        monkeypatch.setitem(PARTS, part, partial(done.append, part))
    return done


def test_where_everything_is_cached_nobody_helps(parts: list[str]) -> None:
    class Alone(CompilePool):
        def _begin(self) -> None:
            pytest.fail("a helper was started")

    with Alone().open() as sharing:
        for part in PARTS:
            sharing.ensure(part)
    assert parts == list(PARTS)
    assert sharing.fraction == 1.0


def test_what_must_be_compiled_is_left_to_helpers_and_loaded_when_they_have_it(
    parts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cached = threading.Event()

    def needs_svm() -> None:
        if not cached.is_set():
            event.start_event("numba:compile", data={})  # what numba says before it compiles
            parts.append("compiled here")
        parts.append("used")

    class Helped(CompilePool):
        def _assist(self) -> None:
            cached.set()
            self.hand_over("svm")

    monkeypatch.setitem(PARTS, "svm", needs_svm)
    with Helped().open() as sharing:
        sharing.ensure("svm")
    assert parts == ["used"]


@pytest.mark.parametrize("program", ["true", "no-such-program"])
def test_without_helpers_everything_is_compiled_here(
    program: str, parts: list[str], monkeypatch: pytest.MonkeyPatch, no_log: None
) -> None:
    monkeypatch.setattr(sys, "executable", program)
    sharing = CompilePool()
    with sharing.open():
        sharing._begin()
        for part in PARTS:
            sharing.ensure(part)
    assert sorted(parts) == sorted(PARTS)
    assert sharing.done == set(PARTS)


def test_every_solver_of_the_first_scenario_and_every_other_names_parts_that_exist() -> None:
    assert {part for solver in solver_classes() for part in needs(solver)} <= set(PARTS)


def test_everything_comes_with_the_least_to_compile_in_front() -> None:
    tasks = list(everything())
    assert len(tasks) == len(problems()) * len(solver_classes())
    assert {part for part, _, _ in tasks} == set(SMALL)
    first = [solver for part, _, solver in tasks if part == "problem 1"]
    assert first[-1] == "level"


def test_a_miniature_is_of_the_kind_it_stands_for() -> None:
    for make in problems():
        posed = make()
        assert {kind(small) for small in miniatures(posed)} == {kind(posed)}


def test_samples_with_weights_have_small_problems_with_weights() -> None:
    data = load_dataset("two_moons", n=30)
    weighted = Problem(paper_bank(data.X), data.y, Hinge(10.0), sample_weight=np.resize([1.0, 2.0, 3.0], 30))
    assert [small.sample_weight is not None for small in miniatures(weighted)] == [True]


def test_the_command_compiles_says_how_long_it_took_and_can_be_stopped(
    parts: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["warmup"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("Everything is compiled; it took ")
    assert err.splitlines() == ["compiling: 0 %", "compiling: 100 %"]  # in a file, a line every few seconds
    assert parts == list(PARTS)

    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setitem(PARTS, "level", interrupted)
    assert main(["warmup"]) == 130
    assert "compiled functions stay" in capsys.readouterr().err
