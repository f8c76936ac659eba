"""A damaged or made-up file is refused in a sentence before it is unpacked, or can be used; it hides no other run."""

import io
import json
import math
import os
import shutil
import struct
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _corpus import belied, member, zipped
from _shown import html_of
from _stores import anew, growing, recorded

import mklviz as mv
from mklviz.cli.commands import main
from mklviz.contract import End, Facts, Iterate
from mklviz.datasets import DataError, read_dataset
from mklviz.errors import MklvizError
from mklviz.record import Trace
from mklviz.record.bundle import MOST_KNOWN, bundle_bytes, read_bundle
from mklviz.record.history import short_id, texts_of
from mklviz.record.run_facts import Verdict
from mklviz.record.store import RunHead, Store, open_store
from mklviz.record.store.upkeep import ASIDE
from mklviz.sweeps.member import MemberOutcome
from mklviz.unpacking import ArchiveMember, read_array
from mklviz.views.history.past_race import races_of, when

Members = dict[str, bytes]

ODD = (None, True, 5, -1, 1e400, 10**400, "x", "", [], [1], [None], {}, {"a": 1}, {"a": []}, {"end": "x"})
COLUMNS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "a number": lambda _: np.array(1.0),
    "nothing": lambda _: np.empty(0),
    "flat": lambda found: found.ravel()[:2],
    "one too many": lambda found: np.concatenate([found, found[-1:]]),
    "one too few": lambda found: found[:-1],
    "deeper": lambda found: found[..., None],
    "words": lambda found: found.astype("U8"),
    "bytes": lambda found: found.astype("S8"),
    "complex": lambda found: found.astype(complex),
    "truth": lambda found: found.astype(bool),
    "dates": lambda found: np.zeros(found.shape, "M8[s]"),
    "objects": lambda found: found.astype(object),
    "records": lambda found: np.zeros(found.shape, [("a", "f8")]),
    "nothing wide": lambda found: np.zeros(found.shape, "V0"),
    "other bytes": lambda found: found.astype(found.dtype.newbyteorder(">")),
    "by columns": lambda found: np.asfortranarray(found),
    "single": lambda found: found.astype(np.float32),
    "nan": lambda found: np.full(found.shape, np.nan),
    "infinite": lambda found: np.full(found.shape, np.inf),
    "negative": lambda found: -1.0 - found,
    "huge": lambda found: np.full(found.shape, 2**62),
    "no steps": lambda found: found[:0],
}


@dataclass(frozen=True, kw_only=True)
class Told(Facts):
    cuts: float = math.nan
    said: str = ""


def tiny() -> Trace:
    trace = Trace(
        "level", "Level", {"seed": 0, "lam": 0.5}, ["one", "two"], "a problem", '{"data": "iris"}', {"a": "1"}
    )
    spent = dict.fromkeys(mv.context.PARTS, 0.1)
    for t in range(3):
        proof = {"certificate": np.full(3, 0.2), "dual_bound": 0.5} if t == 1 else {}
        weights = np.array([0.25 * t, 1.0 - 0.25 * t])
        facts, end = Told(cuts=float(t), said="word"), End("It stood still.") if t == 2 else None
        trace.append(Iterate(weights, np.ones(3), 2.0 - 0.1 * t, 1.0, 0.5, t, facts, **proof, end=end), 0.5 * t, spent)
    trace.finish(Verdict("limit", "It ended."))
    return trace


def saved(found: Any) -> bytes:
    file = io.BytesIO()
    found.save(file)
    return file.getvalue()


