"""What solves the members of a sweep, the queue that hands them out, and the command to go on, to pause or to end."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from mklviz.errors import Interrupted
from mklviz.record.store import RunHead, Store
from mklviz.sweeps.member import Member, MemberOutcome


@dataclass(frozen=True)
class Work:
    """What an engine is given to do.

    `head`: what a store records of a run; `store`: where runs are kept; None keeps none; `queue`: the members
    that are left;
    `command`: what is asked for meanwhile; `begun`, `ended`: to be called, in any thread, as each member begins and
    ends.
    """

    head: Callable[[Member], RunHead]
    store: Store | None
    queue: MemberQueue
    command: SweepCommand
    begun: Callable[[Member], None]
    ended: Callable[[Member, MemberOutcome], None]


class Engine(Protocol):
    """Solves members."""

    @property
    def workers(self) -> int:
        """How many members it solves at once."""

    def share(self, members: Sequence[Member]) -> tuple[Member, ...]:
        """Return those of all members that this engine solves: all of them, unless it says otherwise."""
        return tuple(members)

    def run(self, work: Work) -> None:
        """Solve all of the queue, and return when that is done or the command says to end."""


# What is asked of those who solve: to go on, to pause, or to end at once.

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


# Which member is solved next, and by whom: members that share kernels go to one worker, so that it builds them once.
#
# A worker that finds no more kernels of its own takes part in the largest group that is left. Members of one path are
# solved one after another, by the worker that began the path. A member whose worker was lost is handed out again, and
# fails when that has happened three times. What another process has claimed waits until that has solved it or ended.

ATTEMPTS = 3
AGAIN_SECONDS = 0.5  # between two attempts to claim what another process solves
Leave = Callable[[Member], None]
Claim = Callable[[list[Member]], "list[Member] | None"]


def groups_of(members: Iterable[Member]) -> list[list[Member]]:
    """Return the members in groups that share data, split and kernels."""
    return _by(lambda member: member.recipe.bank_key, members)


def paths_of(members: Iterable[Member]) -> list[list[Member]]:
    """Return the members of each path; one that is on none is by itself."""
    return _by(lambda member: member.path, members)


def _by(key: Callable[[Member], Hashable], members: Iterable[Member]) -> list[list[Member]]:
    groups: dict[Hashable, list[Member]] = {}
    for member in members:
        groups.setdefault(key(member), []).append(member)
    return [*groups.values()]


@dataclass(eq=False)
class _PathLeft:
    """What is left of a path; `busy` while one of its members is solved, `begun` by the worker whose it is."""

    left: deque[Member]
    busy: bool = False
    begun: bool = False
    claimed: bool = False
    again: float = 0.0  # when it may be claimed, where others have


class MemberQueue:
    """The members that are left; one thread takes them, and any may say that one has ended.

    `claim`: returns what is left to be solved of a path that is about to begin, or None where another process solves
    it; `leave`: lets others have the path that a member is on.
    """

    def __init__(self, members: Iterable[Member], claim: Claim | None = None, leave: Leave | None = None) -> None:
        self._claim, self._leave = claim or (lambda path: path), leave or (lambda _: None)
        groups = [[_PathLeft(deque(path)) for path in paths_of(group)] for group in groups_of(members)]
        self._paths = {path.left[0].path: path for group in groups for path in group}
        self._waiting = deque(deque(group) for group in groups)  # of paths with something left
        self._own: dict[Hashable, deque[_PathLeft]] = {}
        self._count = sum(len(path.left) for path in self._paths.values())
        self._lost: Counter[str] = Counter()

    def __len__(self) -> int:
        return self._count

    def take(self, worker: Hashable) -> Member | None:
        """Return the next member for a worker; None where none is left that it may solve now."""
        while True:
            path = _free(self._own.get(worker, ())) or self._waiting_path(worker) or self._path_of_others(worker)
            if path is None:
                return None
            if path.claimed or self._claimed(path):
                break
            if not path.left:
                self._own[worker].remove(path)
        path.busy = path.begun = True
        self._count -= 1
        member = path.left.popleft()
        if not path.left:
            self._own[worker].remove(path)
        return member

    def _claimed(self, path: _PathLeft) -> bool:
        """Return whether something is left of a path that no other process solves."""
        left = self._claim([*path.left])
        if left is None:
            path.again = time.monotonic() + AGAIN_SECONDS
            return False
        self._count -= len(path.left) - len(left)
        path.left, path.claimed = deque(left), bool(left)
        return path.claimed

    @property
    def paths(self) -> int:
        """How many paths have members left: no more workers than that are of use."""
        return sum(bool(path.left) for path in self._paths.values())

    @property
    def elsewhere(self) -> int:
        """How many members wait for another process."""
        return sum(len(path.left) for path in [*self._paths.values()] if path.again and not path.claimed)

    def ended(self, member: Member) -> None:
        """Let the next member of its path be taken, or others have what is over."""
        path = self._paths[member.path]
        path.busy = False
        if not path.left:
            self._leave(member)

    def again(self, member: Member) -> bool:
        """Hand a member out again whose worker was lost; return False where that has happened too often."""
        self._lost[member.key] += 1
        if self._lost[member.key] >= ATTEMPTS:
            return False
        path = self._paths[member.path]
        if not path.left:  # it stands in no group any more
            path.begun = False
            self._waiting.appendleft(deque([path]))
        path.left.appendleft(member)
        path.busy = False
        self._count += 1
        return True

    def leave(self, worker: Hashable) -> None:
        """Let others have what a lost worker had before it."""
        group = self._own.pop(worker, None)
        if group:
            for path in group:
                path.begun = False
            self._waiting.appendleft(group)

    def _waiting_path(self, worker: Hashable) -> _PathLeft | None:
        group = next((group for group in self._waiting if _free(group) is not None), None)
        if group is None:
            return None
        self._waiting.remove(group)
        self._own.setdefault(worker, deque()).extend(group)
        return _free(group)

    def _path_of_others(self, worker: Hashable) -> _PathLeft | None:
        """Return a path that is not begun, far from where its own worker is."""
        now = time.monotonic()
        others = (group for group in self._own.values() if group and not group[-1].begun and group[-1].again <= now)
        largest = max(others, key=len, default=None)
        if largest is None:
            return None
        path = largest.pop()
        self._own.setdefault(worker, deque()).append(path)
        return path


def _free(paths: Iterable[_PathLeft]) -> _PathLeft | None:
    now = time.monotonic()
    return next((path for path in paths if not path.busy and path.again <= now), None)
