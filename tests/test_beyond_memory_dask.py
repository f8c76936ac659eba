"""Factors in the memory of a cluster's workers: the bits of those on disk, whatever becomes of the workers."""

from __future__ import annotations

import json
import os
import pickle
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _problems import blobs
from _waits import wait_for

from mklviz.analysis.kernel_weights import gram_on
from mklviz.cli import main
from mklviz.context import interruptible
from mklviz.engine import ProblemSize, solve
from mklviz.errors import Interrupted, KernelError
from mklviz.inner import smooth
from mklviz.kernels import Gaussian, KernelBank, Nystrom, NystromBank
from mklviz.kernels.evaluation import grams
from mklviz.kernels.evaluation.nystrom import NystromBuilder
from mklviz.kernels.storage import passes
from mklviz.kernels.storage.packed import PackedBlock
from mklviz.learn import MKLClassifier
from mklviz.problem import Hinge, Logistic, Loss, Problem, Simplex, Squared
from mklviz.sweeps.dask_cluster import import_distributed, workers_of

da = pytest.importorskip("dask.array")
sizeof = pytest.importorskip("dask.sizeof").sizeof
try:
    distributed = import_distributed()
except ImportError:
    pytest.skip("distributed is not installed", allow_module_level=True)
pytestmark = pytest.mark.full

N, LANDMARKS = 300, 12
X, Y = blobs(N, noise=0.3, features=3)
LAZY = da.from_array(X, chunks=(70, 2))
COLUMNS = 12 * LANDMARKS
STEPS = 3  # of a run, each of many passes over all chunks


