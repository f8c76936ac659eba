"""From an experiment to a problem that can be raced, in a thread, with progress, and given up when asked.

Kernel banks are kept for the whole process: a class of thirty that opens the same scenario builds one bank. What is
kept is read-only and bounded in memory; nothing here knows of a page.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from functools import partial

from mklviz.context import interruptible
from mklviz.datasets import Dataset
from mklviz.engine import Race
from mklviz.engine.warmup import WARMING, WARMUP, Warmup
from mklviz.errors import Interrupted
from mklviz.recipe.experiment import Experiment, Prepared

__all__ = ["BANKS", "BankStore", "Preparation"]


class BankStore:
    """The prepared problems used last, at most `max_bytes` of kernels in at most `max_count` banks."""

    def __init__(self, max_count: int = 12, max_bytes: int = 2**30) -> None:
        self._max_count, self._max_bytes = max_count, max_bytes
        self._kept: OrderedDict[tuple[object, ...], Prepared] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def nbytes(self) -> int:
        """Memory the kept banks take."""
        return sum(prepared.problem.bank.nbytes for prepared in self._kept.values())

    def get(self, key: tuple[object, ...]) -> Prepared | None:
        """Return what was kept under `key`, if it still is."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key: tuple[object, ...], prepared: Prepared) -> None:
        """Keep `prepared`, and drop what was not used for longest."""
        if prepared.problem.bank.nbytes > self._max_bytes:
            return
        with self._lock:
            self._kept[key] = prepared
            while len(self._kept) > self._max_count or self.nbytes > self._max_bytes:
                self._kept.popitem(last=False)


BANKS = BankStore()


class Preparation:
    """One problem being prepared.

    Parameters
    ----------
    experiment : Experiment
    data : Dataset, optional
        The user's own data instead of the named data set.

    Attributes
    ----------
    fraction : float
        How much is done.
    stage : str
        What is being done, as a sentence.
    """

    def __init__(
        self,
        experiment: Experiment,
        data: Dataset | None = None,
        banks: BankStore | None = None,
        warmup: Warmup | None = None,
    ) -> None:
        self.fraction = 0.0
        self.stage = "Building the kernels."
        self._experiment, self._data = experiment, data
        self._banks = BANKS if banks is None else banks
        self._warmup = WARMUP if warmup is None else warmup
        self._cancelled, self._ended = threading.Event(), threading.Event()
        self._prepared: Prepared | None = None
        self._error: BaseException | None = None

    def start(self) -> None:
        """Prepare in a thread; look at `ended` and then take `result`."""
        threading.Thread(target=self._work, name="mklviz-prepare", daemon=True).start()

    @property
    def ended(self) -> bool:
        """Whether `result` can be taken."""
        return self._ended.is_set()

    def result(self) -> Prepared:
        """Wait for the end and return the prepared problem, or raise what `work` raised."""
        self._ended.wait()
        self._report(1.0)  # who stopped it does not want it, even if it was ready by then
        if self._prepared is None:
            raise self._error or RuntimeError("The preparation ended without a result.")
        return self._prepared

    def hold(self, race: Race) -> None:
        """Let the solvers of `race` that are being compiled join it when they are ready; call it before the start."""
        for run in race.runs.values():
            run.hold(partial(self._warmup.held, race.problem, run.solver.name_))

    def _work(self) -> None:
        try:
            self._prepared = self.work()
        except BaseException as error:  # handed to whoever takes the result
            self._error = error
        finally:
            self._ended.set()

    def cancel(self) -> None:
        """Give up: `work` raises `Interrupted` soon."""
        self._cancelled.set()

    def work(self) -> Prepared:
        """Prepare in the calling thread and return the problem.

        Raises
        ------
        Interrupted
            If it was cancelled.
        DataError, MklvizError
            With a sentence, if the experiment cannot be prepared.
        """
        prepared = self._bank()
        posed = self._experiment.posed(prepared)
        solvers = [choice.name for choice in self._experiment.solvers]
        self._warmup.want(posed.problem, solvers)
        while all(self._warmup.held(posed.problem, solver) for solver in solvers):  # nobody could begin
            self.stage = WARMING
            self._report(self._warmup.fraction)
            self._warmup.wait(0.05)
        self._report(1.0)
        return posed

    def _bank(self) -> Prepared:
        key = bank_key(self._experiment, self._data)
        kept = self._banks.get(key)
        if kept is None:
            with interruptible(self._ask):
                kept = self._experiment.prepare(self._data, progress=self._report)
            self._banks.put(key, kept)
        return kept

    def _ask(self) -> None:
        if self._cancelled.is_set():
            raise Interrupted("The preparation was stopped.")

    def _report(self, fraction: float) -> None:
        self._ask()
        self.fraction = fraction


def bank_key(experiment: Experiment, data: Dataset | None) -> tuple[object, ...]:
    """Return everything that the split and the kernels depend on."""
    source: object = experiment.dataset if data is None else _digest(data)
    kernels = _kernels(experiment) if experiment.combination == "sum" else tuple(experiment.degrees)
    split = experiment.train, experiment.seed, experiment.standardize, experiment.positive, experiment.cache_mb
    return (source, *split, experiment.combination, kernels)


def _kernels(experiment: Experiment) -> tuple[object, ...]:
    families = tuple(repr(family) for family in experiment.kernels)
    return (*families, experiment.normalize, experiment.approximation)


def _digest(data: Dataset) -> bytes:
    content = hashlib.sha256(data.X.tobytes() + data.y.tobytes())
    if data.grams is not None:
        content.update(data.grams.tobytes())
    return content.digest()
