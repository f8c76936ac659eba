"""A run is in the store from its first second on, can be found, read and deleted; a bad disk destroys nothing old."""

import io
import json
import math
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
import store_faults
from _problems import problem
from _stores import anew, growing, recorded, unfinished
from _waits import wait_for

import mklviz as mv
from mklviz.contract import End, Facts, Iterate
from mklviz.errors import MklvizError
from mklviz.record import Trace
from mklviz.record.bundle import read_bundle, write_bundle
from mklviz.record.run_facts import Verdict
from mklviz.record.store import Merged, Owner, RunHead, Store, open_store, reset
from mklviz.record.store.index import VERSION


def same(one: Trace, other: Trace) -> bool:
    """Return whether two traces say the same of every step, bit for bit."""
    columns = ("weights", "dual", "objective", "lower_bound", "gap", "iterate_gap", "step", "svm_solves", "seconds")
    equal = all(np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True) for name in columns)
    words = ("solver", "label", "options", "problem", "recipe", "versions", "origin", "status", "reason")
    told = all(getattr(one, name) == getattr(other, name) for name in words)
    facts = [facts.known() for facts in one.facts] == [facts.known() for facts in other.facts]
    return equal and told and facts and list(one.kernel_names) == list(other.kernel_names)


def test_a_run_is_read_back_bit_for_bit_from_frames_and_packed(store: Store) -> None:
    trace = mv.solve(problem("noisy blobs, C = 10"), "level", gap=1e-4)
    recording = store.record({"level": trace}, RunHead())
    recording.finish()
    run_id = recording.ids["level"]
    assert same(anew(store).trace(run_id), trace)
    open_store(store.folder).pack(at_once=True)
    folder = store.folder / "runs" / run_id
    assert (folder / "run.mklrun.npz").exists()
    assert not list(folder.glob("*.frame"))
    assert same(open_store(store.folder).trace(run_id), trace)
    assert same(Trace.load(folder / "run.mklrun.npz"), trace)


def test_certificates_ends_and_signs_of_zero_stand_in_frames(store: Store) -> None:
    trace = Trace("pgd", "PGD")
    weights = np.zeros(10)
    weights[3], weights[4] = 1.0, -0.0
    iterate = Iterate(weights=weights, dual=np.arange(3.0), objective=2.0, lower_bound=1.0, step=math.nan, svm_solves=1,
                      facts=Facts(svm_tolerance=1e-3), certificate=np.ones(3), dual_bound=0.5,
                      end=End("No more."))  # fmt: skip
    trace.append(iterate, 0.1)
    trace.finish(Verdict("limit", "No more."))
    recording = store.record({"pgd": trace}, RunHead())
    recording.finish()
    back = anew(store).trace(recording.ids["pgd"])[0]
    assert np.array_equal(np.signbit(back.weights), np.signbit(weights))
    assert back.certificate is not None
    assert np.array_equal(back.certificate, np.ones(3))
    assert (back.dual_bound, back.end) == (0.5, End("No more."))


def test_a_run_is_known_while_it_goes_on_and_its_trace_is_the_one_that_grows(store: Store) -> None:
    trace = growing()
    recording = store.record({"level": trace}, RunHead(words="data=sonar"))
    (run,) = store.runs("sonar")
    assert (run.status, run.steps, run.id) == ("running", len(trace) - 1, recording.ids["level"])
    assert store.trace(run.id) is trace
    growing(trace)
    assert store.runs()[0].steps == len(trace) - 1


def test_a_run_that_has_ended_is_ended_in_the_store_without_being_finished(store: Store) -> None:
    trace = growing()
    recording = store.record({"level": trace}, RunHead())
    trace.finish(Verdict("rule", "Enough."))
    end = store.folder / "runs" / recording.ids["level"] / "end.json"
    wait_for(end.exists, "the end of the run on the disk")
    assert json.loads(end.read_text())["status"] == "rule"
    recording.finish({"level": {"score": 0.9}})
    assert anew(store).runs()[0].results == {"score": 0.9}