def members(file: bytes) -> Members:
    with zipfile.ZipFile(io.BytesIO(file)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


packed = partial(zipped, method=zipfile.ZIP_STORED)


def with_header(contents: Members, told: Any) -> bytes:
    return packed(contents | {"header.npy": member(np.frombuffer(json.dumps(told).encode(), np.uint8))})


def header_of(contents: Members) -> dict[str, Any]:
    return json.loads(np.load(io.BytesIO(contents["header.npy"])).tobytes())  # type: ignore[no-any-return]


def cut(file: bytes) -> Iterator[bytes]:
    yield from (file[:length] for length in np.linspace(0, len(file) - 1, 150).astype(int))


def flipped(file: bytes, count: int, seed: int) -> Iterator[bytes]:
    draw = np.random.default_rng(seed)
    for _ in range(count):
        damaged = bytearray(file)
        damaged[draw.integers(len(file))] ^= 1 << draw.integers(8)
        yield bytes(damaged)


def flipped_inside(contents: Members) -> Iterator[bytes]:
    """Flip bits beneath the archive's checksums."""
    for seed, (name, content) in enumerate(contents.items()):
        yield from (packed(contents | {name: damaged}) for damaged in flipped(content, 15, seed))


def other_words(contents: Members) -> Iterator[bytes]:
    told = header_of(contents)
    yield from (with_header(contents, odd) for odd in (*ODD, "[" * 10_000))
    for key, value in told.items():
        yield with_header(contents, {name: kept for name, kept in told.items() if name != key})
        for odd in ODD:
            yield with_header(contents, told | {key: odd})
            if isinstance(value, list):
                yield with_header(contents, told | {key: [odd, *value[1:]]})
            if isinstance(value, dict):
                yield with_header(contents, told | {key: {**value, "odd": odd}})
    for odd in ODD:
        yield with_header(contents, told | {"facts": [{"cuts": odd}, *told["facts"][1:]]})


def other_columns(contents: Members) -> Iterator[bytes]:
    for name, content in contents.items():
        yield packed({key: kept for key, kept in contents.items() if key != name})
        values = np.load(io.BytesIO(content))
        with np.errstate(all="ignore"):
            yield from (packed(contents | {name: member(change(values))}) for change in COLUMNS.values())


def damages() -> list[bytes]:
    file = saved(tiny())
    contents = members(file)
    found = [*cut(file), *flipped(file, 300, 99), *flipped_inside(contents), *other_words(contents)]
    return [*found, *other_columns(contents)]


def use(trace: Trace) -> None:
    """Do with a trace whatever others do."""
    with np.errstate(all="ignore"):  # numbers may be anything
        for name in ("weights", "dual", "objective", "gap", "iterate_gap", "svm_solves", "seconds", "active", "split"):
            getattr(trace, name)
        assert isinstance(repr(trace) + html_of(trace) + str(trace.motion), str)
        assert len(trace.to_frame()) == len(trace)
        assert (trace.seed, trace.shares) is not None
        if len(trace):
            assert len(trace.best_start.weights) == len(trace.final.weights)
        assert len(Trace.load(io.BytesIO(saved(trace)))) == len(trace)


def test_the_undamaged_file_comes_back() -> None:
    again = Trace.load(io.BytesIO(packed(members(saved(tiny())))))
    use(again)
    assert [iterate.facts.known() for iterate in again] == [iterate.facts.known() for iterate in tiny()]
    assert [iterate.end for iterate in again] == [None, None, End("It stood still.")]


@pytest.mark.full
def test_whatever_is_damaged_only_our_own_error_comes_out() -> None:
    files, refused = damages(), 0
    assert len(files) >= 1000
    for file in files:
        try:
            found = Trace.load(io.BytesIO(file))
        except MklvizError:
            refused += 1
        else:
            use(found)
    assert refused > 0.5 * len(files)


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: repr(odd)[:20])
def test_a_path_with_odd_words_is_refused_or_can_be_used(odd: Any) -> None:
    path = mv.Path("C", True)
    path.append(2.0, tiny())
    path.append(1.0, tiny())
    path.complete = True
    contents = members(saved(path))
    told = json.loads(contents["path.json"])
    for other in (odd, *({**told, key: odd} for key in told), {**told, "values": [odd, 1.0]}):
        try:
            file = packed(contents | {"path.json": json.dumps(other).encode()})
            found = mv.Path.load(io.BytesIO(file))
        except MklvizError:
            continue
        assert isinstance(repr(found) + str(html_of(found)), str)
        assert len(found.to_frame()) == len(found.rows()) == len(found)
        assert len(mv.Path.load(io.BytesIO(saved(found)))) == len(found)


# What an archive says of itself, and what it unpacks to


MB = 2**20
ROOM = 400 * MB  # of address space beyond what is loaded
BOMB = 600 * MB  # what a file would unpack to
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


