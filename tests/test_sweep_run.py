"""A sweep that is killed, paused or ended goes on where it stood; workers that die cost no finished run."""

import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from _problems import ran
from _stores import recorded
from _waits import PATIENCE, wait_for, wait_until_still

import mklviz as mv
from mklviz.cli.commands import main
from mklviz.errors import MklvizError, SolverError
from mklviz.numbers import duration_text
from mklviz.record import Trace
from mklviz.record.store import Owner, Store, open_store, reset
from mklviz.record.store.folder import BEGUN, FREE, HELD, LOCKS, Claims
from mklviz.sweeps import Member, Processes, Shard, Sweep, SweepRun, SweepTable
from mklviz.sweeps.engine import CANCEL, MemberQueue, SweepCommand, Work
from mklviz.sweeps.member import MemberOutcome
from mklviz.sweeps.solving import _scored, solve_member

QUICK = "data=heart,vote; split=0,1; solvers=level,newton; kernels=gauss:1,2@all"
LONG = "data=sonar; split=0...3; solvers=silp; gap=none; max-iter=none; max-seconds=600"


@pytest.fixture(scope="module")
def engine() -> Iterator[Processes]:
    """Two processes that serve whatever test gives them work, as each takes seconds to start."""
    with Processes(2) as kept:
        yield kept


class Here:
    """Solves members by a function, in the thread of the sweep."""

    workers = 1

    def __init__(self, status: str = "converged") -> None:
        self.status, self.solved = status, list[str]()

    def share(self, members: tuple[Member, ...]) -> tuple[Member, ...]:
        return tuple(members)

    def run(self, work: Work) -> None:
        while (member := work.queue.take(0)) is not None:
            work.begun(member)
            self.solved.append(member.key)
            work.ended(member, MemberOutcome(member.key, self.status))


class Recorded(Here):
    """Records that it has solved them."""

    def run(self, work: Work) -> None:
        while (member := work.queue.take(0)) is not None:
            self.solved.append(member.key)
            recorded(work.store, work.head(member), member.solver)


@pytest.mark.full
def test_a_large_test_part_is_scored_on_some_of_its_samples_evenly_spaced() -> None:
    prepared = mv.Recipe().changed(source="letter", train=0.01).prepare()
    some = _scored(prepared)
    assert some.test.n_samples == len(some.cross) == 4950
    assert np.array_equal(some.test.y, prepared.test.y[::4])
    best = mv.solve(prepared.problem, "level", gap=0.1).best
    assert some.score(best) == pytest.approx(prepared.score(best), abs=0.02)
    small = mv.Recipe().changed(source="heart").prepare()
    assert _scored(small) is small


@pytest.mark.full
def test_processes_solve_every_member_and_nothing_finished_is_solved_again(store: Store, engine: Processes) -> None:
    sweep = Sweep.from_words(QUICK)
    run = ran(SweepRun(sweep, store.of(Owner("somebody")), engine))
    assert run.error is None
    assert run.status == "finished"
    frame = run.table().frame
    assert frame.status.tolist() == ["converged"] * 8
    assert (frame.fits > 0).all()
    assert (frame.score > 0.5).all()
    assert frame.machine.nunique() == 1
    assert SweepTable.of(store, sweep).frame.equals(frame)
    assert {each.owner for each in store.runs()} == {"somebody"}
    for member, row in zip(sweep.members[:2], frame.itertuples(), strict=False):
        trace = store.trace(row.run)
        assert trace.objective.tolist() == mv.solve(member.recipe.prepare().problem, member.solver).objective.tolist()
        assert trace.best.objective == row.objective
    assert len({each.race for each in store.runs()}) == 4
    again = Here()
    assert ran(SweepRun(sweep, store, again)).progress.skipped == 8
    assert again.solved == []
    wider = Here()  # another sweep, with some of the same members
    ran(SweepRun(Sweep.from_words(QUICK.replace("split=0,1", "split=0...2")), store, wider))
    assert len(wider.solved) == 4


