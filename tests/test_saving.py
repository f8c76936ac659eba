"""Saving replaces a file whole or leaves it as it was."""

import io
import os
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mklviz as mv
from mklviz.cli.commands import main
from mklviz.contract import Facts, Iterate
from mklviz.record import Trace
from mklviz.record.archive import replacing

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


def interrupted(target: Path) -> None:
    with replacing(target) as file:
        file.write(b"half")
        raise KeyboardInterrupt


@pytest.mark.usefixtures("full_disk")
def test_a_full_disk_leaves_the_old_trace_and_the_old_path(tmp_path: Path) -> None:
    fails_to_save(tmp_path, small_trace().save, OSError)
    found = mv.Path("C", True)
    found.append(1.0, small_trace())
    fails_to_save(tmp_path, found.save, OSError)


def test_what_cannot_be_written_down_and_ctrl_c_leave_the_old_file(tmp_path: Path) -> None:
    fails_to_save(tmp_path, small_trace(Odd(odd={1, 2})).save, TypeError)
    fails_to_save(tmp_path, interrupted, KeyboardInterrupt)


@pytest.mark.usefixtures("full_disk")
@pytest.mark.parametrize("option", ["--save", "--csv"])
def test_a_full_disk_leaves_what_the_command_line_wrote_before(option: str, tmp_path: Path) -> None:
    kept = tmp_path / "runs.zip"
    kept.write_bytes(OLD)
    race = ["race", "--data", "two_moons", "--solvers", "level,spg", "--max-iter", "1", option, str(kept)]
    assert main(race) != 0
    assert kept.read_bytes() == OLD


def test_a_file_keeps_its_permissions_a_link_stays_one_and_a_name_may_be_as_long_as_disks_allow(tmp_path: Path) -> None:
    target, link = tmp_path / "run", tmp_path / "latest"
    target.write_bytes(OLD)
    target.chmod(0o640)
    link.symlink_to(target)
    small_trace().save(link)
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640
    assert len(Trace.load(target)) == 3
    small_trace().save(tmp_path / ("r" * 255))
    assert len(Trace.load(tmp_path / ("r" * 255))) == 3


def test_devices_and_open_files_are_written_to_as_they_are(tmp_path: Path) -> None:
    small_trace().save(os.devnull)
    assert not Path(os.devnull).is_file()
    file = io.BytesIO()
    small_trace().save(file)
    assert zipfile.is_zipfile(file)
