"""Where the time goes: long computations name the part they belong to, and their caller may time each part.

    with spending("svm"): ...          or          @spending("combine")

Within another part the inner one counts and the outer one pauses, so that the parts add up to the whole. This module
has no clock: without one, set by ``with metered(clock): ...``, naming a part costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, Protocol, TypeVar

PARTS = {
    "svm": "the inner problem at fixed weights: a support vector machine, or what the loss asks for instead",
    "gradient": "the quadratic forms of all kernels, and single kernels times a vector",
    "combine": "the weighted kernel, formed or times a vector",
    "subproblem": "the method's own step: its linear or quadratic program, projection, formula, or samples one by one",
    "other": "certificates, line search and bookkeeping",
}

P = ParamSpec("P")
T = TypeVar("T")


class Clock(Protocol):
    """Adds up how long each part takes."""

    def switch(self, part: str) -> str:
        """Count what follows as `part`, a key of `PARTS`; return what was counted until now."""

    def add(self, seconds: float) -> None:
        """Count what others spent on the part that is being counted."""


_CLOCK: ContextVar[Clock | None] = ContextVar("clock", default=None)


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
def metered(clock: Clock) -> Iterator[None]:
    """Let `clock` count what this thread computes within."""
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