@pytest.fixture(autouse=True)
def _tiny_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "PIECE", 20 * COLUMNS)  # chunks of 25 rows
    monkeypatch.setattr(smooth, "SAMPLED", 200)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two processes, each with a nanny, which starts a killed one again."""
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster


@pytest.fixture
def client(cluster: Any) -> Iterator[Any]:
    with distributed.Client(cluster) as client:
        yield client


def bank(points: object) -> NystromBank:
    families = [Gaussian(widths=(0.5, 1.0, 4.0), on="all+each")]
    return NystromBank.build(points, families, LANDMARKS, max_bytes=4 * N * COLUMNS - 1)  # type: ignore[arg-type]


def test_a_bank_on_a_cluster_gives_the_bits_of_the_one_on_disk(client: Any) -> None:
    there, here = bank(LAZY), bank(X)
    assert "on a Dask cluster" in there.backend
    assert "on disk" in here.backend
    weights, v = np.linspace(0.0, 1.0, len(here)), np.random.default_rng(0).normal(size=N)
    some, asked = np.array([3, 41, 299]), np.array([0, 11])
    for of in (
        lambda one: one.quad(v),
        lambda one: one.quad_compensated(v, asked)[0],
        lambda one: one.quad_error(v, one.quad(v)),
        lambda one: one.apply(weights, np.stack([v, 2.0 * v], axis=1)),
        lambda one: one.products(v, asked),
        lambda one: one.combine(weights),
        lambda one: one.cross(X[:5]).apply(weights, v),
        lambda one: one.cross(X[:5]).combine(weights),
        lambda one: one.narrowed().quad(v),
        lambda one: one.part(asked, some[::-1]).cross(X[:5]).combine(weights[asked]),
        lambda one: gram_on(one, weights, some),
        lambda one: (one.trace_errors, one.frobenius_errors),
    ):
        np.testing.assert_array_equal(of(there), of(here))
    with pytest.raises(KernelError, match="cannot be sent elsewhere"):
        pickle.dumps(there)


def _where() -> str:
    return bank(LAZY).backend


def test_within_a_task_factors_stand_on_disk(client: Any) -> None:
    """Chunks that were asked of the cluster there would wait for the thread of the task."""
    assert "on disk" in client.submit(_where).result(600)


@pytest.mark.parametrize("loss", [Hinge(3.0), Logistic(3.0), Squared(3.0)], ids=lambda loss: type(loss).__name__)
def test_one_worker_two_and_none_take_the_same_steps_bit_for_bit(loss: Loss, client: Any) -> None:
    two, none = (solve(Problem(bank(x), Y, loss, Simplex()), "spg", gap=None, max_iter=STEPS) for x in (LAZY, X))
    with (
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as small,
        distributed.Client(small),
    ):
        one = solve(Problem(bank(LAZY), Y, loss, Simplex()), "spg", gap=None, max_iter=STEPS)
    assert len(none) == STEPS + 1
    for trace in (one, two):
        np.testing.assert_array_equal(trace.objective, none.objective)
        np.testing.assert_array_equal(trace.best.weights, none.best.weights)


def test_chunks_of_a_killed_worker_are_made_again_and_the_run_goes_on(client: Any) -> None:
    there, killed = bank(LAZY), []

    def kill_one() -> None:
        if not killed:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    there.quad(np.ones(N))  # all chunks are there
    with interruptible(kill_one):
        trace = solve(Problem(there, Y, Hinge(3.0)), "spg", gap=None, max_iter=STEPS)
    assert killed
    assert killed[0] not in client.run(os.getpid).values()
    here = solve(Problem(bank(X), Y, Hinge(3.0)), "spg", gap=None, max_iter=STEPS)
    np.testing.assert_array_equal(trace.objective, here.objective)


def test_kernels_in_shards_on_the_workers_are_those_of_a_bank_here(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = 60
    monkeypatch.setattr(grams, "SHARD", 3 * few**2)
    widths = np.linspace(0.5, 4.0, 31)
    square = ((X[:few, None] - X[None, :few]) ** 2).sum(axis=2)
    stack = np.exp(-square / (2.0 * widths[:, None, None] ** 2))
    lazy = da.from_array(stack, chunks=(7, few, 20))
    there, here = (KernelBank.from_grams(one, normalize="trace") for one in (lazy, stack))
    assert there.backend == "31 on a Dask cluster"
    sizes = [ProblemSize.of(Problem(one, Y[:few])) for one in (there, here)]
    assert [size.rank for size in sizes] == [few / 2.0, (few + 1) / 2.0]
    assert there.names == here.names
    weights, v, keep = np.linspace(0.0, 1.0, 31), np.random.default_rng(0).normal(size=few), np.arange(5, 40)
    asked = np.array([30, 2, 3])
    for of in (
        lambda one: one.quad(v),
        lambda one: one.quad(np.stack([v, 2.0 * v], axis=1)),
        lambda one: one.quad_compensated(v, asked),
        lambda one: one.quad_error(v, one.quad(v)),
        lambda one: one.apply(weights, v),
        lambda one: one.products(v, asked),
        lambda one: one.combine(weights),
        lambda one: one.combine(np.zeros(31)),
        lambda one: one.only(keep).combine(weights),
        lambda one: one.cross(stack[:, :5]).combine(weights),
    ):
        np.testing.assert_allclose(of(there), of(here), rtol=1e-12, atol=1e-15)
    with pytest.raises(KernelError, match="cannot be sent elsewhere"):
        pickle.dumps(there)
    with pytest.raises(KernelError, match="kernel 20"):
        KernelBank.from_grams(da.from_array(np.where(np.arange(31)[:, None, None] == 19, np.nan, stack)))
    halves = np.tril(stack) - 0.1 * np.eye(few)
    noted = [KernelBank.from_grams(one, repair="clip").notes for one in (da.from_array(halves), halves)]
    assert noted[0] == noted[1]
    assert "31 of 31" in noted[0][0]
    unsized = KernelBank.from_grams(lazy[da.from_array(widths, chunks=7) > 0.0], normalize="trace")
    np.testing.assert_array_equal(unsized.quad(v), there.quad(v))
    assert sizeof(PackedBlock.from_matrices([*stack])) > 31 * few**2 * 4
    two, none = (solve(Problem(one, Y[:few], Hinge(100.0)), "spg", gap=1e-4) for one in (there, here))
    assert two.best.objective == pytest.approx(none.best.objective, rel=1e-4)
    with (
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as small,
        distributed.Client(small),
    ):
        one = solve(Problem(KernelBank.from_grams(lazy, normalize="trace"), Y[:few], Hinge(100.0)), "spg", gap=1e-4)
    np.testing.assert_array_equal(one.objective, two.objective)


@pytest.mark.parametrize("dask", [True, False])
def test_the_command_line_solves_on_the_workers_and_finds_the_same_optimum(
    dask: bool, client: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parquet, pandas = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pandas")
    assert parquet
    pandas.DataFrame({**{f"c{j}": X[:, j] for j in range(3)}, "class": Y}).to_parquet(tmp_path / "x.parquet")
    words = ["run", "--data", str(tmp_path / "x.parquet"), "--kernels", "gauss:0.5,1,4@all", "--C", "3", "--no-store"]
    words += ["--solvers", "spg", "--gap", "1e-5", "--json", *(["--nystrom", "12"] if dask else [])]
    assert main(words) == 0
    here = json.loads(capsys.readouterr().out)
    assert main([*words, "--dask", client.scheduler.address]) == 0
    out, said = capsys.readouterr()
    there = json.loads(out)
    assert ("on a Dask cluster" in said) == dask
    assert there["runs"][0]["objective"] == pytest.approx(here["runs"][0]["objective"], rel=1e-5)
    assert there["runs"][0]["score"] == here["runs"][0]["score"]
    path = ["path", *words[1:7], "--vary", "C=1,3", "--solver", "spg", *(["--nystrom", "12"] if dask else [])]
    code = main([*path, "--dask", client.scheduler.address])
    assert (code == 0) == dask
    assert ("add --nystrom" in capsys.readouterr().err) != dask


@pytest.mark.usefixtures("fifty_exact")
def test_an_estimator_keeps_the_factors_of_a_dask_array_on_the_workers(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    there: list[Any] = []
    build_there = NystromBuilder.build_there
    monkeypatch.setattr(NystromBuilder, "build_there", lambda *given: there.append(given) or build_there(*given))
    model, here = (MKLClassifier("gauss:0.5,1,4@all", approximation=Nystrom(), tol=0.2) for _ in range(2))
    model.fit(LAZY, da.from_array(Y, chunks=70))
    here.fit(X, Y)
    assert len(there) == 1
    np.testing.assert_allclose(model.decision_function(LAZY), here.decision_function(X), atol=1e-4)
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("skops.io")
    table, kept = str(tmp_path / "x.csv"), str(tmp_path / "x.skops")
    pandas.DataFrame({**{f"c{j}": X[:, j] for j in range(3)}, "class": Y}).to_csv(table, index=False)
    words = ["fit", table, "--kernels", "gauss:1", "--gap", "0.2", "--out", kept]
    assert main([*words, "--dask", client.scheduler.address]) == 0
    assert "kernels are approximated" in capsys.readouterr().err
    assert len(there) == 2
    assert main(["predict", kept, table, "--out", str(tmp_path / "said.csv")]) == 0


def test_the_command_line_says_how_a_cluster_is_started(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--data", "sonar", "--dask", "tcp://127.0.0.1:1"]) == 2
    assert "There is no Dask scheduler at tcp://127.0.0.1:1" in capsys.readouterr().err


def test_without_a_worker_a_pass_waits_until_it_is_stopped_or_one_comes() -> None:
    asked: list[int] = []

    def stop() -> None:
        asked.append(1)
        if len(asked) > 3:
            raise Interrupted("stop")

    with (
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as small,
        distributed.Client(small) as client,
    ):
        there, v = bank(LAZY), np.arange(N, dtype=float)
        before = there.quad(v)
        small.scale(0)
        wait_for(lambda: not workers_of(client), "no worker")
        with interruptible(stop), pytest.raises(Interrupted):
            there.quad(v + 1.0)
        small.scale(1)
        there.quad(v + 1.0)
        np.testing.assert_array_equal(there.quad(v), before)
    with pytest.raises(KernelError, match=r"The Dask cluster that holds the kernels could not compute .* build the"):
        there.quad(v + 2.0)
