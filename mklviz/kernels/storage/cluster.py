"""Factors in the memory of the workers of a Dask cluster, chunk by chunk: what is asked of a chunk is computed there.

Workers spill to their disks what their memory does not hold, and Dask makes what was lost with a worker again, from the
samples. Chunks, and the order in which what they give is added, do not depend on the workers.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from mklviz.context import awaited
from mklviz.context.blas import one_blas_thread
from mklviz.errors import KernelError
from mklviz.kernels.storage.disk import is_dask
from mklviz.kernels.storage.passes import Factors, chunk_length
from mklviz.quoting import message_of
from mklviz.typing import Indices

AT_ONCE = 64  # tasks that one message begins: with all that are computed of many samples it would be too long

Result = TypeVar("Result")
_CHOSEN: ContextVar[Any] = ContextVar("chosen", default=None)


@contextmanager
def on_workers(client: Any) -> Iterator[None]:
    """Let factors of all banks that are built within stand on a cluster's workers, unless the client is None."""
    token = _CHOSEN.set(client)
    try:
        yield
    finally:
        _CHOSEN.reset(token)


def client_for(X: Any) -> Any:
    """Return the client of the Dask cluster that was chosen, or on which a Dask array is computed; None without one."""
    if _CHOSEN.get() is not None:
        return _CHOSEN.get()
    distributed = sys.modules.get("distributed")  # whoever has a client has imported it
    if distributed is None or not is_dask(X):
        return None
    with suppress(ValueError):
        distributed.get_worker()
        return None  # within a task, which would wait for the thread that it takes
    with suppress(ValueError):
        return distributed.Client.current()
    return None


def begun(client: Any, work: Callable[..., Any], calls: Iterable[Sequence[Any]]) -> list[Any]:
    """Return futures of ``work(*arguments)`` for all calls; arguments may be parts of Dask arrays."""
    from dask import config, delayed

    task = delayed(work, pure=False)
    with config.set({"distributed.admin.large-graph-warning-threshold": "1 PB"}):  # samples are large
        futures: list[Any] = client.compute([task(*arguments) for arguments in calls])
    return futures