def run_of(steps: int, kernels: int) -> bytes:
    """Return a run whose weights are all alike, and no zeros, which would be kept as none."""
    told = {"format": 1, "solver": "level", "label": "Level", "options": {}, "problem": "p", "kernel_names": []}
    told |= {"status": "converged", "reason": "", "facts": [{}] * steps}
    columns = {name: np.ones(steps) for name in ("objective", "lower_bound", "step", "seconds")}
    columns |= {"svm_solves": np.arange(steps), "dual": np.zeros((steps, 2))}
    columns |= {"header": np.frombuffer(json.dumps(told).encode(), np.uint8)}
    columns |= {"weights": np.full((steps, kernels), 0.5)}
    return zipped({f"{name}.npy": member(values) for name, values in columns.items()})


def bomb_in(name: str, size: int = 200) -> bytes:
    """Return an archive of one member, a bomb that says to unpack to `size` bytes, and to have as long a header."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive, archive.open(name, "w") as member:
        member.write(b"\x93NUMPY\x02\x00" + struct.pack("<I", BOMB))
        for _ in range(BOMB // MB):
            member.write(bytes(MB))
    return belied(file.getvalue(), size)


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
    many = zipped({f"r{k}.mklrun.npz": one for k in range(6)})
    assert "more than can be opened here" in alone("read_bundle", many, tmp_path / "many")
    for name in ("a.mklrun.npz", "header.npy"):
        bomb = bomb_in(name)
        assert len(bomb) < 2 * MB
        assert "is not a file of runs" in alone("read_bundle", bomb, tmp_path / "bomb")


@pytest.mark.full
@pytest.mark.parametrize("name", ["X.npy", "y.npy"])
def test_a_small_file_of_data_that_would_become_gigabytes_is_refused_in_little_memory(
    tmp_path: Path, name: str
) -> None:
    assert "cannot be read" in alone("read_dataset", bomb_in(name), tmp_path / "bomb")


def test_no_more_is_read_than_a_member_says_and_an_array_that_is_cut_off_is_never_made() -> None:
    head = member(np.zeros(4))[:128].replace(b"(4,), ", b"(9,), ")
    with zipfile.ZipFile(io.BytesIO(zipped({"a.npy": head + bytes(32)}))) as archive:
        with pytest.raises(ValueError, match="cut off"):
            read_array(archive, "a.npy")
        with ArchiveMember(archive, "a.npy") as part:
            assert [len(part.read(100)), len(part.read()), len(part.read(5))] == [100, 60, 0]


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_archives_that_cannot_be_unpacked_piece_by_piece_are_refused(method: int) -> None:
    with pytest.raises(MklvizError, match="is not a file of runs"):
        read_bundle(zipped({"a.mklrun.npz": run_of(1, 1)}, method), "runs.zip")
    with pytest.raises(DataError, match="compressed in a way that is not read here"):
        read_dataset(zipped({"X.npy": member(np.eye(2)), "y.npy": member(np.arange(2))}, method))


# -- whatever a file says of a run, the others are listed


HUGE, DEEP = 10**400, "[" * 900 + "]" * 900
ODD_WORDS: list[Any] = [
    *(None, True, -1, 5, 10**30, HUGE, 1e308, float("nan"), float("inf"), "", "\ud800 \x1b[2J \u202e", "x" * 100_000),
    *([], [5], {}, {"a": {"b": []}}, json.loads(DEEP)),
]
TOLD = {
    "head": ("race", "key", "created", "name", "owner", "machine", "trace", "sweep", "member", "words"),
    "trace": ("solver", "label", "options", "problem", "recipe", "versions", "origin"),
    "end": ("status", "reason", "ended", "results", "numbers"),
    "numbers": ("steps", "svm_solves", "seconds", "objective", "lower_bound", "gap", "active", "kernels"),
    "about": ("name", "note", "tags", "pinned", "deleted", "changed"),
}


def stated(what: str, name: str, odd: Any, number: int = 1) -> dict[str, Any]:
    """Return what a file may say of a run, with one odd value."""
    trace = {"solver": "level", "label": "Level"} | ({name: odd} if what == "trace" else {})
    head = {"race": "odd", "key": "level", "created": 1.7e9, "trace": trace} | ({name: odd} if what == "head" else {})
    numbers = {"steps": 2} | ({name: odd} if what == "numbers" else {})
    end = {"status": "converged", "numbers": numbers, "results": {"score": odd, "fit_seconds": odd}}
    return {
        "id": f"20261124T083207-{number:08}-level",
        "head": head,
        "end": end | ({name: odd} if what == "end" else {}),
        "about": {"note": "said"} | ({name: odd} if what == "about" else {}),
    }


def ended(trace: Trace) -> Trace:
    trace.finish(Verdict("converged", "It has ended."))
    return trace


def file_of(told: dict[str, Any], member: str = "level.mklrun.npz") -> bytes:
    """Return a file of one run, of which a store says what is told."""
    known = json.dumps({"version": 1, "runs": {member: told}}).encode()
    return packed({member: saved(ended(growing())), "runs.json": known})


def everything_said(store: Store) -> int:
    """Say all that tables and lists say of all runs; return how many there are."""
    runs = [*store.runs(), *store.runs(deleted=True)]
    for race in races_of(runs).values():
        assert all((race.name, race.state, race.result, race.lines, when(race.first.created, datetime.now(UTC))))
    for run in runs:
        assert all(len(text) <= 1001 for text in texts_of(run))
        assert isinstance(MemberOutcome.stored(run).fits, float)
        json.dumps(vars(run), default=str).encode()
    return len(runs)


@pytest.mark.full
@pytest.mark.each_value("release")
@pytest.mark.parametrize("part", range(4))  # of what can be said: writing a run takes a while
@pytest.mark.parametrize("odd", ODD_WORDS, ids=range(len(ODD_WORDS)))
def test_whatever_a_file_says_of_a_run_all_runs_are_listed_by_every_process(store: Store, odd: Any, part: int) -> None:
    race, taken = recorded(store), 0
    said = [(what, name) for what, names in TOLD.items() for name in names]
    for number, (what, name) in enumerate(said[part::4]):
        try:
            store.import_file(file_of(stated(what, name, odd, number)), "odd.zip")
            taken += 1
        except MklvizError:
            continue  # a sentence is as good
    assert everything_said(store) == 1 + taken
    for number, what in enumerate(TOLD):  # as another program may have written it
        folder = store.folder / "runs" / f"20261124T083207-1000000{number}-level"
        shutil.copytree(next((store.folder / "runs").glob("*-level")), folder)
        for name, path in (("head", "head.json"), ("end", "end.json"), ("about", "about.json")):
            (folder / path).write_text(json.dumps(stated(what, TOLD[what][0], odd)[name]))
    other = anew(store)
    assert everything_said(other) == 1 + taken + len(TOLD)
    assert len(other.traces(race)["level"]) == 3


def test_the_command_line_prints_what_nobody_could_have_written(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    for odd in ("\ud800\x1b[2J", HUGE, json.loads(DEEP)):
        store.import_file(file_of(stated("trace", "recipe", odd)), "odd.zip")
        key = short_id(store.runs()[0].id)
        for words in (["list"], ["list", "--json"], ["show", key], ["show", key, "--json"]):
            assert main(["runs", *words, "--store", str(store.folder)]) == 0
            assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("file", "content"), [("head.json", b"{"), ("run.mklrun.npz", b"PK\x03\x04"), ("run.mklrun.npz", None)]
)
def test_a_damaged_run_is_shown_hides_no_other_and_is_set_aside(
    store: Store, tmp_path: Path, file: str, content: bytes | None
) -> None:
    good, bad = recorded(store, RunHead(name="good")), recorded(store, RunHead(name="bad"))
    store = anew(store)
    store.pack(at_once=True)
    (run,) = store.runs("name:bad")
    path = store.folder / "runs" / run.id / file
    whole = path.read_bytes()
    middle = len(whole) // 3
    path.write_bytes(content or whole[:middle] + bytes(200) + whole[middle + 200 :])
    os.utime(path.parent, (1.0, 1.0))  # it is not being written any more
    store = anew(store)
    if file != "head.json":
        with pytest.raises(MklvizError, match="is not a run"):
            store.trace(run.id)
    (shown,) = [each for each in store.runs() if each.id == run.id]
    assert (shown.status, "mklviz runs repair" in shown.reason) == ("damaged", True)
    assert [each.status for each in store.runs("name:good")] == ["converged"]
    assert store.export([good, shown.race], tmp_path / "runs.zip") == 1
    with pytest.raises(MklvizError, match="cannot be read"):
        store.export([shown.race], tmp_path / "none.zip")
    store.delete(shown.race)
    store.restore(shown.race)
    os.utime(path.parent, (1.0, 1.0))
    assert main(["runs", "repair", "--store", str(store.folder)]) == 0
    assert [each.name for each in anew(store).runs()] == ["good"]
    assert (store.folder / ASIDE / run.id / "head.json").exists()
    assert open_store(store.folder).repair() == ({}, {})
    assert bad != good


def test_a_run_whose_file_is_mended_is_damaged_no_more(store: Store) -> None:
    recorded(store, RunHead())
    store = anew(store)
    store.pack(at_once=True)
    (run,) = store.runs()
    (packed,) = (store.folder / "runs" / run.id).glob("*.npz")
    whole = packed.read_bytes()
    packed.write_bytes(b"no run")
    with pytest.raises(MklvizError):
        store.trace(run.id)
    assert [each.status for each in store.runs()] == ["damaged"]
    packed.write_bytes(whole)
    assert len(store.trace(run.id))
    assert [each.status for each in store.runs()] == ["converged"]
    assert [each.status for each in anew(store).runs()] == ["converged"]


def test_one_damaged_run_of_a_race_does_not_hide_the_others(store: Store, no_log: None) -> None:
    recording = store.record({key: ended(growing(solver=key)) for key in ("level", "spg")}, RunHead())
    recording.finish()
    (store.folder / "runs" / recording.ids["spg"] / "head.json").write_text('{"trace": {"origin": 5}, "race": "x"}')
    assert [*anew(store).traces(recording.race)] == ["level"]


def test_a_file_in_which_one_run_is_damaged_or_too_much_is_said_leaves_nothing_half_taken_in(store: Store) -> None:
    file = io.BytesIO(file_of(stated("head", "name", "good")))
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("bad.mklrun.npz", b"PK\x05\x06" + bytes(18))
    with pytest.raises(MklvizError):
        store.import_file(file.getvalue(), "runs.zip")
    assert store.runs() == []
    file = file_of(stated("head", "note", " " * 3 * MOST_KNOWN))
    assert bundle_bytes(file, "runs.zip") > MOST_KNOWN  # objects take more memory than the words they are made of
    with pytest.raises(MklvizError, match="more than can be opened"):
        store.import_file(file, "runs.zip")
    header = json.dumps({"format": 1, "facts": [{}] * 2_000_000}).encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        head = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({len(header)},), }}".ljust(117) + "\n"
        archive.writestr("header.npy", b"\x93NUMPY\x01\x00v\x00" + head.encode() + header)
    with pytest.raises(MklvizError, match="more than can be opened"):
        read_bundle(packed.getvalue(), "facts.npz")


@pytest.mark.parametrize("name", ["x" * 100_000, "\ud800/..\x00\x1b", "é" * 20_000, ""])
def test_names_of_any_length_are_taken_cut_and_exported_again(store: Store, tmp_path: Path, name: str) -> None:
    trace = growing(Trace(name, name, {"seed": 0, name: name}, [name, "b", "c"], name))
    ended(trace).save(tmp_path / "run.mklrun.npz")
    (race,) = store.import_file(tmp_path / "run.mklrun.npz")
    store.describe(race, name=name, note=name, tags=[name])
    assert everything_said(store) == 1
    store.export([race, recorded(store)], tmp_path / "again.zip")
    other = open_store(tmp_path / "other")
    assert len(other.import_file(tmp_path / "again.zip")) == 2
    assert everything_said(other) == 2
    assert len(read_bundle((tmp_path / "again.zip").read_bytes(), "again.zip")) == 2


def test_a_run_that_says_it_was_seen_in_the_future_is_cut_off_like_others(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = stated("head", "created", time.time() + 1e6) | {"end": {}}
    store.import_file(file_of(told), "odd.zip")
    monkeypatch.setattr("mklviz.record.store.stored.CUT_OFF_SECONDS", -1.0)
    assert [run.status for run in store.runs()] == ["cut off"]