@pytest.mark.full
def test_a_path_is_solved_with_warm_starts_and_goes_on_where_it_was_ended(store: Store, engine: Processes) -> None:
    words = "data=heart; kernels=gauss:1,2,4@all; C=100,50,10; solvers=level,newton; gap=1e-4; path=C"
    sweep = Sweep.from_words(words)
    first = ran(SweepRun(Sweep.from_words(words.replace("100,50,10", "100,50")), store, engine)).table()
    # a unit for each path
    assert len({(member.path, outcome.results["fit_seconds"]) for member, outcome in first}) == 2
    run = ran(SweepRun(sweep, store, engine))
    assert run.progress.skipped == 4
    table = run.table()
    problem = sweep.recipe.prepare().problem
    assert len(repr(table).splitlines()) <= 20
    assert repr(table).endswith(f"{len(table)} of {len(table)} runs")
    for solver, rows in table.frame.groupby("solver"):
        path = mv.path(problem, str(solver), gap=1e-4, C=[100, 50, 10])
        assert rows.objective.tolist() == pytest.approx(path.objective.tolist(), rel=1e-4)  # the gap asked for
        traces = [store.trace(run) for run in rows.run]
        for before, after in pairwise(traces):
            np.testing.assert_allclose(after[0].weights, before.best.weights, rtol=1e-12)


@pytest.mark.full
def test_a_killed_worker_costs_its_run_alone_again_and_again_until_all_have_finished(store: Store) -> None:
    sweep = Sweep.from_words(LONG.replace("600", "1.5").replace("0...3", "0...2"))
    engine, killed = Processes(1), list[int]()
    run = SweepRun(sweep, store, engine)
    run.start()
    while not run.wait(0.05):
        if run.progress.done >= len(killed) and store.runs("status:running"):
            for pid in engine.pids:
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
    assert len(killed) >= 2
    assert set(killed).isdisjoint(engine.pids)
    assert run.table().frame.status.tolist() == ["limit"] * 3
    runs = store.runs("made:sweep")
    assert {each.status for each in runs} == {"limit", "cut off"}  # at once: its lock has gone
    ended_runs = [each.member for each in runs if each.status == "limit"]
    assert len(ended_runs) == len(set(ended_runs)) == 3


@pytest.mark.full
def test_a_pause_holds_the_steps_resume_goes_on_and_what_was_stopped_is_repeated(store: Store) -> None:
    sweep = Sweep.from_words(LONG)
    run = SweepRun(sweep, store, workers=2)
    run.start()
    wait_for(lambda: len([each for each in store.runs("status:running") if each.steps]) == 2, "steps of two runs")
    run.pause()
    assert run.status == "paused"

    going = [each.id for each in store.runs("status:running")]

    def steps() -> list[int]:
        return [store.runs(f"run:{id}")[0].steps for id in going]

    held = wait_until_still(steps, "no more steps", quiet=2.5)
    assert len(held) == 2
    run.resume()
    wait_for(lambda: all(now > before for now, before in zip(steps(), held, strict=True)), "steps again")
    run.cancel()
    assert run.wait(PATIENCE)
    assert (run.status, len(run.table())) == ("stopped", 0)
    again = Here()
    ran(SweepRun(sweep, store, again))
    assert len(again.solved) == 4


@pytest.mark.full
def test_what_cannot_be_solved_is_a_row_with_its_reason_repeated_when_asked(store: Store, engine: Processes) -> None:
    sweep = Sweep.from_words("data=iris; solvers=level; kernels=gauss:1@all")
    frame = ran(SweepRun(sweep, store, engine)).table().frame
    assert frame.status.tolist() == ["failed"]
    assert "more than two classes" in frame.reason[0]
    again, retried = Here(), Here()
    assert ran(SweepRun(sweep, store, again)).progress.failed == 1
    ran(SweepRun(sweep, store, retried, retry=True))
    assert (len(again.solved), len(retried.solved)) == (0, 1)