def test_what_a_table_says_is_what_the_trace_says(store: Store) -> None:
    trace = mv.solve(problem("noisy blobs, C = 10"), "silp", gap=1e-3, seed=3)
    head = RunHead(
        words="data=sonar", data="Sonar", name="mine", lesson="silp_oscillates", made_by="notebook", owner="o"
    )
    recording = store.record({"silp": trace}, head)
    recording.finish()
    (run,) = anew(store).runs()
    assert (run.solver, run.label, run.seed, run.options) == ("silp", "SILP", 3, trace.options)
    assert (run.steps, run.svm_solves, run.seconds) == (len(trace) - 1, trace.final.svm_solves, trace.last_seconds)
    assert (run.objective, run.lower_bound) == (trace.best.objective, trace.best_bound.lower_bound)
    assert (run.gap, run.active, run.kernels) == (trace.gap[-1], trace.best.active, len(trace.best.weights))
    assert (run.status, run.reason, run.problem, run.versions) == (
        "converged",
        trace.reason,
        trace.problem,
        trace.versions,
    )
    assert (run.words, run.data, run.name, run.lesson) == ("data=sonar", "Sonar", "mine", "silp_oscillates")
    assert (run.made_by, run.owner, run.race, run.key) == ("notebook", "o", recording.race, "silp")
    assert run.machine.cores >= 1
    assert run.machine.id
    assert run.machine.calibration > 0.0
    assert run.bytes > 0


def test_a_run_without_end_that_is_not_heard_of_is_cut_off_and_has_its_steps(store: Store) -> None:
    run_id = unfinished(store.folder, growing(steps=7), seen=time.time() - 60.0)
    (run,) = store.runs("status:cut-off")
    assert (run.id, run.status, run.steps) == (run_id, "cut off", 6)
    trace = store.trace(run_id)
    assert len(trace) == 7
    assert (trace.status, trace.reason) == ("stopped", "The recording ends here, while the run was still going.")


def test_a_run_of_another_process_that_is_heard_of_goes_on(store: Store) -> None:
    unfinished(store.folder, growing(), seen=time.time())
    assert [run.status for run in store.runs("status:running")] == ["running"]


def test_a_recording_that_nobody_follows_any_more_is_cut_off(store: Store) -> None:
    recording = store.record({"level": growing()}, RunHead())
    recording.close()
    (run,) = store.runs()
    assert (run.status, run.reason) == ("cut off", "The run was not followed to its end.")


def test_a_program_that_ends_leaves_its_runs_cut_off_with_all_their_steps(store: Store) -> None:
    trace = growing(steps=20)
    recording = store.record({"level": trace}, RunHead())
    store = anew(store)
    assert [(run.status, run.steps) for run in store.runs()] == [("cut off", 19)]
    assert len(store.trace(recording.ids["level"])) == 20


