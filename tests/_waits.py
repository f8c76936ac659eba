"""How tests wait: for a condition, never for a time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

__all__ = ["PATIENCE", "soon", "wait_for"]

T = TypeVar("T")
PATIENCE = 180.0  # seconds; a deadline against hanging for ever, on a machine that may be busy, and no measure of speed
PAUSE = 0.005


def wait_for(
    found: Callable[[], T],
    what: str = "what was to come",
    meanwhile: Callable[[], object] = lambda: None,
    patience: float = PATIENCE,
) -> T:
    """Call `found`, and `meanwhile` in between, until `found` returns something true; return that."""
    deadline = time.monotonic() + patience
    while not (value := found()):
        if time.monotonic() > deadline:
            raise AssertionError(f"Waited {patience:g} s in vain for {what}.")
        meanwhile()
        time.sleep(PAUSE)
    return value


async def _nothing() -> None:
    """Do nothing."""


async def soon(
    found: Callable[[], T],
    what: str = "what was to come",
    meanwhile: Callable[[], Awaitable[object]] = _nothing,
    patience: float = PATIENCE,
) -> T:
    """Do as `wait_for` does, and let the event loop go on."""
    deadline = time.monotonic() + patience
    while not (value := found()):
        if time.monotonic() > deadline:
            raise AssertionError(f"Waited {patience:g} s in vain for {what}.")
        await meanwhile()
        await asyncio.sleep(PAUSE)
    return value