class OnWorkers:
    """What stands on the workers of a cluster in parts, in futures; what is asked of a part is computed there."""

    def __init__(self, client: Any, parts: Sequence[Any]) -> None:
        self._client, self._parts = client, parts

    def __reduce__(self) -> str:
        raise KernelError("Kernels on a Dask cluster cannot be sent elsewhere: solve where their bank was built.")

    def task(self, k: int, work: Callable[..., Any], *arguments: Any) -> Any:
        """Return what `begun` computes ``work(part, *arguments)`` of part k by; arguments may be tasks and futures."""
        from dask import delayed

        return delayed(_done, pure=False)(work, self._parts[k], *arguments)

    def begun(self, tasks: Sequence[Any]) -> list[Any]:
        """Return futures of tasks, many of which are sent at once: for each alone the client takes a hundredth."""
        from dask import config

        with _reached(), config.set({"distributed.admin.large-graph-warning-threshold": "1 PB"}):
            some = (tasks[k : k + AT_ONCE] for k in range(0, len(tasks), AT_ONCE))
            return [*chain.from_iterable(map(self._client.compute, some))]

    def answer_of(self, future: Any) -> Any:
        """Return what was asked for, however often workers are lost meanwhile."""
        ended = awaited(self._client.gather(future, asynchronous=True), self._client.loop.asyncio_loop)
        with _reached():
            return ended.result()

    def answers(self, tasks: Sequence[Any]) -> Iterator[Any]:
        """Begin with all of the tasks, and yield what they give, in their order."""
        futures = self.begun(tasks)
        while futures:
            yield self.answer_of(futures.pop(0))

    def of_all(self, work: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Return the tasks ``work(part, *arguments)`` of every part."""
        return [self.task(k, work, *arguments) for k in range(len(self._parts))]


def blocks_of(client: Any, X: Any) -> Iterator[Any]:
    """Yield the blocks of a Dask array that has whole rows in each; the workers compute them ahead of time."""
    from dask import delayed

    whole = delayed(np.asarray, pure=False)
    yield from OnWorkers(client, []).answers([whole(part) for part in X.to_delayed()[:, 0]])


class ClusterFactors(OnWorkers):
    """Factors (n, R) in single precision; an array as far as `mklviz.kernels.storage.passes` and a bank need one.

    `X`: array (n, d), whose chunks the scheduler keeps, or Dask array; ``make(shared, points, first)`` returns the rows
    for a chunk of points, the first of which has the number `first`, and can be sent.
    """

    itemsize = 4

    def __init__(self, client: Any, X: Any, columns: int, make: Callable[..., Factors], shared: Any) -> None:
        from dask import delayed
        from dask.array import from_array

        self.shape = (int(X.shape[0]), columns)
        self._length = chunk_length(self.shape)
        X = X if is_dask(X) else from_array(X, chunks=(self._length, -1), name=False)
        common = delayed(shared, name=f"mklviz-{secrets.token_hex(8)}", traverse=False)
        self.nbytes = self.itemsize * self.shape[0] * columns
        points = X.rechunk({0: self._length, 1: -1}).to_delayed()[:, 0]
        asked = ((make, common, part, k * self._length) for k, part in enumerate(points))
        super().__init__(client, begun(client, _made, asked))

    @property
    def T(self) -> ClusterFactors:
        """The same: banks hand out factors with a column for each sample, of which all who use them take the rows."""
        return self

    def __len__(self) -> int:
        return self.shape[0]

    def astype(self, dtype: DTypeLike, copy: bool = False) -> Any:
        """Return the same in single precision; in double an array of all rows."""
        return self if np.dtype(dtype).itemsize == self.itemsize else self[np.arange(len(self))].astype(dtype)

    def in_turn(self, work: Callable[..., Result], calls: Iterable[tuple[int, Sequence[Any]]]) -> Iterator[Result]:
        """Yield ``work(rows, *arguments)`` of the chunks that begin with some samples, as `passes.in_turn` does."""
        return self.answers([self.asked(start, work, *arguments) for start, arguments in calls])

    def asked(self, start: int, work: Callable[..., Any], *arguments: Any) -> Any:
        """Return a task on the chunk that begins with some sample, as `passes.asked` does."""
        return self.task(start // self._length, work, *arguments)

    def __getitem__(self, index: Any) -> Factors:
        """Return some rows as an array; or ``np.ix_(rows, columns)`` of it."""
        asked, columns = (one.ravel() for one in index) if isinstance(index, tuple) else (index, slice(None))
        order = np.argsort(asked, kind="stable")
        which, back = asked[order], np.argsort(order)
        starts = range(0, len(self), self._length)
        within = [which[slice(*np.searchsorted(which, (k, k + self._length)))] - k for k in starts]
        calls = ((k, (some, columns)) for k, some in zip(starts, within, strict=True) if len(some))
        none = np.empty((0, self.shape[1]), np.float32)[:, columns]
        return np.concatenate([none, *self.in_turn(_taken, calls)])[back]


@contextmanager
def _reached() -> Iterator[None]:
    """Say in a sentence why the cluster gives no answer."""
    try:
        yield
    except KernelError:
        raise
    except Exception as error:
        error.__traceback__ = None  # the client keeps the error, and with this it would keep what all callers hold
        raise KernelError(
            f"The Dask cluster that holds the kernels could not compute with them: {message_of(error)}. Start it, or"
            " workers with more memory, and build the bank again."
        ) from None


def _made(make: Callable[..., Factors], shared: Any, points: Any, first: int) -> Factors:
    with one_blas_thread():
        return make(shared, np.ascontiguousarray(points, dtype=np.float64), first)


def _done(work: Callable[..., Result], rows: Factors, *arguments: Any) -> Result:
    with one_blas_thread():
        return work(rows, *arguments)


def _taken(rows: Factors, which: Indices, columns: Any) -> Factors:
    return rows[which][:, columns]