@pytest.mark.parametrize("harm", ["cut", "changed", "gone"])
def test_a_torn_frame_costs_its_steps_and_no_others(store: Store, harm: str) -> None:
    run_id = unfinished(store.folder, growing(steps=30), seen=0.0, frames=3)
    frame = store.folder / "runs" / run_id / "00000010.frame"
    content = frame.read_bytes()
    if harm == "cut":
        frame.write_bytes(content[: len(content) // 2])
    elif harm == "changed":
        at = content.index(np.full(5, 12.0).tobytes())  # in the dual variables
        frame.write_bytes(content[:at] + b"\xff" + content[at + 1 :])
    else:
        frame.unlink()
    trace = store.trace(run_id)
    assert [iterate.svm_solves for iterate in trace] == [*range(10), *range(20, 30)]
    assert "10 steps of it are damaged" in trace.reason


def test_of_a_million_kernels_the_heaviest_keep_their_names(store: Store) -> None:
    m = 30_000
    trace = Trace("level", "Level", kernel_names=tuple(f"gauss {k}" for k in range(m)))
    weights = np.zeros(m)
    weights[[5, 77]] = 0.5
    trace.append(Iterate(weights=weights, dual=np.ones(4), objective=2.0, lower_bound=1.0, step=0.0, svm_solves=1), 0.1)
    trace.finish(Verdict("limit", "Enough."))
    recording = store.record({"level": trace}, RunHead())
    recording.finish()
    back = anew(store).trace(recording.ids["level"])
    assert len(back.kernel_names) == m
    assert [back.kernel_names[k] for k in (5, 77)] == ["gauss 5", "gauss 77"]
    assert back.kernel_names[-1] in ("kernel 30,000", f"gauss {m - 1}")
    assert np.array_equal(back.final.weights, weights)
    frame = store.folder / "runs" / recording.ids["level"] / "00000000.frame"
    assert frame.stat().st_size < 8 * m / 4  # what is zero is not written


def test_words_and_conditions_find_runs(store: Store) -> None:
    recorded(store, RunHead(words="data=sonar; C=10", data="Sonar", name="first"), solver="level")
    recorded(
        store, RunHead(words="data=heart", data="Heart", lesson="three_kernels", made_by="command line"), solver="silp"
    )
    race = store.runs("heart")[0].race
    store.describe(race, note="Odd at the end", tags=["thesis", "chapter 2"])

    def found(where: str) -> list[str]:
        return sorted(run.solver for run in store.runs(where))

    assert found("") == ["level", "silp"]
    assert found("SONAR level") == ["level"]
    assert found("sonar silp") == []
    assert found("solver:silp") == found("data:hea") == found("made:command-line") == found("lesson:three") == ["silp"]
    assert found("tag:thesis") == found('tag:"chapter 2"') == found("odd") == found('"at the end"') == ["silp"]
    assert found(f"race:{race} since:2026-01-01") == ["silp"]
    assert found("gap<1e-30") == []
    assert found("steps>=1 svm<100 seconds<=1e9") == ["level", "silp"]
    assert found("since:2999-01-01") == []
    assert found('"gap<1e-30"') == []  # words, of no run
    assert [run.solver for run in store.runs(order="solver", limit=1)] == ["level"]
    assert [run.solver for run in store.runs(order="-solver", limit=1)] == ["silp"]


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("colour:red", "No run has 'colour'"),
        ("gap<small", "'small' in 'gap<small' is no number"),
        ("solver<3", "'solver' cannot be compared"),
        ("solver:", "Nothing stands behind 'solver:'"),
        ("since:yesterday", "'yesterday' is no date"),
        ('note:"open', "A quotation mark is open"),
        ("pinned:perhaps", "pinned:yes or pinned:no"),
    ],
)
def test_a_wrong_condition_is_explained(store: Store, where: str, said: str) -> None:
    with pytest.raises(MklvizError) as error:
        store.runs(where)
    assert said in str(error.value)
    with pytest.raises(MklvizError, match="ordered by"):
        store.runs(order="colour")


def test_what_is_said_of_a_race_stays_and_reaches_other_processes(store: Store) -> None:
    race = recorded(store, RunHead(name="made up"))
    store.describe(race, name="Mine", pinned=True)
    store.describe(race, tags=["a"])
    (run,) = anew(store).runs()
    assert (run.name, run.pinned, run.tags, run.note) == ("Mine", True, ("a",), "")
    with pytest.raises(MklvizError, match="There is no race"):
        open_store(store.folder).describe("nothing", name="x")


def test_a_branch_is_called_as_its_race_is(store: Store) -> None:
    recording = store.record({"level": growing()}, RunHead())
    store.describe(recording.race, name="Mine")
    recording.add("spg-branch", growing())
    recording.finish()
    assert {run.name for run in store.runs()} == {"Mine"}
    assert set(store.traces(recording.race)) == {"level", "spg-branch"}


def test_deleting_is_undone_for_a_day_and_then_for_good(store: Store) -> None:
    race = recorded(store)
    store.delete(race)
    assert (store.runs(), [run.race for run in store.runs(deleted=True)]) == ([], [race])
    store.restore(race)
    assert [run.race for run in store.runs()] == [race]
    store.delete(race)
    cleaned = store.clean()
    assert cleaned.runs == 1
    assert cleaned.bytes > 0
    assert (store.runs(), store.runs(deleted=True)) == ([], [])
    assert list((store.folder / "runs").iterdir()) == []


def test_the_oldest_unpinned_runs_go_at_the_size_limit(store: Store) -> None:
    races = [recorded(store, RunHead(name=str(number))) for number in range(4)]
    store.describe(races[0], pinned=True)
    live = store.record({"level": growing()}, RunHead(name="live"))
    live.finish()
    size = sum(run.bytes for run in store.runs() if run.name in ("0", "3", "live"))
    store.clean(limit=size)
    assert {run.name for run in store.runs()} == {"0", "3", "live"}
    live.finish()


