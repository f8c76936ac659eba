"""A sweep on a Dask cluster of this machine: the same results, also where a worker is killed in mid-run."""

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from _problems import ran
from _waits import PATIENCE, wait_for

import mklviz as mv
from mklviz.engine import Race
from mklviz.errors import MklvizError
from mklviz.record.store import Store
from mklviz.sweeps import DaskCluster, Sweep, SweepRun, SweepTable
from mklviz.sweeps.dask_cluster import import_distributed
from mklviz.sweeps.dask_race import on_cluster

try:
    distributed = import_distributed()
except ImportError:
    pytest.skip("distributed is not installed", allow_module_level=True)
pytestmark = pytest.mark.full

LONG = "data=sonar; split=0...2; solvers=silp; gap=none; max-iter=none; max-seconds=600"


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def test_a_cluster_solves_every_member_and_its_runs_are_kept_here(client: Any, store: Store) -> None:
    sweep = Sweep.from_words("data=heart,vote; split=0,1; solvers=level,newton; kernels=gauss:1,2@all")
    run = ran(SweepRun(sweep, store, DaskCluster(client)))
    assert run.error is None
    frame = run.table().frame
    assert frame.status.tolist() == ["converged"] * 8
    assert SweepTable.of(store, sweep).frame.equals(frame)
    assert [len(store.trace(each)) - 1 for each in frame.run] == frame.steps.tolist()
    wait_for(lambda: not client.futures, "released results")


def test_a_sweep_on_a_cluster_ends_at_once_when_asked(client: Any, store: Store) -> None:
    run = SweepRun(Sweep.from_words(LONG), store, DaskCluster(client))
    run.start()
    wait_for(lambda: run.progress.running, "a run")
    run.cancel()
    assert run.wait(PATIENCE)
    assert run.status == "stopped"


def posed() -> mv.Problem:
    train, _ = mv.load_dataset("heart").split(train=0.5, seed=0)
    bank = mv.KernelBank.build(train.X, [mv.Gaussian(widths=(1.0, 2.0))])
    return mv.Problem(bank, train.y, mv.Hinge(100.0), mv.Simplex())


def test_a_race_on_a_cluster_takes_the_same_steps_by_the_same_controls(client: Any) -> None:
    problem = posed()
    here = {key: mv.solve(problem, key) for key in ("level", "spg")}
    race = Race(problem, ["level", "spg"])
    on_cluster(race, client)
    race.step(2)
    wait_for(lambda: race.status == "paused", "two steps")
    assert [len(trace) for trace in race.traces.values()] == [2, 2]
    race.pace = 50.0
    race.resume()
    assert race.wait(PATIENCE)
    for key, trace in race.traces.items():
        assert (trace.status, trace.reason) == (here[key].status, here[key].reason)
        assert trace.objective.tolist() == here[key].objective.tolist()
        assert trace.split_at(len(trace) - 1)["svm"] > 0.0
    wait_for(lambda: not client.futures, "released runs")


def holders(client: Any) -> list[str]:
    """Return the workers that hold a run."""
    return [held[0] for key, held in client.who_has().items() if key.startswith("StepsThere") and held]


def test_a_race_on_a_cluster_is_stopped_in_the_middle_of_a_step_and_survives_the_loss_of_a_worker(client: Any) -> None:
    race = Race(posed(), ["silp", "level"], rules=())
    on_cluster(race, client)
    race.start()
    wait_for(lambda: all(len(trace) > 2 for trace in race.traces.values()), "steps")
    race.runs["level"].cancel()
    assert race.runs["level"].wait(PATIENCE)
    wait_for(lambda: len(holders(client)) == 1, "the one run that is left")
    os.kill(client.run(os.getpid)[holders(client)[0]], signal.SIGKILL)
    assert race.runs["silp"].wait(PATIENCE)
    assert race.traces["level"].status == "stopped"
    assert race.traces["silp"].status == "failed"
    assert "The Dask worker that computed SILP was lost." in race.traces["silp"].reason
    assert len(race.traces["silp"]) > 2


def test_an_address_where_no_scheduler_is_is_a_sentence() -> None:
    run = ran(SweepRun(Sweep.from_words("data=heart"), None, DaskCluster("tcp://127.0.0.1:1")))
    assert isinstance(run.error, MklvizError)
    assert "no Dask scheduler" in str(run.error)
    race = Race(posed(), ["level"])
    on_cluster(race, "tcp://127.0.0.1:1")
    ran(race)
    assert "There is no Dask scheduler at tcp://127.0.0.1:1" in race.traces["level"].reason
    with pytest.raises(MklvizError, match="address or a client"):
        DaskCluster(3)
