"""Which member is solved next, and by whom: members that share kernels go to one worker, so that it builds them once.

A worker that finds no more kernels of its own takes part in the largest group that is left. A member whose worker was
lost is handed out again, and fails when that has happened three times.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Iterable

from mklviz.sweeps.member import Member

__all__ = ["MemberQueue", "groups_of"]

ATTEMPTS = 3


def groups_of(members: Iterable[Member]) -> list[list[Member]]:
    """Return the members in groups that share data, split and kernels."""
    groups: dict[Hashable, list[Member]] = {}
    for member in members:
        groups.setdefault(member.recipe.bank_key, []).append(member)
    return [*groups.values()]


class MemberQueue:
    """The members that are left."""

    def __init__(self, members: Iterable[Member]) -> None:
        self._waiting = deque(deque(group) for group in groups_of(members))
        self._own: dict[Hashable, deque[Member]] = {}
        self._lost: Counter[str] = Counter()

    def __len__(self) -> int:
        return sum(map(len, (*self._waiting, *self._own.values())))

    def take(self, worker: Hashable) -> Member | None:
        """Return the next member for a worker; None where none is left."""
        group = self._own.get(worker)
        if not group:
            if self._waiting:
                group = self._own[worker] = self._waiting.popleft()
            else:  # at its end, far from where its own worker is
                others = (group for group in self._own.values() if not (group and group[-1].earlier))
                largest = max(others, key=len, default=None)  # a path stays with the worker that knows where to begin
                return largest.pop() if largest else None
        return group.popleft()

    def again(self, member: Member) -> bool:
        """Hand a member out again whose worker was lost; return False where that has happened too often."""
        self._lost[member.key] += 1
        if self._lost[member.key] >= ATTEMPTS:
            return False
        self._waiting.appendleft(deque([member]))
        return True

    def leave(self, worker: Hashable) -> None:
        """Let others have what a lost worker had before it."""
        group = self._own.pop(worker, None)
        if group:
            self._waiting.appendleft(group)
