"""What an archive says of itself is checked before anything is unpacked, and no more is unpacked than it says."""

from __future__ import annotations

import io
import json
import struct
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mklviz.datasets import DataError, read_dataset
from mklviz.errors import MklvizError
from mklviz.record.bundle import read_bundle
from mklviz.unpacking import ArchiveMember, read_array

MB = 2**20
ROOM = 400 * MB  # of address space beyond what is loaded
BOMB = 1000 * MB  # what a file would unpack to
MOST_GROWN = 100  # MB; a process that ran into the limit would have grown by more
ALONE = """
import re, resource, sys
from mklviz.datasets import DataError, read_dataset
from mklviz.errors import MklvizError
from mklviz.record.bundle import read_bundle
def peak():
    return int(re.search(r"VmHWM:\\s*(\\d+) kB", open("/proc/self/status").read())[1]) // 1024
content = open(sys.argv[1], "rb").read()
before = peak()
taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + {room}, taken + {room}))
try:
    {read}(content, "bomb")
except (MklvizError, DataError) as error:
    print(peak() - before, error)
"""


def npy(values: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method, compresslevel=9) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def run_of(steps: int, kernels: int) -> bytes:
    """Return a run whose weights are all alike, and no zeros, which would be kept as none."""
    told = {"format": 1, "solver": "level", "label": "Level", "options": {}, "problem": "p", "kernel_names": []}
    told |= {"status": "converged", "reason": "", "facts": [{}] * steps}
    columns = {name: np.ones(steps) for name in ("objective", "lower_bound", "step", "seconds")}
    columns |= {"svm_solves": np.arange(steps), "dual": np.zeros((steps, 2))}
    columns |= {"header": np.frombuffer(json.dumps(told).encode(), np.uint8)}
    columns |= {"weights": np.full((steps, kernels), 0.5)}
    return zipped({f"{name}.npy": npy(values) for name, values in columns.items()})


def belied(name: str, size: int) -> bytes:
    """Return an archive of one member, a bomb that says to unpack to `size` bytes, and to have as long a header."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive, archive.open(name, "w") as member:
        member.write(b"\x93NUMPY\x02\x00" + struct.pack("<I", BOMB))
        for _ in range(BOMB // MB):
            member.write(bytes(MB))
    out = bytearray(file.getvalue())
    at = out.index(b"PK\x01\x02") + 24  # where the directory says it
    out[at : at + 4] = struct.pack("<I", size)
    return bytes(out)


def alone(read: str, content: bytes, path: Path) -> str:
    """Return how a process with little memory refuses a file."""
    path.write_bytes(content)
    program = ALONE.format(read=read, room=ROOM)
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-1000:]
    grown, said = done.stdout.split(" ", 1)
    assert int(grown) < MOST_GROWN
    return said


def test_a_file_of_runs_is_bounded_by_what_all_its_runs_take_together() -> None:
    one = run_of(4, 10_000)
    several = zipped({f"r{k}.mklrun.npz": one for k in range(3)})
    assert len(read_bundle(several, "runs.zip")) == 3
    alone = next(size for size in range(0, 1_000_000, 1000) if _fits(one, size))
    assert 320_000 <= alone <= 360_000  # four rows of ten thousand numbers, and words
    assert not _fits(several, 3 * alone - 3000)
    assert _fits(several, 3 * alone)


def _fits(content: bytes, most_bytes: int) -> bool:
    try:
        return bool(read_bundle(content, "runs.zip", most_bytes))
    except MklvizError:
        return False


@pytest.mark.full
def test_a_small_file_of_runs_that_would_become_gigabytes_is_refused_in_little_memory(tmp_path: Path) -> None:
    one = run_of(2, 5_000_000)  # 80 MB, which one run may have
    many = zipped({f"r{k}.mklrun.npz": one for k in range(30)})
    assert "more than can be opened here" in alone("read_bundle", many, tmp_path / "many")
    for name in ("a.mklrun.npz", "weights.npy"):
        bomb = belied(name, 200)
        assert len(bomb) < 2 * MB
        assert "is not a file of runs" in alone("read_bundle", bomb, tmp_path / "bomb")


@pytest.mark.full
@pytest.mark.parametrize("name", ["X.npy", "y.npy"])
def test_a_small_file_of_data_that_would_become_gigabytes_is_refused_in_little_memory(
    tmp_path: Path, name: str
) -> None:
    assert "cannot be read" in alone("read_dataset", belied(name, 200), tmp_path / "bomb")


def test_no_more_is_read_than_a_member_says_and_an_array_that_is_cut_off_is_never_made() -> None:
    head = npy(np.zeros(4))[:128].replace(b"(4,), ", b"(9,), ")
    with zipfile.ZipFile(io.BytesIO(zipped({"a.npy": head + bytes(32)}))) as archive:
        with pytest.raises(ValueError, match="cut off"):
            read_array(archive, "a.npy")
        with ArchiveMember(archive, "a.npy") as member:
            assert [len(member.read(100)), len(member.read()), len(member.read(5))] == [100, 60, 0]


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_archives_that_cannot_be_unpacked_piece_by_piece_are_refused(method: int) -> None:
    with pytest.raises(MklvizError, match="is not a file of runs"):
        read_bundle(zipped({"a.mklrun.npz": run_of(1, 1)}, method), "runs.zip")
    with pytest.raises(DataError, match="compressed in a way that is not read here"):
        read_dataset(zipped({"X.npy": npy(np.eye(2)), "y.npy": npy(np.arange(2))}, method))
