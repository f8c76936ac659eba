"""Whatever a file says of a run, the others are listed; one that cannot be read is shown as damaged and set aside."""

import io
import json
import os
import shutil
import time
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from _stores import anew, growing, recorded, store

from mklviz.cli.commands import main
from mklviz.errors import MklvizError
from mklviz.record import Trace
from mklviz.record.bundle import MOST_KNOWN, bundle_bytes, read_bundle
from mklviz.record.history import short_id, texts_of
from mklviz.record.run_facts import Verdict
from mklviz.record.store import RunHead, Store, open_store
from mklviz.record.store.upkeep import ASIDE
from mklviz.sweeps.member import MemberOutcome
from mklviz.views.history.past_race import races_of, when

__all__ = ["store"]

HUGE, DEEP = 10**400, "[" * 900 + "]" * 900
ODD: list[Any] = [
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


def file_of(told: dict[str, Any], member: str = "level.mklrun.npz") -> bytes:
    """Return a file of one run, of which a store says what is told."""
    run, file = io.BytesIO(), io.BytesIO()
    trace = growing()
    trace.finish(Verdict("converged", "It has ended."))
    trace.save(run)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(member, run.getvalue())
        archive.writestr("runs.json", json.dumps({"version": 1, "runs": {member: told}}))
    return file.getvalue()


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
@pytest.mark.each_value
@pytest.mark.parametrize("part", range(4))  # of what can be said: writing a run takes a while
@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
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
    assert open_store(store.folder).repair() == {}
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
    traces = {key: growing(solver=key) for key in ("level", "spg")}
    recording = store.record(traces, RunHead())
    for trace in traces.values():
        trace.finish(Verdict("converged", "It has ended."))
    recording.finish()
    (store.folder / "runs" / recording.ids["spg"] / "head.json").write_text('{"trace": {"origin": 5}, "race": "x"}')
    assert [*anew(store).traces(recording.race)] == ["level"]


def test_what_a_file_says_of_its_runs_is_as_bounded_as_the_runs(store: Store) -> None:
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


def test_a_file_in_which_one_run_is_damaged_leaves_nothing_half_taken_in(store: Store) -> None:
    file = io.BytesIO(file_of(stated("head", "name", "good")))
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("bad.mklrun.npz", b"PK\x05\x06" + bytes(18))
    with pytest.raises(MklvizError):
        store.import_file(file.getvalue(), "runs.zip")
    assert store.runs() == []


@pytest.mark.parametrize("name", ["x" * 100_000, "\ud800/..\x00\x1b", "é" * 20_000, ""])
def test_names_of_any_length_are_taken_cut_and_exported_again(store: Store, tmp_path: Path, name: str) -> None:
    trace = growing(Trace(name, name, {"seed": 0, name: name}, [name, "b", "c"], name))
    trace.finish(Verdict("limit", "Enough."))
    trace.save(tmp_path / "run.mklrun.npz")
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
