"""The runs that are in the store, as a sequence and a table: ``mv.runs("sonar level gap<1e-3")``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, overload

from mklviz.errors import MklvizError
from mklviz.numbers import counted
from mklviz.quoting import quote, table
from mklviz.record.run_facts import number
from mklviz.record.store import Store, StoredRun, open_store
from mklviz.record.trace import Trace

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("run", "when", "solver", "race", "status", "steps", "SVM solves", "CPU s", "gap", "score")
WORDS = 5  # columns of words, which come first
_IN_FRAMES = (
    *("id", "race", "key", "name", "data", "solver", "label", "status", "steps", "svm_solves", "seconds", "objective"),
    *("lower_bound", "gap", "active", "kernels", "seed", "words", "problem", "lesson", "made_by", "note", "pinned"),
)
_SHOWN = 50  # runs in the table of a notebook


@dataclasses.dataclass(frozen=True)
class KeptRun(StoredRun):
    """A stored run, with the store that its steps are read from."""

    store: Store | None = dataclasses.field(default=None, compare=False, repr=False)

    @property
    def trace(self) -> Trace:
        """Its steps, read anew each time; those of a run that goes on in this process still grow."""
        return (self.store or open_store()).trace(self.id)


class StoredRuns(Sequence[KeptRun]):
    """Runs of a store, in the order asked for: a sequence, and a table of their results.

    Each has the fields of a stored run, such as `solver`, `status`, `gap`, `svm_solves`, `words` and `results`, and
    reads its steps as `trace`.
    """

    def __init__(self, runs: Sequence[StoredRun], store: Store) -> None:
        self._runs = [KeptRun(**vars(run), store=store) for run in runs]

    def __len__(self) -> int:
        return len(self._runs)

    @overload
    def __getitem__(self, index: int) -> KeptRun: ...
    @overload
    def __getitem__(self, index: slice) -> list[KeptRun]: ...
    def __getitem__(self, index: int | slice) -> KeptRun | list[KeptRun]:
        return self._runs[index]

    def __repr__(self) -> str:
        return f"StoredRuns({counted(len(self), 'run')})"

    def _repr_html_(self) -> str:
        rows = [texts_of(run) for run in self._runs[:_SHOWN]]
        more = f", {_SHOWN} of them here" if len(self) > _SHOWN else ""
        return table(f"{counted(len(self), 'run')}{more}", COLUMNS, rows)

    @property
    def traces(self) -> dict[str, Trace]:
        """The steps of all runs by the runs' keys; each is read from the disk."""
        return {run.id: run.trace for run in self._runs}

    def to_frame(self) -> pd.DataFrame:
        """Return one row a run: its key, what it solved, how it ended, and its result."""
        import pandas as pd

        rows = [
            {
                **{name: getattr(run, name) for name in _IN_FRAMES},
                "created": datetime.fromtimestamp(run.created).astimezone(),
                "machine": run.machine.id,
                "tags": ", ".join(run.tags),
                **{name: run.results.get(name) for name in ("score", "score_label")},
            }
            for run in self._runs
        ]
        return pd.DataFrame(rows, columns=[*_IN_FRAMES, "created", "machine", "tags", "score", "score_label"])


def runs(
    where: str = "",
    order: str = "-created",
    limit: int | None = None,
    deleted: bool = False,
    store: str | Path | Store | None = None,
) -> StoredRuns:
    """Return the runs that are in the store: every race of the dashboard, a notebook, a script or the command line.

    Parameters
    ----------
    where : str
        Words that must all occur in name, note, tags, recipe, solver, data, problem or lesson, and conditions:
        ``"sonar solver:level gap<1e-3 since:2026-11-01"``. There are ``solver:``, ``data:``, ``status:``, ``tag:``,
        ``lesson:``, ``made:``, ``pinned:``, ``race:``, ``run:``, ``sweep:``, ``since:``, and comparisons of ``gap``,
        ``svm``, ``seconds``, ``steps``, ``objective`` and ``kernels``. Quotation marks hold words together, as in
        ``status:"cut off"``.
    order : str
        A field of the runs; with a minus sign the largest, or the newest, comes first.
    limit : int, optional
        How many runs at most.
    deleted : bool
        Whether those are asked for that were deleted, instead of the others.
    store : path, optional
        Folder of the store; by default MKLVIZ_STORE of the environment, or else the user's data folder.

    Returns
    -------
    StoredRuns
        ``runs[0].trace`` is the trace of the first, ``runs.to_frame()`` a table of all.

    Raises
    ------
    MklvizError
        If a condition is not understood, with a sentence that says which are.

    Examples
    --------
    >>> recent = mv.runs("solver:level gap<0.01", limit=10)
    """
    opened = store if isinstance(store, Store) else open_store(store)
    return StoredRuns(opened.runs(where, order, limit, deleted), opened)


def short_id(run_id: str) -> str:
    """Return the random part of a run's key, which is enough to name it by."""
    return run_id.split("-")[1] if run_id.count("-") else run_id


def texts_of(run: StoredRun) -> tuple[str, ...]:
    """Return the entries of `COLUMNS` for a run."""
    score = run.results.get("score")
    return (
        short_id(run.id),
        f"{datetime.fromtimestamp(run.created):%Y-%m-%d %H:%M}",
        run.label or run.solver,
        run.name or run.data or "–",
        run.status,
        f"{run.steps:,}",
        f"{run.svm_solves:,}",
        f"{run.seconds:.2f}",
        number(run.gap, ".2g"),
        f"{score:.3f}" if isinstance(score, float) else "–",
    )


def run_named(store: Store, text: str, deleted: bool = False) -> list[StoredRun]:
    """Return the run with that key, or all runs of the race with that key; its beginning or random part will do."""
    known = store.runs(deleted=deleted)
    exact = [run for run in known if text in (run.id, run.race)]
    wanted = text.lower()
    fits = exact or [run for run in known if wanted and (run.id.startswith(wanted) or short_id(run.id) == wanted)]
    fits = fits or [run for run in known if wanted and (run.race.startswith(wanted) or short_id(run.race) == wanted)]
    if not fits:
        raise MklvizError(f"There is no run {quote(text)} in the store: mklviz runs list says which there are.")
    if len({run.race for run in fits}) > 1:
        raise MklvizError(f"{quote(text)} may mean any of {len(fits):,} runs: write more of the key.")
    return fits