def test_shares_solved_apart_and_merged_from_copied_folders_are_the_whole_sweep(tmp_path: Path) -> None:
    sweep, whole = Sweep.from_words(QUICK), open_store(tmp_path / "whole")
    for k in (1, 2):
        ran(SweepRun(sweep, open_store(tmp_path / str(k)), Shard(f"{k}/2", Recorded())))
    reset()
    for k in (1, 2):
        shutil.copytree(tmp_path / str(k), tmp_path / f"copy-{k}")
        open_store(tmp_path / "whole").merge(tmp_path / f"copy-{k}")
    whole = open_store(tmp_path / "whole")
    assert len(SweepTable.of(whole, sweep)) == len(sweep) == 8
    left = Here()
    ran(SweepRun(sweep, whole, left))
    assert left.solved == []
    reset()


def test_without_distributed_a_sweep_is_solved_in_this_process_and_says_so(
    without: Callable[[str], None], capsys: pytest.CaptureFixture[str], store: Store
) -> None:
    without("distributed")
    table = mv.sweep("data=heart; kernels=gauss:1,2@all", store=store, workers=2, solvers=["level", "newton"])
    assert table.frame.status.tolist() == ["converged"] * 2
    assert SweepTable.of(store, table.sweep).frame.equals(table.frame)
    assert "distributed is not installed" in capsys.readouterr().err
    alone = mv.sweep("data=heart; kernels=gauss:1,2@all", store="none", solvers=["level", "newton"])
    assert (alone.frame.status.tolist(), alone.frame.run.tolist()) == (["converged"] * 2, ["", ""])


def processes_of(session: str) -> list[int]:
    """Return the processes of sweeps whose environment has that word."""
    word = f"SWEEP_TEST={session}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if word in (folder / "environ").read_bytes():
                found.append(int(folder.name))
    return found


@pytest.mark.full
def test_an_unguarded_script_sweeps_quietly_and_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    script = tmp_path / "script.py"
    script.write_text(
        "import mklviz as mv\nprint('once')\n"
        f"print(len(mv.sweep({QUICK.replace(',vote', '')!r}, workers=2, store={str(tmp_path / 'store')!r})))\n"
    )
    environment = {**os.environ, "SWEEP_TEST": str(tmp_path), "TMPDIR": str(tmp_path / "here")}
    words = {"cwd": tmp_path / "here", "env": environment, "capture_output": True, "text": True}
    done = subprocess.run([sys.executable, script], **words)
    assert (done.returncode, done.stdout) == (0, "once\n4\n")
    assert [line for line in done.stderr.splitlines() if "runs" not in line] == []
    assert [*(tmp_path / "here").iterdir()] == []
    assert processes_of(str(tmp_path)) == []


@pytest.mark.full
def test_a_killed_command_leaves_no_processes_and_its_runs_are_repeated(tmp_path: Path) -> None:
    environment = {**os.environ, "SWEEP_TEST": str(tmp_path)}
    arguments = ["sweep", LONG, "--workers", "2", "--store", str(tmp_path / "store")]
    with subprocess.Popen([sys.executable, "-m", "mklviz", *arguments], env=environment) as command:
        store = open_store(tmp_path / "store")
        wait_for(lambda: store.runs("status:running"), "a run")
        assert len(processes_of(str(tmp_path))) == 3
        command.kill()
    wait_for(lambda: not processes_of(str(tmp_path)), "the end of the workers")
    wait_for(lambda: not store.runs("status:running"), "runs that were cut off")
    assert {run.status for run in store.runs()} == {"cut off"}
    reset()


def test_who_does_not_know_the_secret_cannot_reach_the_workers() -> None:
    local_cluster = pytest.importorskip("mklviz.sweeps.local_cluster")
    workers = local_cluster.LocalWorkers(0)
    try:
        host, port = workers.client.scheduler.address.removeprefix("mklviz://").split(":")
        with socket.create_connection((host, int(port))) as stranger:
            stranger.settimeout(PATIENCE)
            stranger.sendall(b"x" * 32)
            assert stranger.recv(1) == b""
    finally:
        workers.end()


