"""A sweep under way: what is finished is skipped, what was cut off is repeated, and it can pause, go on and end."""

from __future__ import annotations

import logging
import math
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Any, TextIO

from mklviz.engine.solving import hand_over
from mklviz.errors import MklvizError
from mklviz.numbers import counted, duration_text
from mklviz.quoting import listed, one_line
from mklviz.recipe import Recipe
from mklviz.recipe.words import split_words
from mklviz.record.store import EVERYBODY, Asker, RunHead, Store, open_store
from mklviz.record.store.folder import BEGUN, HELD, LOCKS, MEANWHILE, Claims
from mklviz.record.store.stored import owned_key
from mklviz.streams import ProgressLine
from mklviz.sweeps.definition import KEYS, Sweep, own_files
from mklviz.sweeps.engine import CANCEL, GO_ON, PAUSE, Engine, MemberQueue, SweepCommand, Work
from mklviz.sweeps.member import Member, MemberOutcome
from mklviz.sweeps.processes import Processes
from mklviz.sweeps.solving import head_of, on_disk
from mklviz.sweeps.table import SweepTable, known_outcomes

_log = logging.getLogger(__name__)
_NONE = MemberOutcome("", "")


@dataclass(frozen=True)
class SweepProgress:
    """How far a sweep is, in members.

    `done` have a result, the `skipped` ones (which were there before) among them; `failed` have a reason instead;
    `running` are being solved; `total` is all of this engine's share; `seconds_left` is a guess, nan where there is
    none yet; `elsewhere` are those that another process solves.

    Examples
    --------
    >>> mv.SweepProgress(done=3, running=1, failed=0, skipped=0, total=10, seconds_left=60.0).total
    10
    """

    done: int
    running: int
    failed: int
    skipped: int
    total: int
    seconds_left: float
    elsewhere: int = 0


