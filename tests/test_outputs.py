"""What the command line leaves behind, however it ends: a file is replaced whole or left as it was."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from _sources import SOURCES
from _waits import PATIENCE

import mklviz as mv
from mklviz.analysis.drawn_points import Points, as_file
from mklviz.cli import race as outputs
from mklviz.cli.commands import main
from mklviz.cli.race import Outputs
from mklviz.contract import Facts, Iterate
from mklviz.engine import Race
from mklviz.errors import MklvizError
from mklviz.quoting import cell
from mklviz.record import Trace
from mklviz.record import summary as tables
from mklviz.record.archive import replacing
from mklviz.record.summary import write_csv

TRAIN, _ = mv.load_dataset("sonar").split(train=0.2, seed=0)
POSED = mv.Problem(mv.paper_bank(TRAIN.X), TRAIN.y, mv.Hinge(100.0))
ENDLESS = ["run", "--data", "sonar", "--solvers", "silp", "--gap", "none", "--max-iter", "none"]


def begun(steps: int = 3) -> Race:
    race = Race(POSED, ["silp", "spg"], rules=[])
    for run in race.runs.values():
        for _ in range(steps):
            run.advance()
    return race


def rows(file: Path) -> int:
    with file.open() as opened:
        return len(list(csv.DictReader(opened)))


def test_files_are_written_while_a_race_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outputs, "EVERY_SECONDS", 0.0)
    monkeypatch.setattr(outputs, "AT_LEAST_SECONDS", 0.0)
    table, runs = tmp_path / "steps.csv", tmp_path / "runs.zip"
    kept, race = Outputs(table, runs), begun()
    kept.keep_up(race)
    assert rows(table) == 6
    for run in race.runs.values():
        run.advance()
    kept.keep_up(race)
    assert rows(table) == 8
    with zipfile.ZipFile(runs) as archive:
        archive.extract("silp.mklrun.npz", tmp_path)
    trace = mv.Trace.load(tmp_path / "silp.mklrun.npz")
    assert (len(trace), trace.status) == (4, "stopped")
    assert "still going" in trace.reason


def test_no_cell_of_a_table_in_text_is_a_formula_and_numbers_stay_numbers() -> None:
    """Spreadsheets compute what begins so, and a formula may send away what stands beside it."""
    texts = ["=1+1", "+cmd", "-x", "@SUM(A1)", "\tx", "\uff1d1", "-1.5", "+2", "-", "plain", "'quoted"]
    told = ["'=1+1", "'+cmd", "'-x", "'@SUM(A1)", "'\tx", "'\uff1d1", "-1.5", "+2", "'-", "plain", "'quoted"]
    table = pd.DataFrame({"=name": texts, "number": -np.arange(11.0), "mixed": [*texts[:10], -3]})
    file = io.BytesIO()
    write_csv(table, file)
    rows = list(csv.reader(io.StringIO(file.getvalue().decode())))
    assert rows[0] == ["'=name", "number", "mixed"]
    assert [row[0] for row in rows[1:]] == told
    assert [float(row[1]) for row in rows[1:]] == table.number.tolist()
    assert [row[2] for row in rows[1:]] == [*told[:10], "-3"]
    assert list(table) == ["=name", "number", "mixed"]
    drawn = as_file(Points((-1.0,), (2.0,), ("=A1",)), ("-x", "y"), cell).decode()
    assert drawn == "'-x,y,class\n-1.0,2.0,'=A1\n"


def test_every_table_in_text_is_written_by_one_function() -> None:
    texts = {name: path.read_text(encoding="utf-8") for name, path in SOURCES.items()}
    assert [name for name, text in texts.items() if ".to_csv(" in text] == ["mklviz.record.summary"]
    assert [name for name, text in texts.items() if "csv.writer(" in text] == ["mklviz.analysis.drawn_points"]


def test_a_parquet_table_is_written_beside_the_csv_one_or_refused_before_the_race(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = tmp_path / "steps.parquet"
    monkeypatch.setattr(tables, "find_spec", lambda _name: None)
    with pytest.raises(MklvizError, match="pip install pyarrow"):
        Outputs(parquet=wanted)
    monkeypatch.undo()
    pytest.importorskip("pyarrow")
    kept = Outputs(tmp_path / "steps.csv", parquet=wanted)
    assert kept.finish(begun())
    assert len(pd.read_parquet(wanted)) == 6
    assert rows(tmp_path / "steps.csv") == 6


def test_nothing_is_written_too_often(tmp_path: Path) -> None:
    table = tmp_path / "steps.csv"
    kept = Outputs(table, None)
    kept.keep_up(begun())
    assert not table.exists()
    assert kept.finish(begun())
    assert rows(table) == 6


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_full_disk_is_a_sentence_and_the_other_file_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = tmp_path / "runs.zip"
    kept = Outputs(Path("/dev/full"), runs)
    assert not kept.finish(begun())
    assert capsys.readouterr().err == "mklviz: /dev/full cannot be written: No space left on device.\n"
    assert zipfile.is_zipfile(runs)


def test_a_folder_that_is_missing_is_said_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(MklvizError, match="There is no folder"):
        Outputs(None, tmp_path / "no" / "runs.zip")


@pytest.mark.skipif(os.name == "nt", reason="there is no such signal")
def test_being_ended_politely_keeps_what_was_found(tmp_path: Path) -> None:
    table = tmp_path / "steps.csv"
    words = [sys.executable, "-m", "mklviz", *ENDLESS, "--csv", str(table)]
    leader, follower = os.openpty()  # on a terminal it counts its steps
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": follower, "env": {**os.environ, "TERM": "xterm"}}
    with subprocess.Popen(words, text=True, **pipes) as process:
        os.close(follower)
        drawn = b""
        while b" steps " not in drawn:
            drawn += os.read(leader, 1000)
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=PATIENCE)
    with contextlib.suppress(OSError):  # the other side is closed
        drawn += os.read(leader, 100_000)
    os.close(leader)
    assert process.returncode == 130
    assert "SILP    stopped" in out
    assert b"Traceback" not in drawn
    assert rows(table) > 1


OLD = b"what was saved before"


@dataclass(frozen=True, kw_only=True)
class Odd(Facts):
    """What no file can hold."""

    odd: Any = ""


def small_trace(facts: Facts | None = None) -> Trace:
    trace = Trace("spg", "SPG")
    for t in range(3):
        trace.append(Iterate(np.ones(2), np.zeros(3), 2.0, 1.0, 0.5, t, facts or Facts()), float(t))
    return trace


def fails_to_save(tmp_path: Path, save: Callable[[Path], Any], error: type[BaseException]) -> None:
    """Check that what fails to save leaves what was there, and nothing beside it."""
    target = tmp_path / "kept"
    target.write_bytes(OLD)
    with pytest.raises(error):
        save(target)
    assert target.read_bytes() == OLD
    assert os.listdir(tmp_path) == ["kept"]


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every file be refused when it is to be brought to the disk."""

    def refuse(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)


