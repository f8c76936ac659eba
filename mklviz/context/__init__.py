"""Long computations run in pieces. Between two pieces they report their progress and ask whether they are still wanted.

A caller that can stop them, shows their progress or has threads to spare says so for all that is computed within
``with interruptible(check, report, spread): ...``. Nested callers are all asked. Neither the pieces nor any result
depends on the callers. Nothing should compute for more than a tenth of a second without asking.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

LOOK_SECONDS = 0.2  # between two questions to who waits for others

Piece = Callable[[int], None]
T = TypeVar("T")


def _always_wanted() -> None:
    """What holds by default."""


def _no_report(doing: str, fraction: float) -> None:
    """What holds by default."""


def _one_by_one(piece: Piece, pieces: int) -> None:
    for k in range(pieces):
        piece(k)


def _at_once(work: Callable[[], Any]) -> Any:
    return work()


class _Caller(NamedTuple):
    """What decides whether a result is still wanted."""

    check: Callable[[], None] = _always_wanted
    report: Callable[[str, float], None] = _no_report
    spread: Callable[[Piece, int], None] = _one_by_one
    watch: Callable[[Callable[[], Any]], Any] = _at_once


_CALLER: ContextVar[_Caller] = ContextVar("caller", default=_Caller())  # noqa: B039, a tuple of functions


def checkpoint() -> None:
    """Raise `Interrupted` if what is being computed is no longer wanted."""
    _CALLER.get().check()


def slices(count: int, length: int) -> Iterator[slice]:
    """Yield ranges of `length` below `count`, asking before each whether the work is still wanted."""
    for start in range(0, count, length):
        checkpoint()
        yield slice(start, min(start + length, count))


def report(doing: str, fraction: float) -> None:
    """Tell who waits what is being done, and which fraction of it is."""
    _CALLER.get().report(doing, fraction)


def uninterrupted(work: Callable[[], T]) -> T:
    """Return ``work()``, of foreign code that cannot call `checkpoint`, and must write nothing that others read."""
    result: T = _CALLER.get().watch(work)
    return result


def awaited(coroutine: Coroutine[Any, Any, T], loop: Any) -> Future[T]:
    """Return a future that has ended, of a coroutine on the event loop of another thread."""
    from asyncio import run_coroutine_threadsafe
    from concurrent.futures import wait

    coming = run_coroutine_threadsafe(coroutine, loop)
    try:
        while not coming.done():
            checkpoint()
            wait([coming], LOOK_SECONDS)
    finally:
        coming.cancel()  # where it is wanted no more
    return coming


def in_pieces(piece: Piece, pieces: int, doing: str) -> None:
    """Do ``piece(0)``, ..., ``piece(pieces - 1)``, in any order and on as many threads as the caller has to spare.

    `piece`: writes what no other piece reads or writes, so that results are the same in any order. It should take about
    a tenth of a second, or call `checkpoint` as often, and leaves it to the caller to say what time is spent on;
    `doing`: what it is, for people: "computing the slopes of 1,000 kernels".
    """
    caller, done = _CALLER.get(), count(1)

    def supervised(k: int) -> None:
        caller.check()
        piece(k)
        caller.report(doing, next(done) / pieces)

    caller.report(doing, 0.0)
    caller.spread(supervised, pieces)


@contextmanager
def interruptible(
    check: Callable[[], None],
    report: Callable[[str, float], None] = _no_report,
    spread: Callable[[Piece, int], None] | None = None,
    watch: Callable[[Callable[[], Any]], Any] | None = None,
) -> Iterator[None]:
    """Supervise what is computed within.

    `check`: called now and then, raises `Interrupted` to cancel, besides those around this; `report`: gets what is
    being done, and which fraction of it is; `spread`: calls ``piece(k)`` for every k below `pieces`; `watch`: returns
    ``work()``, or raises what `check` raises meanwhile.
    """
    around = _CALLER.get().check

    def both() -> None:
        around()
        check()

    asked = check if around is _always_wanted else both
    token = _CALLER.set(_Caller(asked, report, spread or _one_by_one, watch or _at_once))
    try:
        yield
    finally:
        _CALLER.reset(token)


# Where the time goes: long computations name the part they belong to, and their caller may time each part.
#
#     with spending("svm"): ...          or          @spending("combine")
#
# Within another part the inner one counts and the outer one pauses, so that the parts add up to the whole. This module
# has no clock: without one, set by ``with metered(clock): ...``, naming a part costs next to nothing.


PARTS = {
    "svm": "the inner problem at fixed weights: a support vector machine, or what the loss asks for instead",
    "gradient": "the quadratic forms of all kernels, and single kernels times a vector",
    "combine": "the weighted kernel, formed or times a vector",
    "subproblem": "the method's own step: its linear or quadratic program, projection, formula, or samples one by one",
    "other": "certificates, line search and bookkeeping",
}

P = ParamSpec("P")


_CLOCK: ContextVar[Any] = ContextVar("clock", default=None)


class spending:
    """Count what is computed within, or by the decorated function, as one of `PARTS`. Nothing within may yield."""

    __slots__ = ("_before", "_clock", "_part")

    def __init__(self, part: str) -> None:
        if part not in PARTS:
            raise ValueError(f"{part!r} is none of the parts {', '.join(PARTS)}.")
        self._part = part

    def __enter__(self) -> None:
        self._clock = _CLOCK.get()
        if self._clock is not None:
            self._before = self._clock.switch(self._part)

    def __exit__(self, *exception: object) -> None:
        if self._clock is not None:
            self._clock.switch(self._before)

    def __call__(self, function: Callable[P, T]) -> Callable[P, T]:
        part = self._part

        @wraps(function)
        def counted(*arguments: P.args, **keywords: P.kwargs) -> T:
            with spending(part):
                return function(*arguments, **keywords)

        return counted


def spent(part: str, seconds: float) -> None:
    """Count what was computed elsewhere as one of `PARTS`."""
    clock = _CLOCK.get()
    if clock is not None:
        with spending(part):
            clock.add(seconds)


@contextmanager
def metered(clock: Any) -> Iterator[None]:
    """Let `clock`, a `mklviz.context.meter.Meter`, count what this thread computes within."""
    token = _CLOCK.set(clock)
    try:
        yield
    finally:
        _CLOCK.reset(token)


# -- how exact the bounds of an optimum must be: to a share of their size, far below the requested gap

FINEST = 1e-9  # a thousandth of a gap of 1e-6

_RESOLUTION: ContextVar[float] = ContextVar("resolution", default=FINEST)


def resolution() -> float:
    """Return the share of a bound that rounding may move."""
    return _RESOLUTION.get()


@contextmanager
def resolving(share: float) -> Iterator[None]:
    """Let rounding move bounds by `share` of their size within."""
    token = _RESOLUTION.set(share)
    try:
        yield
    finally:
        _RESOLUTION.reset(token)