def test_the_revision_grows_when_something_has_changed_and_only_then(store: Store) -> None:
    race = recorded(store)
    store.runs()
    before = store.revision
    store.runs()
    assert store.revision == before
    store.describe(race, name="x")
    store.runs()
    assert store.revision > before


def test_a_store_that_is_switched_off_keeps_nothing_and_says_so() -> None:
    reset()
    store = open_store("none")
    assert not store.enabled
    assert "switched off" in store.trouble
    recording = store.record({"level": growing()}, RunHead())
    recording.finish()
    assert (recording.ids, store.runs(), store.size) == ({}, [], 0)
    assert not Path("none").exists()
    reset()


def test_the_environment_says_where_the_store_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MKLVIZ_STORE", str(tmp_path / "elsewhere"))
    reset()
    assert open_store().folder == Path(os.path.realpath(tmp_path / "elsewhere"))
    assert open_store() is open_store(tmp_path / "elsewhere")
    reset()


# -- a bad disk, a damaged index, other processes


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
    assert "is missing" in store.trouble
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
    assert "is missing" in store.trouble
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


@pytest.mark.parametrize("content", [b"no database" * 1000, b""])
def test_a_damaged_index_is_made_anew_from_the_folders(store: Store, content: bytes, no_log: None) -> None:
    race = recorded(store, RunHead(words="data=sonar"))
    index = store.folder / "index.sqlite"
    reset()
    index.write_bytes(content)
    store = open_store(store.folder)
    assert [run.race for run in store.runs("sonar")] == [race]
    assert store.trouble == ""
    assert len(list(store.folder.glob("index.damaged-*"))) == (1 if content else 0)


def test_an_index_damaged_while_it_is_open_is_made_anew(store: Store, no_log: None) -> None:
    race = recorded(store)
    store.runs()
    with closing(sqlite3.connect(store.folder / "index.sqlite")) as other:
        other.execute("DROP TABLE runs")
        other.commit()
    assert [run.race for run in store.runs()] == [race]
    assert [run.race for run in anew(store).runs()] == [race]


def test_an_index_of_a_newer_version_is_left_alone_and_runs_are_found_all_the_same(store: Store) -> None:
    race = recorded(store)
    store.runs()
    reset()
    index = store.folder / "index.sqlite"
    with closing(sqlite3.connect(index)) as newer:
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
    with closing(sqlite3.connect(store.folder / "index.sqlite")) as index:
        index.execute(f"PRAGMA user_version = {VERSION - 1}")
        index.execute("UPDATE runs SET race = 'as it was in that version'")
        index.commit()
    assert [run.race for run in open_store(store.folder).runs()] == [race]
    reset()
    with closing(sqlite3.connect(store.folder / "index.sqlite")) as index:
        assert index.execute("PRAGMA user_version").fetchone() == (VERSION,)
        assert index.execute("PRAGMA auto_vacuum").fetchone() == (2,)
        assert index.execute("SELECT COUNT(*) FROM runs").fetchone() == (1,)


@pytest.mark.full
def test_a_locked_index_is_said_and_runs_are_found_all_the_same(store: Store) -> None:
    race = recorded(store)
    store.runs()
    reset()
    with closing(sqlite3.connect(store.folder / "index.sqlite")) as other:
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
    assert [(run.name, run.status, run.made_by) for run in store.runs(f"race:{single[0]}")] == [
        ("mine", "limit", "file")
    ]


def test_on_a_shared_server_a_file_of_runs_becomes_that_of_whoever_opens_it(store: Store) -> None:
    race = recorded(store, RunHead(owner="one", name="by night"))
    exported, saved = io.BytesIO(), io.BytesIO()
    store.export([race], exported)
    write_bundle(store.traces(race), saved)
    for file in (exported, saved):
        races = {
            owner: store.of(Owner(owner)).import_file(file.getvalue(), "runs.zip") for owner in ("one", "two", "two")
        }
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


@pytest.mark.full
def test_kills_a_full_disk_and_merging_twice_destroy_nothing() -> None:
    reset()
    assert store_faults.main(["--count", "8", "--seed", "3"]) == 0
