"""The answer to the question asked last: whoever asks again gives up what was asked before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from mklviz.engine.background import Background

__all__ = ["Latest"]

T = TypeVar("T")


class Latest(Generic[T]):
    """One question at a time, answered in a thread.

    Attributes
    ----------
    key : object
        What tells the question asked last from others; None before there is one.
    trouble : str
        Why it has no answer.
    """

    def __init__(self) -> None:
        self.key: object = None
        self.trouble = ""
        self._work: Background[T] | None = None

    @property
    def working(self) -> bool:
        """Whether the answer is still to come."""
        return self._work is not None

    def ask(self, key: object, compute: Callable[[Callable[[float], None]], T], what: str) -> None:
        """Ask, unless this was asked last; see `Background` for `compute` and `what`."""
        if key != self.key:
            self.forget()
            self.key, self._work = key, Background(compute, what)

    def look(self) -> T | None:
        """Return the answer once, when it is there."""
        if self._work is None or not self._work.ended:
            return None
        work, self._work = self._work, None
        self.trouble = work.trouble
        return work.result

    def forget(self) -> None:
        """Give up what was asked."""
        if self._work is not None:
            self._work.cancel()
        self.key, self._work, self.trouble = None, None, ""