class SweepRun:
    """A sweep under way.

    Parameters
    ----------
    sweep : Sweep
    store : Store, optional
        Where the runs are kept, and looked for, as its owner has them; without it they are in the table alone.
    engine : Engine, optional
        What solves the members: `Processes` by default, a `Shard` of several, or a `DaskCluster`.
    workers : int, optional
        How many processes, where no engine is given.
    retry : bool
        Whether members that failed before are solved again.
    beside : sequence of Sweep
        Others that are solved along with it, in one queue; what several have in common is solved once.

    Attributes
    ----------
    members : tuple of Member
        Those that the engine solves.
    status : str
        "ready", "running", "paused", "stopped", "finished" or "failed".
    error : BaseException or None
        What broke the engine.

    Examples
    --------
    >>> run = mv.SweepRun(mv.Sweep.from_words("data=heart; C=1,10"))
    >>> len(run.members), run.status
    (6, 'ready')
    """

    def __init__(
        self,
        sweep: Sweep,
        store: Store | None = None,
        engine: Engine | None = None,
        workers: int | None = None,
        retry: bool = False,
        beside: Sequence[Sweep] = (),
    ) -> None:
        self.sweep, self.store, self.retry = sweep, store, retry
        self.engine: Engine = Processes(workers) if engine is None else engine
        self.error: BaseException | None = None
        self._whose: Asker = EVERYBODY if store is None else store.owner
        self._sweeps: dict[str, str] = {}  # the key of the first sweep that has a member
        every: dict[str, Member] = {}
        for each in (sweep, *beside):
            own = {member.key: member for member in each.members}
            self._sweeps = dict.fromkeys(own, each.key) | self._sweeps
            every |= own
        self.members = self.engine.share(tuple(every.values()))
        self._outcomes: dict[str, MemberOutcome] = {}
        self._skipped = 0  # of these, there before
        self._begun: dict[str, float] = {}
        self._took: dict[str, list[float]] = {}  # seconds by solver
        self._queue = MemberQueue(())
        self._command = SweepCommand()
        self._lock = threading.Lock()
        self._started, self._ended = False, threading.Event()

    def start(self) -> None:
        """Begin, in the background; what a store knows already is not solved again."""
        with self._lock:
            if self._started:
                return
            self._started = True
        threading.Thread(target=self._run, name="mklviz-sweep", daemon=True).start()

    def pause(self) -> None:
        """Hold every run after the step under way."""
        self._command.say(PAUSE)

    def resume(self) -> None:
        """Go on."""
        self._command.say(GO_ON)

    def cancel(self) -> None:
        """End at once; what has finished stays, and what is under way will be repeated another time."""
        self._command.say(CANCEL)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the sweep has ended; return whether it has."""
        return self._ended.wait(timeout)

    @property
    def status(self) -> str:
        word = self._command.word
        if self._ended.is_set():
            return "failed" if self.error is not None else "stopped" if word == CANCEL else "finished"
        if not self._started:
            return "ready"
        return "paused" if word == PAUSE else "running"

    @property
    def progress(self) -> SweepProgress:
        """How far it is; cheap enough to be asked for several times a second."""
        with self._lock:
            failed = sum(outcome.failed for outcome in self._outcomes.values())
            done = sum(outcome.done for outcome in self._outcomes.values())
            counts = done, len(self._begun), failed, self._skipped, len(self.members)
            return SweepProgress(*counts, self._seconds_left(), self._queue.elsewhere)

    @property
    def not_kept(self) -> str:
        """Which of its runs the store does not have, and why, in a sentence; "" where it has all that ended."""
        with self._lock:
            missing = [member for member in self.members if self._outcomes.get(member.key, _NONE).unkept]
            why = [self._outcomes[member.key].unkept.removesuffix(MEANWHILE).strip() for member in missing]
        if not missing:
            return ""
        named = listed([f"{member.data} {member.split} {member.solver}" for member in missing])
        count = f"{len(missing):,} of {counted(len(self.members), 'run')}"
        return f"Not kept: {count}, {named}. {why[-1]} The same words again solve exactly these."

    def table(self, sweep: Sweep | None = None) -> SweepTable:
        """Return what is known now, of the first sweep or of another one."""
        sweep = sweep or self.sweep
        with self._lock:
            known = {key: self._outcomes[key] for member in sweep.members if (key := member.key) in self._outcomes}
        return SweepTable(sweep, known)

    def _run(self) -> None:
        try:
            known = {} if self.store is None else known_outcomes(self.store, self.members)
            if self.retry:
                known = {key: outcome for key, outcome in known.items() if outcome.done}
            with self._lock:
                self._outcomes, self._skipped = known, len(known)
            left = [member for member in self.members if member.key not in known]
            store = self.store
            claims = Claims(store.folder / LOCKS if store is not None and store.enabled else None)
            claim, leave = partial(self._claim, claims), lambda member: claims.leave(self._claim_key(member))
            self._queue = MemberQueue(left, claim, leave)
            try:
                self.engine.run(Work(self._head, store, self._queue, self._command, self._on_begin, self._on_end))
            finally:
                claims.close()
                self._look_what_is_kept()
        except BaseException as error:  # for the caller that waits
            if not isinstance(error, MklvizError):
                _log.exception("A sweep broke down")
            self.error = error
        finally:
            with self._lock:
                self._begun.clear()
            self._ended.set()

    def _head(self, member: Member) -> RunHead:
        return head_of(member, self._sweeps[member.key], self._whose)

    def _claim_key(self, member: Member) -> str:
        return owned_key(member.path, self._whose.name)

    def _claim(self, claims: Claims, path: list[Member]) -> list[Member] | None:
        """Return what is left of a path, once no other process solves it; None while one does."""
        claim = claims.take(self._claim_key(path[0]))
        if claim == HELD:
            return None
        known: dict[str, MemberOutcome] = {}
        if claim == BEGUN and self.store is not None:  # since this sweep began
            known = known_outcomes(self.store, path)
            known = {key: outcome for key, outcome in known.items() if outcome.done or not self.retry}
        with self._lock:
            self._outcomes.update(known)
        left = [member for member in path if member.key not in known]
        if not left:
            claims.leave(self._claim_key(path[0]))
        return left

    def _look_what_is_kept(self) -> None:
        """Withdraw the trouble of runs that the disk has taken after all."""
        missing = [member for member in self.members if self._outcomes.get(member.key, _NONE).unkept]
        if missing and self.store is not None:
            known = known_outcomes(self.store, missing)
            kept = {key: outcome for key, outcome in known.items() if on_disk(outcome.run)}
            with self._lock:
                self._outcomes.update(kept)
                for key in {member.key for member in missing} - set(kept):
                    self._outcomes[key] = replace(self._outcomes[key], run="")

    def _on_begin(self, member: Member) -> None:
        with self._lock:
            self._begun[member.key] = time.monotonic()

    def _on_end(self, member: Member, outcome: MemberOutcome) -> None:
        self._queue.ended(member)
        with self._lock:
            begun = self._begun.pop(member.key, None)
            if outcome.done or outcome.failed:
                self._outcomes[member.key] = outcome
            if begun is not None:
                self._took.setdefault(member.solver, []).append(time.monotonic() - begun)

    def _seconds_left(self) -> float:
        """Guess what is left, by what the solvers have taken so far."""
        left = [member for member in self.members if member.key not in self._outcomes]
        if not left or not self._took:
            return math.nan if left else 0.0
        usual = fmean(chain(*self._took.values()))
        means = {solver: fmean(each) for solver, each in self._took.items()}
        return sum(means.get(member.solver, usual) for member in left) / max(1, self.engine.workers)


# -- Follow a sweep to its end: ``mv.sweep``, one line that says how far it is, and Ctrl-C that loses nothing finished.

LOOK_SECONDS = 0.2
STOP_SECONDS = 10.0


def follow(run: SweepRun, stopped: Callable[[], bool] = lambda: False, stream: TextIO | None = None) -> None:
    """Start a sweep and wait until it has ended or `stopped` says so, printing how far it is; raise what broke it."""
    line = ProgressLine(stream=stream)
    run.start()
    try:
        while not run.wait(LOOK_SECONDS):
            line.update(lambda: progress_text(run.progress))
            if stopped():
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        run.cancel()
        run.wait(STOP_SECONDS)
        raise
    finally:
        line.finish(progress_text(run.progress))
    if run.error is not None:
        raise run.error


def tell_not_kept(run: SweepRun) -> None:
    """Say which runs the store does not have."""
    if run.not_kept:
        print(f"mklviz: {one_line(run.not_kept)}", file=sys.stderr, flush=True)


def progress_text(progress: SweepProgress, going: str = "running") -> str:
    """Return how far a sweep is, and what is left; `going`: what runs are that have begun."""
    counts = {"failed": progress.failed, going: progress.running, "there before": progress.skipped}
    counts["solved by another process"] = progress.elsewhere
    parts = [f"{progress.done:,} of {counted(progress.total, 'run')}"]
    parts += [f"{n:,} {word}" for word, n in counts.items() if n]
    if progress.seconds_left > 0.0:
        parts.append(f"about {duration_text(progress.seconds_left)} left")
    return ", ".join(parts)


# A sweep from a script or a notebook: ``mv.sweep``.


def sweep(
    words: str | Recipe | Sweep = "",
    engine: Engine | None = None,
    workers: int | None = None,
    store: Store | str | Path | None = None,
    retry: bool = False,
    **lists: Any,
) -> SweepTable:
    """Solve all runs of a recipe with lists, and return the table of their results.

    What has finished before, in this store, is not solved again; what was cut off is. Ctrl-C ends the sweep and loses
    nothing that has finished.

    Parameters
    ----------
    words : str, Recipe or Sweep
        Words such as ``"data=sonar,mine.csv; split=0...19; solvers=silp,level; C=1,10,100"``, or what `lists` are of.
    engine : Engine, optional
        What solves the runs: `Processes` on this machine by default, a `Shard`, or a `DaskCluster`.
    workers : int, optional
        How many processes; one for each core by default.
    store : Store, str or Path, optional
        Where runs are kept; the user's store by default. "none" keeps none.
    retry : bool
        Whether runs that failed before are tried again.
    **lists
        Lists by the keys of a recipe's words: ``data=["sonar", "mine.csv"], split=range(20), C=[1, 10, 100]``; of a
        key with a hyphen, with an underscore instead. Data are names, files and data sets, such as `read_dataset` has.

    Returns
    -------
    SweepTable
        Its ``frame`` has a row for each run.

    Raises
    ------
    MklvizError
        With a sentence for each part that cannot be used.
    KeyboardInterrupt
        On Ctrl-C; its `found` is the table of what had ended until then.

    Examples
    --------
    >>> len(mv.sweep("data=heart; solvers=level,spg", C=[1, 10], workers=1, store="none").frame)
    4
    """
    named = {key if key == "C" else key.replace("_", "-"): value for key, value in lists.items()}
    kept = store if isinstance(store, Store) else open_store(store)
    run = SweepRun(sweep_of(words, named), kept, engine, workers, retry)
    try:
        follow(run)
        tell_not_kept(run)
    except KeyboardInterrupt as stop:
        hand_over(stop, run.table())
        raise
    return run.table()


def sweep_of(words: str | Recipe | Sweep, lists: Mapping[str, Any] | None = None) -> Sweep:
    """Return the sweep that is meant, its files read; lists of the call take the place of those of the words."""
    lists = lists or {}
    if isinstance(words, str):
        texts, _ = split_words(words, KEYS)
        return Sweep.from_words(words, own_files({**texts, **lists}), lists)
    recipe, kept, own = (words, {}, ()) if isinstance(words, Recipe) else (words.recipe, dict(words.lists), words.own)
    return Sweep(recipe, {**kept, **lists}, own_files(lists) if "data" in lists else own)
