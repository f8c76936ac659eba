"""A run is in the store from its first second on, can be found, read, described, deleted, and is cut off, not lost."""

import io
import json
import math
import os
import time
from pathlib import Path

import numpy as np
import pytest
from _problems import problem
from _stores import anew, growing, recorded, unfinished
from _waits import wait_for

import mklviz as mv
from mklviz.contract import End, Facts, Iterate
from mklviz.errors import MklvizError
from mklviz.record import Trace
from mklviz.record.run_facts import Verdict
from mklviz.record.store import RunHead, Store, open_store, reset
from mklviz.record.store.frames import write_frame


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
    assert np.array_equal(back.certificate, np.ones(3))
    assert (back.dual_bound, back.end) == (0.5, End("No more."))


def test_a_run_is_known_while_it_goes_on_by_its_trace_and_ended_in_the_store_when_it_has_ended(store: Store) -> None:
    trace = growing()
    recording = store.record({"level": trace}, RunHead(words="data=sonar"))
    (run,) = store.runs("sonar")
    assert (run.status, run.steps, run.id) == ("running", len(trace) - 1, recording.ids["level"])
    assert store.trace(run.id) is trace
    growing(trace)
    assert store.runs()[0].steps == len(trace) - 1
    trace.finish(Verdict("rule", "Enough."))
    end = store.folder / "runs" / recording.ids["level"] / "end.json"
    wait_for(end.exists, "the end of the run on the disk")
    assert json.loads(end.read_text())["status"] == "rule"
    recording.finish({"level": {"score": 0.9}})
    assert anew(store).runs()[0].results == {"score": 0.9}


def test_what_a_table_says_is_what_the_trace_says(store: Store) -> None:
    trace = mv.solve(problem("noisy blobs, C = 10"), "silp", gap=1e-3, seed=3)
    words = {"words": "data=sonar", "data": "Sonar", "name": "mine", "lesson": "silp_oscillates"}
    recording = store.record({"silp": trace}, RunHead(**words, made_by="notebook", owner="o"))
    recording.finish()
    (run,) = anew(store).runs()
    assert (run.solver, run.label, run.seed, run.options) == ("silp", "SILP", 3, trace.options)
    assert (run.steps, run.svm_solves, run.seconds) == (len(trace) - 1, trace.final.svm_solves, trace.last_seconds)
    assert (run.objective, run.lower_bound) == (trace.best.objective, trace.best_bound.lower_bound)
    assert (run.gap, run.active, run.kernels) == (trace.gap[-1], trace.best.active, len(trace.best.weights))
    assert (run.status, run.reason) == ("converged", trace.reason)
    assert (run.problem, run.versions) == (trace.problem, trace.versions)
    assert {name: getattr(run, name) for name in words} == words
    assert (run.made_by, run.owner, run.race, run.key) == ("notebook", "o", recording.race, "silp")
    assert run.machine.cores >= 1
    assert run.machine.id
    assert run.bytes > 0


def test_a_run_without_end_is_cut_off_with_its_steps_where_it_is_not_heard_of_and_else_goes_on(store: Store) -> None:
    run_id = unfinished(store.folder, growing(steps=7), seen=time.time() - 60.0)
    unfinished(store.folder, growing(), seen=time.time())
    assert [run.status for run in store.runs("status:running")] == ["running"]
    (run,) = store.runs("status:cut-off")
    assert (run.id, run.status, run.steps) == (run_id, "cut off", 6)
    trace = store.trace(run_id)
    assert len(trace) == 7
    assert (trace.status, trace.reason) == ("stopped", "The recording ends here, while the run was still going.")


def test_a_recording_that_nobody_follows_any_more_is_cut_off_with_all_its_steps(store: Store) -> None:
    store.record({"level": growing()}, RunHead()).close()
    (run,) = store.runs()
    assert (run.status, run.reason) == ("cut off", "The run was not followed to its end.")
    left = store.record({"spg": growing(steps=20, solver="spg")}, RunHead())
    store = anew(store)  # as a program that ends leaves it
    assert [(run.status, run.steps) for run in store.runs("solver:spg")] == [("cut off", 19)]
    assert len(store.trace(left.ids["spg"])) == 20


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
    assert "Left out: 10 damaged steps." in trace.reason
    store.pack(at_once=True)
    assert len(list(frame.parent.glob("*.frame"))) == (2 if harm == "gone" else 3)


def test_a_last_frame_that_is_damaged_is_told_and_a_run_of_which_nothing_is_left_is_set_aside(store: Store) -> None:
    race = recorded(store)
    (run,) = store.runs()
    folder = store.folder / "runs" / run.id
    write_frame(folder, growing(steps=3), 1, 3)
    write_frame(folder, growing(steps=1), 0, 1)
    (folder / "00000001.frame").write_bytes(b"torn")
    store = anew(store)
    assert (len(store.trace(run.id)), store.trace(run.id).reason) == (
        1,
        "It has ended. Left out: 2 damaged steps.",
    )
    assert store.repair() == ({}, {run.id: 2})
    (folder / "00000000.frame").write_bytes(b"torn")
    for read in (lambda: store.trace(run.id), lambda: store.export([race], io.BytesIO())):
        with pytest.raises(MklvizError, match="none of its steps can be read"):
            read()
    store.pack(at_once=True)
    assert len(list(folder.glob("*.frame"))) == 2
    assert [*store.repair()[0]] == [run.id]


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
    head = RunHead(words="data=heart", data="Heart", lesson="three_kernels", made_by="command line")
    race = recorded(store, head, solver="silp")
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


def test_what_is_said_of_a_race_stays_and_reaches_its_branches_and_other_processes(store: Store) -> None:
    recording = store.record({"level": growing()}, RunHead(name="made up"))
    store.describe(recording.race, name="Mine", pinned=True)
    store.describe(recording.race, tags=["a"])
    recording.add("spg-branch", growing())
    recording.finish()
    assert {run.name for run in store.runs()} == {"Mine"}
    assert set(store.traces(recording.race)) == {"level", "spg-branch"}
    (run,) = (run for run in anew(store).runs() if run.key == "level")
    assert (run.name, run.pinned, run.tags, run.note) == ("Mine", True, ("a",), "")
    with pytest.raises(MklvizError, match="There is no race"):
        open_store(store.folder).describe("nothing", name="x")


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


def test_the_environment_says_where_the_store_is_and_one_that_is_switched_off_keeps_nothing_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MKLVIZ_STORE", str(tmp_path / "elsewhere"))
    reset()
    assert open_store().folder == Path(os.path.realpath(tmp_path / "elsewhere"))
    assert open_store() is open_store(tmp_path / "elsewhere")
    store = open_store("none")
    assert not store.enabled
    assert "switched off" in store.trouble
    recording = store.record({"level": growing()}, RunHead())
    recording.finish()
    assert (recording.ids, store.runs(), store.size) == ({}, [], 0)
    assert not Path("none").exists()
    reset()
