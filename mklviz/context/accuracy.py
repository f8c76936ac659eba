"""How exact the bounds of an optimum must be: to a share of their size, far below the requested gap."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["FINEST", "resolution", "resolving"]

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
