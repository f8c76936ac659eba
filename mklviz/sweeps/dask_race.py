"""A live race whose solvers compute their steps on the workers of a Dask cluster.

The race stays here and asks for one step after another, so that pause, step, pace, stop and stop rules are those of any
race. The seconds of a step are those of the worker that computed it, and the few that asking for it takes here. A
worker holds a solver's run from its first step to its last (an actor): where it is lost, the run ends with its steps
so far. Runs wait for their steps in turn, like all runs here: a race of many solvers is no faster than with as many
workers as this machine has cores to spare.
"""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from mklviz.context import checkpoint, interruptible, metered, resolution, resolving, spent, uninterrupted
from mklviz.context.blas import one_blas_thread
from mklviz.context.meter import Meter
from mklviz.contract import Iterate, Solver
from mklviz.engine import Race
from mklviz.errors import Interrupted, MklvizError, SolverError
from mklviz.problem import Problem
from mklviz.quoting import message_of
from mklviz.sweeps.dask_cluster import DaskCluster, workers_of

CLUSTER = "MKLVIZ_DASK"  # in the environment of a server: the address of the scheduler whose workers compute its races
LOOK_SECONDS = 0.005

_lock = threading.Lock()
_clients: dict[str, Any] = {}  # by the scheduler's address, for all races of this process
_turns = itertools.count(random.randrange(1000))  # of the workers, which many races share


def on_cluster(race: Race, cluster: Any) -> None:
    """Let a race that has not begun compute its runs in turn on a cluster's workers, by its address or a client."""
    DaskCluster(cluster)
    for run in race.runs.values():
        run.source = partial(_iterates, cluster, run.solver)


class StepsThere:
    """The steps of a solver, on the worker that computes them."""

    def __init__(self, problem: Problem, solver: Solver, start: Iterate | None, fineness: float) -> None:
        self._iterates = solver.iterates(problem, start)
        self._fineness = fineness
        self._wanted = True

    def step(self) -> tuple[Iterate | Exception | None, Mapping[str, float]]:
        """Return the next step, None after the last one or what broke the solver, and its CPU seconds by part."""
        meter = Meter()
        meter.start()
        iterate: Iterate | Exception | None
        try:
            with interruptible(self._check), metered(meter), resolving(self._fineness), one_blas_thread():
                iterate = next(self._iterates, None)
        except Exception as error:  # a value, so that it is not taken for one of the network
            iterate = error
        meter.stop()
        return iterate, meter.seconds

    async def stop(self) -> None:
        """End the step under way, beside which this is called, and all that follow."""
        self._wanted = False

    def _check(self) -> None:
        if not self._wanted:
            raise Interrupted("The run was cancelled.")


def _iterates(cluster: Any, solver: Solver, problem: Problem, start: Iterate | None) -> Iterator[Iterate]:
    """Yield what a solver yields on a worker, and count its seconds there as those of this run."""
    client = uninterrupted(partial(_connected, cluster))
    made = uninterrupted(partial(_begun, client, solver, problem, start, resolution()))
    there = None
    try:
        _wait_for(client, made)
        with _beginning(solver), _lock, client.as_current():  # an actor keeps the client that is the current one
            there = made.result()
        while True:
            iterate, seconds = _step(client, solver, there)
            for part, cost in seconds.items():
                spent(part, cost)
            if iterate is None:
                return
            if isinstance(iterate, Exception):
                raise iterate
            yield iterate
    finally:  # without waiting for the cluster, which may be gone
        threading.Thread(target=_leave, args=(made, there), daemon=True).start()


def _connected(cluster: Any) -> Any:
    """Return a client of the cluster; there is one for an address."""
    if not isinstance(cluster, str):
        return cluster
    with _lock:
        if cluster not in _clients or _clients[cluster].status != "running":
            _clients[cluster] = DaskCluster(cluster).client()
        return _clients[cluster]


def _begun(client: Any, solver: Solver, problem: Problem, start: Iterate | None, fineness: float) -> Any:
    """Return the future of a solver's steps on the worker whose turn it is."""
    with _beginning(solver):
        workers = sorted(workers_of(client))
        if not workers:
            raise SolverError(
                "The Dask cluster has no worker that could compute this run. Start one, then the race anew."
            )
        worker = workers[next(_turns) % len(workers)]
        there = client.scatter(problem, workers=[worker], hash=False)
        place = {"workers": [worker], "allow_other_workers": True}
        return client.submit(StepsThere, there, solver, start, fineness, actor=True, pure=False, **place)


@contextmanager
def _beginning(solver: Solver) -> Iterator[None]:
    """Say of errors of the cluster that it could not begin a solver's run."""
    try:
        yield
    except MklvizError:
        raise
    except Exception as error:
        why = message_of(error) or type(error).__name__
        raise SolverError(
            f"The Dask cluster could not begin {solver.label}. Its workers need mklviz in the version that is here. It"
            f" said: {why}"
        ) from error


def _step(client: Any, solver: Solver, there: Any) -> Any:
    """Return what the worker answers to the question for a step."""
    try:
        answer = there.step()
        _wait_for(client, answer)
        return answer.result()
    except (Interrupted, SolverError):
        raise
    except Exception:
        raise SolverError(
            f"The Dask worker that computed {solver.label} was lost. Its steps so far are kept; run the race again for"
            " another worker."
        ) from None


def _wait_for(client: Any, future: Any) -> None:
    """Wait for an answer; meanwhile the run may be cancelled, reach its time limit or learn that there is no answer."""
    waited = 0.0
    try:
        while not future.done():
            checkpoint()
            if client.status != "running":
                raise SolverError("The scheduler of the Dask cluster was lost. The steps so far are kept.")
            time.sleep(LOOK_SECONDS)
            waited += LOOK_SECONDS
            spent("other", LOOK_SECONDS)
    finally:
        spent("other", -waited)  # the worker's own clock counts


def _leave(made: Any, there: Any) -> None:
    """End the step under way, and let the worker forget the run."""
    with suppress(Exception):
        if there is not None:
            there.stop()
        made.cancel()
