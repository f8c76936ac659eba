"""Kernel banks for the whole process, built once however many open the same scenario, and what memory a race takes.

That is known before anything of it is built: kernels and data, and what each solver works with.
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass

from mklviz.context import interruptible
from mklviz.context.memory import LEDGER, Ledger, give_back
from mklviz.datasets import Dataset
from mklviz.errors import Interrupted
from mklviz.kernels import Bank, KernelBank, NystromBank, ParametricBank, ProductBank
from mklviz.kernels.storage.rows import by_rows
from mklviz.kernels.storage.triangles import packed_length
from mklviz.limits import LIMITS
from mklviz.recipe.choices import KernelChoice
from mklviz.recipe.prepared import Built, families_of_distances
from mklviz.recipe.recipe import Recipe


@dataclass(frozen=True)
class RaceSize:
    """Bytes that a race takes."""

    shared: int  # kernels and data, which all races on them share
    own: int  # what its solvers work with

    @classmethod
    def of(cls, recipe: Recipe, data: Dataset) -> RaceSize:
        """Return what a recipe on these data takes, or raise `BankTooLarge` where the kernels alone are too large."""
        n = data.n_train(recipe.split.train)
        kernels, access = _kernels(recipe.kernels, data, n), _access(recipe.kernels, data, n)
        return cls(kernels + data_bytes(data), len(recipe.solvers) * solver_bytes(access, n, recipe.kernels.cache_mb))


def _kernels(kernels: KernelChoice, data: Dataset, n: int) -> int:
    if data.grams is not None:
        each = sum(len(f.values()) for f in families_of_distances(kernels.families)) if data.distances else 1
        return len(data.grams) * each * 8 * packed_length(n)
    width, names = data.n_features, list(data.feature_names)
    if kernels.combination == "polynomial":
        return ParametricBank.check_size(n, width)
    if kernels.combination == "product":
        return ProductBank.check_size(n, width)[1]
    if kernels.approximation is not None:
        return NystromBank.check_size(n, width, kernels.families, kernels.approximation, feature_names=names)[1]
    return KernelBank.check_size(n, width, kernels.families, feature_names=names, rows=kernels.by_rows)[1]


def _access(kernels: KernelChoice, data: Dataset, n: int) -> str:
    """Return how solvers would reach the kernels, see `Bank.access`."""
    if kernels.approximation is not None:
        return "factors"
    formed = data.grams is not None or kernels.combination == "polynomial"
    return "rows" if kernels.by_rows or (not formed and by_rows(n)) else "matrix"


def solver_bytes(access: str, n: int, cache_mb: int) -> int:
    """Return what one solver works with: K_d, rows of it, or vectors."""
    return {"matrix": 8 * n * n, "rows": cache_mb * 2**20, "factors": 64 * 8 * n}[access]


def built_bytes(built: Built) -> int:
    """Return the bytes of kernels and data that have been built."""
    bank: Bank = built.bank
    return bank.nbytes + data_bytes(built.train) + data_bytes(built.test)


def data_bytes(data: Dataset) -> int:
    """Return the bytes of a data set."""
    return int(data.X.nbytes + data.y.nbytes + (0 if data.grams is None else data.grams.nbytes))


# -- banks
#
# A second request for a bank waits while it is being built. What is kept is read-only, bounded in memory, and knows
# no names. Banks in use count in the ledger of memory until they are unused, and those that are only kept make
# room first.

Progress = Callable[[float], None]
LOOK_SECONDS = 0.02  # between a waiting person's looks at how far a bank is


class _Build:
    """One bank being built, in a thread of its own, for as long as anybody waits for it."""

    def __init__(self, build: Callable[[Progress], Built], room: threading.Semaphore) -> None:
        self.waiting, self.fraction = 0, 0.0
        self.begun = False
        self.ended = threading.Event()
        self.built: Built | None = None
        self.error: BaseException | None = None
        self._build, self._room = build, room

    def work(self) -> None:
        try:
            while not self._room.acquire(timeout=LOOK_SECONDS):
                self._ask()
            try:
                self.begun = True
                with interruptible(self._ask):
                    self.built = self._build(self._report)
            finally:
                self._room.release()
        except BaseException as error:  # raised again where it is waited for
            self.error = error

    def _ask(self) -> None:
        if not self.waiting:
            raise Interrupted("The preparation was stopped.")

    def _report(self, fraction: float) -> None:
        self._ask()
        self.fraction = fraction


class BankStore:
    """The banks used last, within `max_count` and `max_bytes`; at most `at_once` are built at the same time."""

    def __init__(
        self,
        max_count: int = 12,
        max_bytes: int = LIMITS.banks_bytes,
        at_once: int = LIMITS.preparations,
        ledger: Ledger = LEDGER,
    ) -> None:
        self._max_count, self._max_bytes = max_count, max_bytes
        self._ledger = ledger
        self._room = threading.Semaphore(at_once)
        self._kept: OrderedDict[Hashable, Built] = OrderedDict()
        self._lent: dict[object, tuple[Hashable, Built]] = {}  # by a token of each user
        self._builds: dict[Hashable, _Build] = {}
        self._lock = threading.RLock()  # one that asks for room may drop a bank of its own store

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def nbytes(self) -> int:
        """Memory the kept banks take."""
        return sum(built.bank.nbytes for built in self._kept.values())

    def find(self, key: Hashable) -> Built | None:
        """Return what is kept under `key` or in use, None where there is nothing."""
        if key in self._kept:
            return self._kept[key]
        return next((built for known, built in [*self._lent.values()] if known == key), None)

    def lend(self, key: Hashable, built: Built, user: object) -> None:
        """Let others find `built`, and do not drop it, as long as the object `user` lives."""
        token = object()
        self._lent[token] = key, built
        # a user may go at any moment, so no lock may be taken then
        weakref.finalize(user, self._lent.pop, token, None).atexit = False

    def make_room(self) -> bool:
        """Drop the least recently used bank of the unused ones; return whether there was one."""
        with self._lock:
            used = {key for key, _ in [*self._lent.values()]}
            idle = next((key for key in self._kept if key not in used), None)
            return idle is not None and self._kept.pop(idle, None) is not None

    def take(
        self,
        key: Hashable,
        build: Callable[[Progress], Built],
        report: Progress,
        tell: Callable[[bool], None] = lambda begun: None,
        room: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> Built:
        """Return the bank kept under `key`, or build it once, in another thread, for all who ask for it meanwhile.

        `report`: called with the fraction done, raises when the caller no longer waits; `tell`: called with whether the
        build has begun; `room`: holds memory for it, or raises.
        """
        with self._lock:
            known = self.find(key)
            if known is not None:
                self._keep(key, known)
                return known
            under_way = self._builds.get(key) or self._begin(key, build, room())
            under_way.waiting += 1
        try:
            while not under_way.ended.wait(LOOK_SECONDS):
                tell(under_way.begun)
                report(under_way.fraction)
        finally:
            self._leave(key, under_way)
        if under_way.built is None:
            raise under_way.error or RuntimeError("The preparation ended without a result.")
        return under_way.built

    def _begin(self, key: Hashable, build: Callable[[Progress], Built], room: AbstractContextManager[None]) -> _Build:
        held = ExitStack()
        held.enter_context(room)
        begun = self._builds[key] = _Build(build, self._room)
        threading.Thread(target=self._finish, args=(key, begun, held), name="mklviz-bank", daemon=True).start()
        return begun

    def _finish(self, key: Hashable, begun: _Build, held: ExitStack) -> None:
        with self._lock:
            pass  # the one that began it is counted before any question whether it is waited for
        begun.work()
        give_back()  # kernels are computed in pieces of their own before they stand together
        with self._lock:
            if begun.built is not None:
                self._ledger.charge(begun.built.bank, built_bytes(begun.built))
                self._keep(key, begun.built)
            if self._builds.get(key) is begun:
                del self._builds[key]
        held.close()
        begun.ended.set()

    def _leave(self, key: Hashable, build: _Build) -> None:
        """Stop waiting. A build that is no longer waited for is cancelled; a later request begins a new one."""
        with self._lock:
            build.waiting -= 1
            if not build.waiting and self._builds.get(key) is build:
                del self._builds[key]

    def _keep(self, key: Hashable, built: Built) -> None:
        """Keep `built`, and drop the least recently used banks."""
        if built.bank.nbytes > self._max_bytes:
            return
        self._kept[key] = built
        self._kept.move_to_end(key)
        while len(self._kept) > self._max_count or self.nbytes > self._max_bytes:
            self._kept.popitem(last=False)


BANKS = BankStore()
LEDGER.spare.append(BANKS.make_room)
