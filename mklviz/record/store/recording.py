"""The runs of a race while they are being recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from mklviz.record.store.recorder import Recorder
    from mklviz.record.trace import Trace

__all__ = ["Recording"]

_LEFT = "The run was not followed to its end."


class Recording:
    """What `Store.record` has begun; `race` is the key of the race."""

    def __init__(
        self,
        race: str,
        begin: Callable[[str, Trace, Recorder | None], Recorder | None],
        flush: Callable[[Sequence[Recorder]], None],
    ) -> None:
        self.race = race
        self._begin, self._flush = begin, flush
        self._recorders: dict[str, Recorder] = {}

    @property
    def ids(self) -> dict[str, str]:
        """The keys of the runs in the store by those in the race; none where races are not kept."""
        return {key: recorder.folder.name for key, recorder in self._recorders.items()}

    def add(self, key: str, trace: Trace) -> None:
        """Record one more run of the race, such as a branch."""
        recorder = self._begin(key, trace, next(iter(self._recorders.values()), None))
        if recorder is not None:
            self._recorders[key] = recorder

    @property
    def kept(self) -> bool:
        """Whether all of it stands on the disk, with its results."""
        return all(recorder.kept for recorder in self._recorders.values())

    def finish(self, results: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        """Wait until all there is stands on the disk.

        Runs that have ended are ended in the store within a second without it, but have no results then.

        `results`: what else is known of each run by its key in the race, such as ``{"level": {"score": 0.91}}``.
        """
        for key, known in (results or {}).items():
            if key in self._recorders:
                self._recorders[key].results = dict(known)
        self._flush([*self._recorders.values()])

    def close(self) -> None:
        """Follow the race no more: runs that have not ended are cut off, with what they have so far."""
        for recorder in self._recorders.values():
            recorder.left = _LEFT
        self._flush([*self._recorders.values()])

    def give_up(self) -> None:
        """Let go of what the disk has not taken."""
        for recorder in self._recorders.values():
            recorder.gone = True
