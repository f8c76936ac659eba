"""What is asked of those who solve: to go on, to pause, or to end at once."""

from __future__ import annotations

import threading
from collections.abc import Callable

from mklviz.errors import Interrupted

__all__ = ["CANCEL", "GO_ON", "PAUSE", "SweepCommand"]

GO_ON, PAUSE, CANCEL = "go on", "pause", "cancel"


class SweepCommand:
    """One word, which threads may change and wait for."""

    def __init__(self) -> None:
        self.word = GO_ON
        self._changed = threading.Condition()
        self._cancel: Callable[[], None] | None = None

    def say(self, word: str) -> None:
        """Ask for something else; after the end nothing else can be asked for."""
        with self._changed:
            if self.word == CANCEL:
                return
            self.word = word
            self._changed.notify_all()
            cancel = self._cancel if word == CANCEL else None
        if cancel is not None:
            cancel()

    def while_paused(self) -> None:
        """Return when the pause is over."""
        with self._changed:
            self._changed.wait_for(lambda: self.word != PAUSE)

    def check(self) -> None:
        """Raise `Interrupted` where the end is asked for."""
        if self.word == CANCEL:
            raise Interrupted("The sweep was stopped.")

    def on_cancel(self, cancel: Callable[[], None] | None) -> None:
        """Call `cancel` when the end is asked for, or now if it has been."""
        with self._changed:
            self._cancel = cancel
            late = self.word == CANCEL
        if late and cancel is not None:
            cancel()