@pytest.mark.usefixtures("full_disk")
def test_a_full_disk_leaves_the_old_trace(tmp_path: Path) -> None:
    fails_to_save(tmp_path, small_trace().save, OSError)


@pytest.mark.usefixtures("full_disk")
def test_a_full_disk_leaves_the_old_path(tmp_path: Path) -> None:
    found = mv.Path("C", True)
    found.append(1.0, small_trace())
    fails_to_save(tmp_path, found.save, OSError)


@pytest.mark.usefixtures("full_disk")
@pytest.mark.parametrize("option", ["--save", "--csv"])
def test_a_full_disk_leaves_what_the_command_line_wrote_before(option: str, tmp_path: Path) -> None:
    kept = tmp_path / "runs.zip"
    kept.write_bytes(OLD)
    race = ["race", "--data", "two_moons", "--solvers", "level,spg", "--max-iter", "1", option, str(kept)]
    assert main(race) != 0
    assert kept.read_bytes() == OLD


def test_what_cannot_be_written_down_leaves_the_old_trace(tmp_path: Path) -> None:
    fails_to_save(tmp_path, small_trace(Odd(odd={1, 2})).save, TypeError)


def test_ctrl_c_leaves_the_old_file(tmp_path: Path) -> None:
    def save(target: Path) -> None:
        with replacing(target) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    fails_to_save(tmp_path, save, KeyboardInterrupt)


def test_a_file_keeps_its_permissions_and_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "run", tmp_path / "latest"
    target.write_bytes(OLD)
    target.chmod(0o640)
    link.symlink_to(target)
    small_trace().save(link)
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640
    assert len(Trace.load(target)) == 3


def test_a_name_may_be_as_long_as_the_disk_allows(tmp_path: Path) -> None:
    small_trace().save(tmp_path / ("r" * 255))
    assert len(Trace.load(tmp_path / ("r" * 255))) == 3


def test_devices_and_open_files_are_written_to_as_they_are(tmp_path: Path) -> None:
    small_trace().save(os.devnull)
    assert not Path(os.devnull).is_file()
    file = io.BytesIO()
    small_trace().save(file)
    assert zipfile.is_zipfile(file)
