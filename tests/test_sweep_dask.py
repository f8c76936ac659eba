"""A sweep on a Dask cluster of this machine: the same results, also where a worker is killed in mid-run."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from _waits import PATIENCE, wait_for

from mklviz.errors import MklvizError
from mklviz.record.store import open_store, reset
from mklviz.sweeps import DaskCluster, Sweep, SweepRun, SweepTable
from mklviz.sweeps.dask_cluster import import_distributed

try:
    distributed = import_distributed()
except ImportError:
    pytest.skip("distributed is not installed", allow_module_level=True)
pytestmark = pytest.mark.full

LONG = "data=sonar; split=0...2; solvers=silp; gap=none; max-iter=none; max-seconds=2"


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def _left() -> Iterator[None]:
    yield
    reset()


def test_a_cluster_solves_every_member_and_its_runs_are_kept_here(client: Any, tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    sweep = Sweep.from_words("data=heart,vote; split=0,1; solvers=level,newton; kernels=gauss:1,2@all")
    run = SweepRun(sweep, store, DaskCluster(client))
    run.start()
    assert run.wait(PATIENCE)
    assert run.error is None
    frame = run.table().frame
    assert frame.status.tolist() == ["converged"] * 8
    assert SweepTable.of(store, sweep).frame.equals(frame)
    assert [len(store.trace(each)) - 1 for each in frame.run] == frame.steps.tolist()
    wait_for(lambda: not client.futures, "released results")


def test_a_worker_killed_in_mid_run_is_a_run_cut_off_and_a_retry(client: Any, tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    run = SweepRun(Sweep.from_words(LONG), store, DaskCluster(client))
    run.start()
    wait_for(lambda: [each for each in store.runs("status:running") if each.steps], "steps that come back")
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
    assert run.wait(PATIENCE)
    assert run.error is None
    assert run.table().frame.status.tolist() == ["limit"] * 3


def test_a_sweep_on_a_cluster_ends_at_once_when_asked(client: Any, tmp_path: Path) -> None:
    run = SweepRun(
        Sweep.from_words(LONG.replace("seconds=2", "seconds=600")), open_store(tmp_path / "store"), DaskCluster(client)
    )
    run.start()
    wait_for(lambda: run.progress.running, "a run")
    run.cancel()
    assert run.wait(PATIENCE)
    assert run.status == "stopped"


def test_an_address_where_no_scheduler_is_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mklviz.sweeps.dask_cluster.CONNECT_SECONDS", 1.0)
    run = SweepRun(Sweep.from_words("data=heart"), None, DaskCluster("tcp://127.0.0.1:1"))
    run.start()
    assert run.wait(PATIENCE)
    assert isinstance(run.error, MklvizError)
    assert "no Dask scheduler" in str(run.error)
    with pytest.raises(MklvizError, match="address or a client"):
        DaskCluster(3)
