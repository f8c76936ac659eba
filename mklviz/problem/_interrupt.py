"""Long computations ask in between whether they are still wanted.

Whoever can be told to stop says so for all that its thread computes: ``with interruptible(checkpoint): ...``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["checkpoint", "interruptible"]


def _always_wanted() -> None:
    """What holds where nobody said anything."""


_CHECKPOINT: ContextVar[Callable[[], None]] = ContextVar("checkpoint", default=_always_wanted)


def checkpoint() -> None:
    """Raise `Interrupted` if what is being computed is no longer wanted."""
    _CHECKPOINT.get()()


@contextmanager
def interruptible(check: Callable[[], None]) -> Iterator[None]:
    """Let `check`, which raises `Interrupted` to cancel, be asked by what is computed within."""
    token = _CHECKPOINT.set(check)
    try:
        yield
    finally:
        _CHECKPOINT.reset(token)