@pytest.mark.full
def test_processes_that_cannot_begin_are_an_error_and_no_loop(monkeypatch: pytest.MonkeyPatch, no_log: None) -> None:
    monkeypatch.setattr("mklviz.sweeps.local_cluster._PROGRAM", "raise SystemExit(1)")
    run = ran(SweepRun(Sweep.from_words(QUICK), None, workers=2))
    assert run.status == "failed"
    assert isinstance(run.error, SolverError)
    with pytest.raises(SolverError, match="one after another"):
        mv.sweep(QUICK, store="none", workers=2)


def test_the_time_that_is_left_is_guessed_from_what_the_solvers_took() -> None:
    sweep = Sweep.from_words(QUICK)
    run = SweepRun(sweep, None, Here())
    assert run.progress.total == 8
    assert run.progress.seconds_left != run.progress.seconds_left
    assert ran(run).progress.seconds_left == 0.0
    assert [duration_text(seconds) for seconds in (0.2, 3.2, 600.0, 9000.0)] == ["1 s", "3 s", "10 min", "2.5 h"]


@pytest.mark.parametrize("workers", [0, -1, 1.5, "two"])
def test_workers_are_counted(workers: object) -> None:
    with pytest.raises(MklvizError, match="whole number"):
        Processes(workers)  # type: ignore[arg-type]


@pytest.mark.full
def test_on_a_shared_server_a_sweep_and_its_races_are_those_of_one_owner(store: Store) -> None:
    sweep = Sweep.from_words(QUICK)
    one, two = store.of(Owner("one")), store.of(Owner("two"))
    for mine in (store, one, two):
        solver = Recorded()
        ran(SweepRun(sweep, mine, solver))
        assert len(solver.solved) == 8
    assert ran(SweepRun(sweep, one, Recorded())).progress.skipped == 8
    races = [{run.race for run in mine.runs()} for mine in (one, two, store)]
    assert [len(each) for each in races] == [4, 4, 12]
    assert {outcome.run for _, outcome in SweepTable.of(one, sweep)} == {run.id for run in one.runs()}


@pytest.mark.full
def test_two_sweeps_at_once_share_the_work_and_both_have_all_results(store: Store, engine: Processes) -> None:
    sweep = Sweep.from_words(QUICK)
    runs = [SweepRun(sweep, store, each) for each in (engine, Processes(1))]
    for run in runs:
        run.start()
    for run in runs:
        assert run.wait(PATIENCE)
        assert run.table().frame.status.tolist() == ["converged"] * 8
    assert len(store.runs()) == 8


def test_another_owners_sweep_is_no_reason_to_wait(store: Store) -> None:
    sweep = Sweep.from_words(QUICK)
    with closing(Claims(store.folder / LOCKS)) as theirs:
        assert theirs.take(f"{sweep.members[0].key}-somebody"[:73]) == FREE
        mine = Here()
        ran(SweepRun(sweep, store.of(Owner("me")), mine))
    assert len(mine.solved) == 8


