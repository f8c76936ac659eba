"""How much of the memory that the dashboard may use is held by what, in one ledger for the process.

What exists is charged to an object and counts until that object is freed. What is about to be made asks for room
first: it waits in a line until it fits, and is refused where it never could. No one waits for a part while holding
another, so that no two wait for each other: a race asks for all it needs at once, when the one before it is given up.

What fits goes first, in the order of the line: a request for nearly everything keeps no other out. Only the
dashboard asks; programs and notebooks that call the library have the machine to themselves.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable

from mklviz.errors import BankTooLarge
from mklviz.limits import LIMITS

__all__ = ["LEDGER", "Ledger", "MemoryRequest", "in_words"]

ROOM = "use fewer samples, kernels or solvers"


class MemoryRequest:
    """A request for memory: a place in the line, and then the memory itself, until it is left.

    `needs`: returns the bytes to ask for, which may become fewer while others come before: they may make what is
    shared; `what`: what asks, such as "this race"; `held`: bytes that the caller holds already and keeps, such as a
    file of its own. `admitted` raises `BankTooLarge`, with a sentence, if the request is larger than the whole memory.
    """

    def __init__(self, ledger: Ledger, needs: Callable[[], int], what: str, held: int = 0) -> None:
        self._ledger, self._needs, self._what, self._held = ledger, needs, what, held
        self.size = 0  # bytes asked for, and held once admitted

    @property
    def number(self) -> int:
        """Its number in the line, from 1; 0 once it is admitted or left."""
        return self._ledger.number_of(self)

    @property
    def message(self) -> str:
        """What it waits for, for people."""
        free = max(self._ledger.total - self._ledger.used, 0)
        return (
            f"Waiting for memory: {self._what} needs {in_words(self.size)}, and what others have open leaves"
            f" {in_words(free)}. It is number {self.number:,} in the line."
        )

    def admitted(self) -> bool:
        """Ask whether there is room now; if so, it is taken."""
        self.size = self._needs()
        if self.size + self._held > self._ledger.total:
            self.leave()
            raise BankTooLarge(
                f"{self._what.capitalize()} needs about {in_words(self.size + self._held)} of memory, but all that is"
                f" open here may take {in_words(self._ledger.total)} together: {ROOM}."
            )
        return self._ledger.admit(self)

    def leave(self) -> None:
        """Leave the line, or give the memory back."""
        self._ledger.dismiss(self)


class Ledger:
    """Counts bytes.

    `total`: bytes that all who ask may hold together; `spare`: each drops something that is only kept for reuse, and
    returns whether there was any.
    """

    def __init__(self, total: int = LIMITS.memory_bytes) -> None:
        self.total = total
        self.spare: list[Callable[[], bool]] = []
        self._charged = 0
        self._held: dict[MemoryRequest, int] = {}
        self._line: list[MemoryRequest] = []
        self._returned: deque[int] = deque()  # charges whose owners are gone
        self._lock = threading.RLock()

    @property
    def used(self) -> int:
        """Bytes charged or held."""
        with self._lock:
            while self._returned:
                self._charged -= self._returned.popleft()
            return self._charged + sum(self._held.values())

    @property
    def waiting(self) -> int:
        """How many are in the line."""
        return len(self._line)

    def charge(self, owner: object, size: int) -> None:
        """Count what exists already, as long as `owner` does."""
        with self._lock:
            self._charged += size
        # an owner may go in the middle of anything, this ledger's arithmetic as well: no lock may be asked for then
        weakref.finalize(owner, self._returned.append, size).atexit = False

    def line_up(self, needs: Callable[[], int], what: str, held: int = 0) -> MemoryRequest:
        """Return a request at the end of the line; call its `admitted` until there is room."""
        request = MemoryRequest(self, needs, what, held)
        with self._lock:
            self._line.append(request)
        return request

    def admit(self, request: MemoryRequest) -> bool:
        """Admit a request if it fits into the free memory."""
        while not self._take(request):
            if not any(give_up() for give_up in self.spare):
                return False
        return True

    def _take(self, request: MemoryRequest) -> bool:
        with self._lock:
            if request in self._line and self.used + self._ahead(request) + request.size <= self.total:
                self._line.remove(request)
                self._held[request] = request.size
            return request in self._held

    def _ahead(self, request: MemoryRequest) -> int:
        """Return the bytes of earlier requests that fit as well but have not asked again yet."""
        free = self.total - self.used
        first = 0
        for other in self._line[: self._line.index(request)]:
            if 0 < other.size <= free - first:
                first += other.size
        return first

    def number_of(self, request: MemoryRequest) -> int:
        """Return the position of a request in the line, 0 if it is not in the line."""
        with self._lock:
            return self._line.index(request) + 1 if request in self._line else 0

    def dismiss(self, request: MemoryRequest) -> None:
        """Forget a request, and what it held."""
        with self._lock:
            self._held.pop(request, None)
            if request in self._line:
                self._line.remove(request)


def in_words(size: int) -> str:
    """Return a number of bytes for people: "0.5 GB" or "80 MB"."""
    return f"{size / 2**30:.1f} GB" if size >= 2**29 else f"{max(size, 0) / 2**20:.0f} MB"


LEDGER = Ledger()
