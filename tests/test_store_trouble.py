"""A bad disk, a damaged index, other processes: a race goes on, nothing old is destroyed, and one sentence says why."""

import io
import os
import resource
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
import store_faults
from _stores import anew, growing, recorded, unfinished

from mklviz.errors import MklvizError
from mklviz.record import Trace
from mklviz.record.bundle import read_bundle, write_bundle
from mklviz.record.run_facts import Verdict
from mklviz.record.store import Merged, Owner, RunHead, Store, open_store, reset
from mklviz.record.store.index import VERSION


def index_of(store: Store) -> closing[sqlite3.Connection]:
    return closing(sqlite3.connect(store.folder / "index.sqlite"))


def lives(folder: Path, code: str) -> str:
    """Run a program in another process that has opened the store as `store`; return what it prints."""
    begin = f"from mklviz.record.store import open_store, Owner, RunHead\nstore = open_store({str(folder)!r})\n"
    done = subprocess.run([sys.executable, "-c", begin + code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_race_goes_on_in_memory_where_the_disk_has_gone_and_is_written_when_it_is_back(store: Store) -> None:
    old = recorded(store)
    away = store.folder.with_name("away")
    store.folder.rename(away)
    store.folder.write_text("not a folder")
    trace = growing()
    recording = store.record({"level": trace}, RunHead(words="new"))
    recording.finish()
    assert f"where {store.folder} is a file" in store.trouble
    assert "go on in memory" in store.trouble
    assert [run.status for run in store.runs("new")] == ["running"]
    assert store.trace(recording.ids["level"]) is trace
    growing(trace)
    store.folder.unlink()
    away.rename(store.folder)
    trace.finish(Verdict("converged", "It has ended."))
    recording.finish({"level": {"score": 1.0}})
    assert store.trouble == ""
    store = anew(store)
    assert {run.race for run in store.runs()} == {old, recording.race}
    assert len(store.trace(recording.ids["level"])) == len(trace)


def test_a_race_that_has_ended_in_memory_alone_says_so_and_is_exported(store: Store, tmp_path: Path) -> None:
    store.folder.rename(tmp_path / "away")
    store.folder.write_text("not a folder")
    trace = growing()
    recording = store.record({"level": trace}, RunHead(name="by night"))
    trace.finish(Verdict("converged", "It has ended."))
    recording.finish({"level": {"score": 1.0}})
    (run,) = store.runs()
    assert (run.status, run.results) == ("converged", {"score": 1.0})
    assert "go on in memory" in store.trouble  # and not what is wrong with the index
    store.export([run.race], tmp_path / "runs.zip")
    other = open_store(tmp_path / "other")
    assert other.import_file(tmp_path / "runs.zip") == [run.race for run in other.runs()]
    assert [(each.status, each.name, each.results) for each in other.runs()] == [("converged", "by night", run.results)]
    assert [len(other.trace(each.id)) for each in other.runs()] == [len(trace)]
    store.folder.unlink()


def test_a_folder_that_cannot_be_made_is_said_and_runs_are_known_while_they_go_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    reset()
    store = open_store(tmp_path / "file" / "store")
    assert f"where {tmp_path / 'file'} is a file" in store.trouble
    store.record({"level": growing()}, RunHead())
    assert [run.status for run in store.runs()] == ["running"]
    reset()


def test_what_no_file_can_hold_costs_the_recording_and_not_the_race(store: Store, no_log: None) -> None:
    class Odd:
        def __str__(self) -> str:
            raise RuntimeError("odd")

    trace = Trace("level", options={"odd": Odd()})
    store.record({"level": growing(trace)}, RunHead()).finish()
    assert store.trouble == ""
    recorded(store)
    assert "converged" in {run.status for run in store.runs()}


@pytest.mark.parametrize("content", [b"no database" * 1000, b"", None])
def test_a_damaged_index_is_made_anew_from_the_folders(store: Store, content: bytes | None, no_log: None) -> None:
    race = recorded(store, RunHead(words="data=sonar"))
    if content is None:  # damaged while it is open
        store.runs()
        with index_of(store) as other:
            other.execute("DROP TABLE runs")
            other.commit()
    else:
        reset()
        (store.folder / "index.sqlite").write_bytes(content)
        store = open_store(store.folder)
    assert [run.race for run in store.runs("sonar")] == [race]
    assert content is None or store.trouble == ""
    assert [run.race for run in anew(store).runs()] == [race]


def test_an_index_of_a_newer_version_is_left_alone_and_runs_are_found_all_the_same(store: Store) -> None:
    race = recorded(store)
    store.runs()
    reset()
    index = store.folder / "index.sqlite"
    with index_of(store) as newer:
        newer.execute("PRAGMA user_version = 99")
        newer.commit()
    content = index.read_bytes()
    store = open_store(store.folder)
    assert [run.race for run in store.runs()] == [race]
    assert "newer mklviz" in store.trouble
    recorded(store)
    assert len(store.runs()) == 2
    reset()
    assert index.read_bytes() == content


def test_an_index_of_an_earlier_version_is_made_anew_from_the_folders(store: Store) -> None:
    race = recorded(store)
    store.runs()
    reset()
    with index_of(store) as index:
        index.execute(f"PRAGMA user_version = {VERSION - 1}")
        index.execute("UPDATE runs SET race = 'as it was in that version'")
        index.commit()
    assert [run.race for run in open_store(store.folder).runs()] == [race]
    reset()
    with index_of(store) as index:
        assert index.execute("PRAGMA user_version").fetchone() == (VERSION,)
        assert index.execute("SELECT COUNT(*) FROM runs").fetchone() == (1,)


@pytest.mark.full
def test_a_locked_index_is_said_and_runs_are_found_all_the_same(store: Store) -> None:
    race = recorded(store)
    store.runs()
    reset()
    with index_of(store) as other:
        other.execute("BEGIN EXCLUSIVE")
        store = open_store(store.folder)
        assert [run.race for run in store.runs()] == [race]
        assert "cannot be used" in store.trouble


@pytest.mark.full
def test_another_process_reads_and_writes_beside_the_owner(store: Store) -> None:
    race = recorded(store, RunHead(words="data=sonar", owner="one"))
    store.runs()
    found = "print(*(len(store.of(Owner(owner)).runs('sonar')) for owner in ('one', 'two')), store.trouble)\n"
    said = lives(store.folder, f"{found}store.describe({race!r}, name='from afar')")
    assert said == "1 0"
    assert [run.name for run in store.of(Owner("one")).runs()] == ["from afar"]


def test_a_fork_of_the_owner_records_and_leaves_the_parents_runs_and_index_alone(store: Store) -> None:
    live = store.record({"level": growing()}, RunHead(words="parent"))
    live.finish()
    store.runs()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            recorded(store, RunHead(words="child"))
            code = 0 if len(store.runs()) == 2 and store.trouble == "" else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert {run.words: run.status for run in store.runs()} == {"parent": "running", "child": "converged"}
    live.finish()


def test_a_file_of_runs_goes_from_store_to_store_with_all_that_is_known(store: Store, tmp_path: Path) -> None:
    races = [recorded(store, RunHead(words=f"data=set{k}", name=f"race {k}")) for k in range(2)]
    store.describe(races[0], note="a note", tags=["t"])
    store.export(races, tmp_path / "runs.zip")
    content = (tmp_path / "runs.zip").read_bytes()
    assert set(read_bundle(content, "runs.zip")) == {"race-0-level", "race-1-level"}
    other = open_store(tmp_path / "other")
    taken = other.import_file(tmp_path / "runs.zip")
    assert other.import_file(content, "again.zip") == taken
    assert [(r.name, r.note, r.tags) for r in other.runs()] == [(r.name, r.note, r.tags) for r in store.runs()]
    assert not {r.id for r in other.runs()} & {r.id for r in store.runs()}
    assert not {*taken} & {*races}
    assert sorted(store.import_file(content, "runs.zip")) == sorted(races)  # what is there is not taken in again
    assert len(store.runs()) == 2
    buffer = io.BytesIO()
    store.export(races[:1], buffer)
    assert set(read_bundle(buffer.getvalue(), "one")) == {"level"}


def test_a_file_that_was_saved_is_taken_in_once(store: Store, tmp_path: Path) -> None:
    trace = growing()
    trace.finish(Verdict("limit", "Enough."))
    trace.save(tmp_path / "mine.mklrun.npz")
    bundle = io.BytesIO()
    write_bundle({"level": trace, "level 2": trace}, bundle)
    single = store.import_file(tmp_path / "mine.mklrun.npz")
    several = store.import_file(bundle.getvalue(), "bundle.zip")
    assert store.import_file(bundle.getvalue(), "bundle.zip") == several
    os.utime(tmp_path / "mine.mklrun.npz", (1e9, 1e9))
    assert store.import_file(tmp_path / "mine.mklrun.npz") == single
    store.delete(single[0])
    assert store.import_file(tmp_path / "mine.mklrun.npz") == single
    assert single[0] in {run.race for run in store.runs()}  # what was deleted is there again
    assert len(store.runs()) == 3
    assert set(store.traces(several[0])) == {"level", "level-2"}
    (run,) = store.runs(f"race:{single[0]}")
    assert (run.name, run.status, run.made_by) == ("mine", "limit", "file")


def test_on_a_shared_server_a_file_of_runs_becomes_that_of_whoever_opens_it(store: Store) -> None:
    race = recorded(store, RunHead(owner="one", name="by night"))
    exported, saved = io.BytesIO(), io.BytesIO()
    store.export([race], exported)
    write_bundle(store.traces(race), saved)
    for file in (exported, saved):
        content, owners = file.getvalue(), ("one", "two", "two")
        races = {owner: store.of(Owner(owner)).import_file(content, "runs.zip") for owner in owners}
        assert races["one"] != races["two"]
        for owner, keys in races.items():
            assert [run.owner for key in keys for run in store.runs(f"race:{key}")] == [owner]
    assert len(store.of(Owner("one")).runs()) == len(store.of(Owner("two")).runs()) == 2
    assert {run.name for run in store.of(Owner("two")).runs()} == {"by night", "runs"}
    assert store.of(Owner("one")).import_file(exported.getvalue(), "runs.zip") == [race]


@pytest.mark.parametrize("content", [b"", b"PK", b"no runs at all" * 100])
def test_what_is_no_file_of_runs_is_refused(store: Store, content: bytes, tmp_path: Path) -> None:
    with pytest.raises(MklvizError, match="file of runs"):
        store.import_file(content, "odd.zip")
    with pytest.raises(MklvizError, match="could not be read"):
        store.import_file(tmp_path / "nothing.zip")
    assert store.runs() == []


def test_merging_brings_what_others_know_and_the_newest_word(store: Store, tmp_path: Path) -> None:
    begun = unfinished(store.folder, growing(steps=10), seen=time.time() - 100.0, frames=2)
    other = open_store(tmp_path / "other")
    assert other.merge(store.folder) == Merged(added=1)
    (store.folder / "runs" / begun / "00000005.frame").unlink()
    assert len(store.trace(begun)) == 5
    assert store.merge(other.folder) == Merged(renewed=1)
    assert len(store.trace(begun)) == 10
    race = store.runs()[0].race
    other.runs()
    other.describe(race, name="older")
    store.describe(race, name="newer")
    assert store.merge(other.folder) == Merged()
    assert other.merge(store.folder) == Merged(renewed=1)
    assert {one.runs()[0].name for one in (store, other)} == {"newer"}
    with pytest.raises(MklvizError, match="There is no store"):
        store.merge(tmp_path / "nowhere")


def test_what_a_killed_process_left_half_done_is_not_taken_for_a_run(store: Store) -> None:
    race = recorded(store)
    (store.folder / "runs" / ".20260101T000000-00000000-x.part").mkdir()
    (store.folder / "runs" / "20260101T000000-00000001-x").mkdir()
    assert [run.race for run in store.runs()] == [race]
    with pytest.raises(MklvizError, match="There is no run"):
        store.trace("20260101T000000-00000001-x")


def test_a_full_disk_lets_runs_go_and_takes_the_others_packed_afterwards(store: Store) -> None:
    recorded(store, steps=300)
    store = anew(store)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))  # too little for a packed run
    try:
        with pytest.raises(MklvizError, match=r"full: .* mklviz runs clean --limit-mb N"):
            store.clean(at_once=True)
        assert store.clean(0, at_once=True).runs == 1
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert store.runs() == []


@pytest.mark.full
def test_kills_a_full_disk_and_merging_twice_destroy_nothing() -> None:
    reset()
    assert store_faults.main(["--count", "8", "--seed", "3"]) == 0
