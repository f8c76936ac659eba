"""Compiled functions: a cache that may be damaged, unwritable or full; how much is compiled, and by whom."""

import errno
import importlib.util
import itertools
import logging
import os
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from _waits import alive, wait_for
from numba.core import event
from numba.core.caching import IndexDataCacheFile

from mklviz import compiled
from mklviz.cli.commands import main
from mklviz.datasets import load_dataset
from mklviz.engine import solver_classes
from mklviz.engine.compiling import (
    PARTS,
    SHORTEST,
    SMALL,
    USUAL,
    CompilePool,
    everything,
    kind,
    miniatures,
    needs,
    problems,
    seconds_left,
)
from mklviz.kernels import paper_bank
from mklviz.problem import Hinge, Problem

SOURCE = """
from mklviz.compiled import njit

@njit(cache=True, nogil=True)
def double(x: float) -> float:
    return 2.0 * x
"""
_names = (f"doubling_{number}" for number in itertools.count())

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled with NUMBA_DISABLE_JIT=1")


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with a function to compile, and a cache of its own."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    compiled._say_once.cache_clear()
    path = tmp_path / "doubling.py"
    path.write_text(SOURCE, encoding="utf-8")
    return path


def loaded(path: Path) -> Any:
    """Load the file anew, as another process would."""
    spec = importlib.util.spec_from_file_location(next(_names), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.double


def files(path: Path, kind: str) -> list[Path]:
    return sorted((path.parent / "cache").rglob(f"*.{kind}"))


def test_a_second_process_loads_what_the_first_has_compiled(source: Path) -> None:
    assert loaded(source)(3.0) == 6.0
    assert files(source, "nbi")
    assert files(source, "nbc")
    again = loaded(source)
    assert again(3.0) == 6.0
    assert sum(again.stats.cache_hits.values()) == 1


CALLER = """
from mklviz.compiled import njit
from called_{number} import factor_of

@njit(cache=True, nogil=True)
def double(x: float) -> float:
    return factor_of() * x
"""
CALLED = """
from mklviz.compiled import njit

@njit(cache=True, nogil=True)
def factor_of() -> float:
    return {factor}
"""


def test_a_change_of_what_it_calls_in_another_file_is_noticed(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(source.parent)
    name = f"called_{os.getpid()}"
    source.write_text(CALLER.format(number=os.getpid()), encoding="utf-8")
    called = source.with_name(f"{name}.py")
    for factor in (2.0, 14.0, 14.0):  # of two lengths: Python itself looks at seconds and size
        called.write_text(CALLED.format(factor=factor), encoding="utf-8")
        sys.modules.pop(name, None)
        importlib.invalidate_caches()
        double = loaded(source)
        assert double(3.0) == factor * 3.0
    assert sum(double.stats.cache_hits.values()) == 1  # the last time nothing had changed


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("content", [b"", b"no pickle", "half"])
def test_a_damaged_cache_is_set_aside_with_one_line(
    source: Path, kind: str, content: bytes | str, caplog: pytest.LogCaptureFixture
) -> None:
    loaded(source)(3.0)
    for path in files(source, kind):
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2] if isinstance(content, str) else content)
    with caplog.at_level(logging.WARNING):
        assert loaded(source)(3.0) == 6.0
    assert len(caplog.records) == 1
    assert "damaged and set aside" in caplog.text
    mended = loaded(source)
    assert mended(3.0) == 6.0
    assert sum(mended.stats.cache_hits.values()) == 1


def test_without_a_folder_to_write_to_functions_are_compiled_at_every_start(
    source: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    blocked = source.parent / "cache"
    blocked.write_text("in the way of a folder", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked / "cache"))
    (source.parent / "__pycache__").write_text("in the way of another", encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            assert loaded(source)(3.0) == 6.0
    assert len(caplog.records) == 1
    assert "no folder for compiled functions" in caplog.text


def test_a_full_disk_is_said_once(
    source: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(IndexDataCacheFile, "save", full)
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            assert loaded(source)(3.0) == 6.0
    assert len(caplog.records) == 1
    assert "cannot be kept" in caplog.text


# -- what a newcomer waits for


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
        wait_for(lambda: not alive(helper), "the end of the helper")  # its input stays open


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


def test_the_time_that_is_left_grows_no_longer_and_hangs_on_no_parts_that_were_loaded() -> None:
    assert [seconds_left(1, 26, 120.0, waited) for waited in (0.0, 60.0, 1e9)] == [3120.0, 3060.0, SHORTEST]
    assert seconds_left(2, 25, 120.0, 0.0) == 1500.0
    assert seconds_left(0, 27, 0.0, 1e9) == USUAL
    pool = CompilePool()
    parts = list(PARTS)
    pool.done.update(parts[:3])
    pool._helpers, pool._begun, pool._loaded = 1, True, 3
    assert pool.progress() == (3, len(PARTS), USUAL)
    pool.hand_over(parts[3])
    done, _, left = pool.progress()
    assert done == 4
    assert left > USUAL  # for each of the others what this one took: the clock began long ago


def test_everything_comes_with_the_least_to_compile_in_front_and_every_solver_names_parts_that_exist() -> None:
    tasks = list(everything())
    assert len(tasks) == len(problems()) * len(solver_classes())
    assert {part for part, _, _ in tasks} == set(SMALL)
    first = [solver for part, _, solver in tasks if part == "problem 1"]
    assert first[-1] == "level"
    assert {part for solver in solver_classes() for part in needs(solver)} <= set(PARTS)


def test_a_miniature_is_of_the_kind_it_stands_for_also_where_samples_have_weights() -> None:
    for make in problems():
        posed = make()
        assert {kind(small) for small in miniatures(posed)} == {kind(posed)}
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
