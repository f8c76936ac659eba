"""A sweep from a script or a notebook: ``mv.sweep``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mklviz.engine.solving import hand_over
from mklviz.recipe import Recipe
from mklviz.record.store import Store, open_store
from mklviz.sweeps.definition import Sweep
from mklviz.sweeps.engine import Engine
from mklviz.sweeps.following import follow, tell_not_kept
from mklviz.sweeps.running import SweepRun
from mklviz.sweeps.table import SweepTable

__all__ = ["sweep"]


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
        Words such as ``"data=sonar,heart; split=0...19; solvers=silp,level; C=1,10,100"``, or what `lists` are of.
    engine : Engine, optional
        What solves the runs: `Processes` on this machine by default, a `Shard`, or a `DaskCluster`.
    workers : int, optional
        How many processes; one for each core by default.
    store : Store, str or Path, optional
        Where runs are kept; the user's store by default. "none" keeps none.
    retry : bool
        Whether runs that failed before are tried again.
    **lists
        Lists by the keys of a recipe's words: ``data=["sonar", "heart"], split=range(20), C=[1, 10, 100]``; of a key
        with a hyphen, with an underscore instead.

    Returns
    -------
    SweepTable
        Its ``frame`` has a row for each run.

    Raises
    ------
    MklvizError
        With a sentence for each part that cannot be used.
    KeyboardInterrupt
        On Ctrl-C; its `found` is the table of what was found until then.
    """
    named = {key if key == "C" else key.replace("_", "-"): value for key, value in lists.items()}
    kept = store if isinstance(store, Store) else open_store(store)
    run = SweepRun(_described(words, named), kept, engine, workers, retry)
    try:
        follow(run)
        tell_not_kept(run)
    except KeyboardInterrupt as stop:
        hand_over(stop, run.table())
        raise
    return run.table()


def _described(words: str | Recipe | Sweep, lists: dict[str, Any]) -> Sweep:
    """Return the sweep that is meant; lists of the call take the place of those of the words."""
    if isinstance(words, Recipe):
        return Sweep(words, lists)
    described = Sweep.from_words(words) if isinstance(words, str) else words
    return Sweep(described.recipe, {**dict(described.lists), **lists}) if lists else described
