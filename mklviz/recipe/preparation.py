"""Prepare a problem from a recipe in a thread, with progress, and cancel it when asked.

All who want the same problem share its numbers. Personal words, such as the title of a file, are added afterwards.
Nothing here knows of a page.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial

from mklviz.context import checkpoint
from mklviz.context.memory import LEDGER, Ledger
from mklviz.context.meter import LEAST_LEFT
from mklviz.engine import Race
from mklviz.engine.task import ProgressReport, Task
from mklviz.engine.warmup import WARMUP, Warmup
from mklviz.errors import Interrupted, MemoryTaken
from mklviz.numbers import duration_text
from mklviz.recipe.banks import BANKS, BankStore, Progress, RaceSize, solver_bytes
from mklviz.recipe.choices import anonymous, signed
from mklviz.recipe.prepared import Built, Prepared
from mklviz.recipe.recipe import Recipe

BUILDING = "Building the kernels."
WAITING = "Waiting for the kernels of others, who came before."
GIVING_WAY = "There is no memory for both races: the one shown gives way to this one."
PAUSES = (0.25, 0.5, 1.0, 2.0)  # seconds that those who show a race have to give it up


class Preparation:
    """A problem being prepared; while it `wants_room`, the previous race should be given up."""

    def __init__(
        self, recipe: Recipe, banks: BankStore | None = None, warmup: Warmup | None = None, ledger: Ledger | None = None
    ) -> None:
        self.fraction, self.wants_room = 0.0, False
        self.stage, self._since = BUILDING, time.monotonic()
        self._recipe = recipe
        self._banks = BANKS if banks is None else banks
        self._warmup = WARMUP if warmup is None else warmup
        self._ledger = LEDGER if ledger is None else ledger
        self.pauses, self._cancelled = PAUSES, False
        self._task = Task[Prepared | BaseException]()

    def start(self) -> None:
        """Prepare in a thread; take `result` once it has `ended`."""
        self._task.ask(self._recipe, self._answer, "The race could not be prepared")

    @property
    def ended(self) -> bool:
        """Whether `result` can be taken."""
        return self._task.ended

    def result(self) -> Prepared:
        """Return the prepared problem, once, or raise what `work` raised."""
        answer = self._task.take()
        if self._cancelled or answer is None:  # a cancelled problem is not handed over, even if it was ready by then
            raise Interrupted("The preparation was stopped.")
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def hold(self, race: Race) -> None:
        """Let the solvers of `race` that are being compiled join it when they are ready; call it before the start."""
        for run in race.runs.values():
            run.hold(partial(self._warmup.held, race.problem, run.solver.name_))

    def _answer(self, _report: ProgressReport) -> Prepared | BaseException:
        try:
            return self.work()
        except BaseException as error:  # raised again where the result is taken
            return error

    def cancel(self) -> None:
        """Give up: `work` raises `Interrupted` soon."""
        self._cancelled = True
        self._task.cancel()

    def work(self) -> Prepared:
        """Prepare in the calling thread and return the problem."""
        self._wait_while(lambda: self._warmup.compiling("banks"))
        posed = self._pose_in_room()
        solvers = [choice.name for choice in self._recipe.solvers]
        self._warmup.want(posed.problem, solvers)
        self._wait_while(lambda: all(self._warmup.held(posed.problem, solver) for solver in solvers))
        self._report(1.0)
        return posed

    def _pose_in_room(self) -> Prepared:
        for pause in self.pauses:
            with suppress(MemoryTaken):
                return self._pose()
            self.wants_room, self.stage = True, GIVING_WAY
            until = time.monotonic() + pause
            while time.monotonic() < until:
                self._report(0.0)
                time.sleep(0.05)
        return self._pose()

    def _pose(self) -> Prepared:
        key, size = self._recipe.bank_key, self._needs()
        with self._ledger.room(size.own, "this race", more=size.shared):
            room = partial(self._ledger.room, size.shared, "this race", held=size.own)
            built = self._banks.take(key, self._build, self._report, self._tell, room)
            posed = self._recipe.posed(self._named(built))
            self._banks.lend(key, built, posed)
            self._ledger.charge(posed, self._work_bytes(built))
        return posed

    def _needs(self) -> RaceSize:
        """Return what this race still needs: kernels that others use are there already, and stay meanwhile."""
        built = self._banks.find(self._recipe.bank_key)
        if built is None:
            return RaceSize.of(self._recipe, self._recipe.load())
        self._banks.lend(self._recipe.bank_key, built, self)
        return RaceSize(0, self._work_bytes(built))

    def _work_bytes(self, built: Built) -> int:
        bank, recipe = built.bank, self._recipe
        return len(recipe.solvers) * solver_bytes(bank.access, bank.n_samples, recipe.kernels.cache_mb)

    def _wait_while(self, compiling: Callable[[], bool]) -> None:
        stage = self.stage
        while compiling():
            self.stage = self._warmup.sentence
            self._report(self._warmup.fraction)
            self._warmup.wait(0.05)
        self.stage = stage

    def _build(self, progress: Progress) -> Built:
        own = self._recipe.data.dataset
        return self._recipe.build(None if own is None else anonymous(own), progress)

    def _tell(self, begun: bool) -> None:
        self.stage, self._since = BUILDING if begun else WAITING, time.monotonic()

    def _named(self, built: Built) -> Built:
        """Return the numbers under the names that came with the data."""
        data = self._recipe.data
        if data.dataset is None:
            return built
        train, test = (signed(part, data.dataset, data.positive) for part in (built.train, built.test))
        return replace(built, train=train, test=test)

    def _report(self, fraction: float) -> None:
        checkpoint()
        self.fraction = fraction
        if self.stage.startswith(BUILDING) and 0.0 < fraction < 1.0:
            left = (time.monotonic() - self._since) * (1.0 - fraction) / fraction
            self.stage = f"{BUILDING} About {duration_text(left)} left." if left >= LEAST_LEFT else BUILDING
