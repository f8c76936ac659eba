"""Follow a sweep to its end: ``mv.sweep``, one line that says how far it is, and Ctrl-C that loses nothing finished."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TextIO

from mklviz.engine.solving import hand_over
from mklviz.quoting import one_line
from mklviz.recipe import Recipe
from mklviz.recipe.words import split_words
from mklviz.record.store import Store, open_store
from mklviz.streams import ProgressLine
from mklviz.sweeps.definition import KEYS, Sweep, own_files
from mklviz.sweeps.engine import Engine
from mklviz.sweeps.running import SweepProgress, SweepRun
from mklviz.sweeps.table import SweepTable

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


def progress_text(progress: SweepProgress) -> str:
    """Return how far a sweep is, and what is left."""
    counts = {"failed": progress.failed, "running": progress.running, "there before": progress.skipped}
    counts["solved by another process"] = progress.elsewhere
    parts = [f"{progress.done:,} of {progress.total:,} runs", *(f"{n:,} {word}" for word, n in counts.items() if n)]
    if progress.seconds_left > 0.0:
        parts.append(f"about {duration_text(progress.seconds_left)} left")
    return ", ".join(parts)


def duration_text(seconds: float) -> str:
    """Return "40 s", "12 min" or "3.5 h"."""
    if seconds < 90.0:
        return f"{math.ceil(seconds)} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 5400.0 else f"{seconds / 3600.0:.1f} h"


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