@pytest.mark.full
def test_what_a_process_has_claimed_is_taken_over_when_that_is_killed_and_solved_where_it_was_not(
    store: Store, engine: Processes
) -> None:
    member, *others = Sweep.from_words(QUICK).members
    code = (
        "import time\nfrom pathlib import Path\nfrom mklviz.record.store.folder import LOCKS, Claims\n"
        f"claims = Claims(Path({str(store.folder)!r}) / LOCKS)\nprint(claims.take({member.path!r}), flush=True)\n"
        "time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline().strip() == FREE
        claims = Claims(store.folder / LOCKS)
        assert claims.take(member.path) == HELD
        run = SweepRun(Sweep.from_words(QUICK), store, engine)
        run.start()
        wait_for(lambda: run.progress.done == len(others), "the other runs")
        assert run.progress.elsewhere == 1
        other.kill()
    assert run.wait(PATIENCE)
    assert run.progress.done == len(others) + 1
    assert claims.take(member.path) == BEGUN  # for whoever comes now to look whether it is solved
    claims.close()


@pytest.mark.full
def test_a_full_disk_is_said_last_is_the_exit_code_and_exactly_what_is_missing_is_solved_next(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # one step each, so that a run is written at once; on german it takes twice the room
    words = "data=german,heart; split=0,1; train=0.9; gap=0.5; solvers=newton; kernels=gauss:1,2@all"
    arguments = ["sweep", words, "--workers", "1", "--store", str(tmp_path)]
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8_000, resource.RLIM_INFINITY))  # noqa: E731
    command = [sys.executable, "-m", "mklviz", *arguments]
    full = subprocess.run(command, preexec_fn=limit, capture_output=True, text=True, check=False)
    assert full.returncode == 2
    said = "mklviz: Not kept: 2 of 4 runs, german 0 newton, german 1 newton. The disk"
    assert full.stderr.splitlines()[-1].startswith(said)
    assert main([*arguments, "--dry-run"]) == 0
    left = "2 finished before, 0 failed before, 2 left to solve.\n  german: 2 runs"
    assert left in capsys.readouterr().out
    assert main([*arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["not_kept"], len(document["runs"])) == ("", 4)
    assert len(open_store(tmp_path).runs("status:converged")) == 4
    reset()


ONE = "data=heart; kernels=gauss:1,2@all+each; C=100,50,10; solvers=level; gap=1e-4; path=C"


def nothing(trace: Trace) -> None:
    """Watch no trace."""


class Ended(list[int]):
    """A trace of one step that has converged."""

    status, reason, best_start = "converged", "", object()

    def finish(self, verdict: object) -> None:
        raise AssertionError(verdict)


@pytest.mark.parametrize("threads", [1, 3])
def test_each_member_of_many_paths_is_solved_once(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    solved = list[str]()

    def run_of(member: Any, prepared: object, start: object) -> Any:
        assert (start is None) == (not member.earlier)
        solved.append(member.key)
        return SimpleNamespace(trace=Ended([1]))

    answers: dict[str, object] = {"_prepared": None, "_solve": None, "_results": {}, "_fit_seconds": 1.0}
    made = {"_run_of": run_of} | {name: Mock(return_value=value) for name, value in answers.items()}
    for name, function in made.items():
        monkeypatch.setattr(f"mklviz.sweeps.solving.{name}", function)
    nine = ",".join(f"level:lam=0.{k}" for k in range(1, 10))
    members = Sweep.from_words(f"data=heart; C=100,50,20,10,5,2,1,0.5; gap=1e-2,1e-3; solvers={nine}; path=C").members
    queue = MemberQueue(members)
    while len(queue):
        for member in [member for _ in range(threads) if (member := queue.take("worker")) is not None]:
            solve_member(member, SweepCommand(), nothing, nothing)
            queue.ended(member)
    assert len(solved) == len(members) == 9 * 2 * 8


def test_a_run_that_was_stopped_is_no_beginning_for_the_next() -> None:
    sweep, command = Sweep.from_words(ONE), SweepCommand()
    first, second, _ = sweep.members
    trace, _ = solve_member(first, command, nothing, lambda trace: command.say(CANCEL))
    assert trace.status == "stopped"
    trace, _ = solve_member(second, SweepCommand(), nothing, nothing)
    path = mv.path(sweep.recipe.prepare().problem, "level", gap=1e-4, C=[100, 50])
    assert trace.best.objective == path.objective.tolist()[1]


@pytest.mark.full
def test_for_one_path_one_process_is_started_which_serves_the_next_sweep_and_ends_with_the_last() -> None:
    with Processes(2) as engine:
        kept = []
        for values in ("100,50,10", "20,5"):
            run = ran(SweepRun(Sweep.from_words(ONE.replace("100,50,10", values)), None, engine))
            assert set(run.table().frame.status) == {"converged"}
            kept.append(engine.pids)
        assert kept[0] == kept[1]
        assert len(kept[0]) == 1
    assert engine.pids == []
