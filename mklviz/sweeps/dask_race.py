"""A live race whose solvers compute their steps on the workers of a Dask cluster.

The race stays here and asks for one step after another, so that pause, step, pace, stop and stop rules are those of any
race. The seconds of a step are those of the worker that computed it. A worker holds a solver's run from its first step
to its last (an actor): where it is lost, the run ends with what was found.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from mklviz.context import checkpoint, interruptible, metered, resolution, resolving, spent
from mklviz.context.blas import one_blas_thread
from mklviz.context.meter import Meter
from mklviz.contract import Iterate, Solver
from mklviz.engine import Race
from mklviz.errors import Interrupted, SolverError
from mklviz.problem import Problem
from mklviz.sweeps.dask_cluster import DaskCluster

__all__ = ["CLUSTER", "on_cluster"]

CLUSTER = "MKLVIZ_DASK"  # in the environment of a server: the address of the scheduler whose workers compute its races
LOOK_SECONDS = 0.005

_lock = threading.Lock()
_clients: dict[str, Any] = {}  # by the scheduler's address, for all races of this process


def on_cluster(race: Race, cluster: Any) -> None:
    """Let a race that has not begun compute its steps on a Dask cluster, its solvers on its workers in turn.

    `cluster`: the scheduler's address, such as "tcp://head:8786", or a client that is connected to it. Raises
    `MissingPackage` without distributed, and `MklvizError` if `cluster` is neither.
    """
    DaskCluster(cluster)
    for number, run in enumerate(race.runs.values()):
        run.source = partial(_iterates, cluster, number, run.solver)


class StepsThere:
    """The steps of a solver, on the worker that computes them."""

    def __init__(self, problem: Problem, solver: Solver, start: Iterate | None, fineness: float) -> None:
        self._iterates = solver.iterates(problem, start)
        self._fineness = fineness
        self._wanted = True

    def step(self) -> tuple[Iterate | None, Mapping[str, float]]:
        """Return the next step, None after the last one, and its CPU seconds by part."""
        meter = Meter()
        meter.start()
        try:
            with interruptible(self._check), metered(meter), resolving(self._fineness), one_blas_thread():
                iterate = next(self._iterates, None)
        finally:
            meter.stop()
        return iterate, meter.seconds

    async def stop(self) -> None:
        """End the step under way, beside which this is called, and all that follow."""
        self._wanted = False

    def _check(self) -> None:
        if not self._wanted:
            raise Interrupted("The run was cancelled.")


def _iterates(cluster: Any, number: int, solver: Solver, problem: Problem, start: Iterate | None) -> Iterator[Iterate]:
    """Yield what a solver yields on a worker, and count its seconds there as those of this run."""
    client = _connected(cluster)
    made = _begun(client, number, solver, problem, start)
    try:
        there = _answered(client, solver, lambda: made)
        while True:
            iterate, seconds = _answered(client, solver, there.step)
            for part, cost in seconds.items():
                spent(part, cost)
            if iterate is None:
                return
            yield iterate
    finally:
        with suppress(Exception):  # the cluster may be gone
            _left(client, made)


def _connected(cluster: Any) -> Any:
    """Return a client of the cluster; there is one for an address."""
    if not isinstance(cluster, str):
        return cluster
    with _lock:
        if cluster not in _clients or _clients[cluster].status != "running":
            _clients[cluster] = DaskCluster(cluster).client()
        return _clients[cluster]


def _begun(client: Any, number: int, solver: Solver, problem: Problem, start: Iterate | None) -> Any:
    """Return the future of a solver's steps on a worker; the runs of a race are spread over all."""
    workers = sorted(client.scheduler_info(n_workers=-1)["workers"])
    if not workers:
        raise SolverError("The Dask cluster has no worker that could compute this run: start one, then press Run.")
    worker = workers[number % len(workers)]
    there = client.scatter(problem, workers=[worker], hash=False)
    place = {"workers": [worker], "allow_other_workers": True}
    return client.submit(StepsThere, there, solver, start, resolution(), actor=True, pure=False, **place)


def _left(client: Any, made: Any) -> None:
    """End the step under way, and let the worker forget the run."""
    if made.status == "finished":
        with client.as_current():
            made.result().stop()
    made.cancel()


def _answered(client: Any, solver: Solver, ask: Callable[[], Any]) -> Any:
    """Return the answer to a question to a worker; meanwhile the run may be cancelled, or learn that nobody answers."""
    with client.as_current():  # an actor asks by the current client
        try:
            future = ask()
            while not future.done():
                checkpoint()
                if client.status != "running":
                    raise OSError
                time.sleep(LOOK_SECONDS)
            return future.result()
        except (OSError, RuntimeError) as error:
            if isinstance(error, RuntimeError) and "Actor was lost" not in str(error):
                raise  # of the solver
            raise SolverError(
                f"The Dask worker that computed {solver.label} was lost. What it had found is kept; press Run to begin"
                " anew on another one."
            ) from None
