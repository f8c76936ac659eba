"""The results of a sweep: a row for each member that has ended."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mklviz.errors import MklvizError
from mklviz.numbers import counted
from mklviz.record.archive import replacing
from mklviz.record.run_facts import SOLVED
from mklviz.record.store import Store
from mklviz.record.summary import require_parquet, write_csv
from mklviz.sweeps.definition import Sweep
from mklviz.sweeps.member import Member, MemberOutcome

if TYPE_CHECKING:
    import pandas as pd


def _column(setting: str) -> str:
    """Return the column of what varies; what is called as a result of runs is, has a name of its own."""
    return f"{setting} (set)" if setting in ("kernels", "gap") else setting


@dataclass(frozen=True)
class SweepTable:
    """What is known of a sweep.

    Attributes
    ----------
    sweep : Sweep
    outcomes : mapping
        How the members ended, by their keys.

    Examples
    --------
    >>> table = mv.sweep("data=heart; solvers=level; C=1,10", workers=1, store="none")
    >>> bool(table.frame["gap"].max() < 0.01)
    True
    """

    sweep: Sweep
    outcomes: Mapping[str, MemberOutcome]

    @classmethod
    def of(cls, store: Store, sweep: Sweep) -> SweepTable:
        """Return what a store knows of a sweep, whichever sweep its members were solved for."""
        return cls(sweep, known_outcomes(store, sweep.members))

    def __len__(self) -> int:
        return len(self.outcomes)

    def __repr__(self) -> str:
        """Return the rows in at most 20 lines, those in the middle left out."""
        shown = self.frame.drop(columns=["machine", "run", "reason"])
        return f"{shown.to_string(max_rows=16, max_cols=12)}\n{len(self)} of {len(self.sweep.members)} runs"

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each member that has ended, in the order of the sweep.

        Its columns are data, split, solver, whatever else varies (gap and kernels as "gap (set)" and "kernels (set)"),
        status, gap, objective, svm_solves, seconds (of CPU), fits (the same in fits of one SVM with the mean kernel on
        the same machine), score (on the test part), kernels (in use), steps, moved (full moves of the weights, see
        `Motion`), machine, run (key in the store), samples (trained on), m (kernels in the bank) and reason.
        """
        import pandas as pd

        columns = [*self._row(self.sweep.members[0], MemberOutcome("", ""))]
        return pd.DataFrame([self._row(member, outcome) for member, outcome in self], columns=columns)

    @staticmethod
    def _row(member: Member, outcome: MemberOutcome) -> dict[str, Any]:
        results = outcome.results
        return {
            "data": member.data,
            "split": member.split,
            "solver": member.solver,
            **{_column(key): value for key, value in member.settings.items()},
            "status": outcome.status,
            "gap": outcome.gap,
            "objective": outcome.objective,
            "svm_solves": outcome.svm_solves,
            "seconds": outcome.seconds,
            "fits": outcome.fits,
            "score": results.get("score", math.nan),
            "kernels": outcome.kernels,
            "steps": outcome.steps,
            "moved": results.get("moved", math.nan),
            "machine": results.get("machine", ""),
            "run": outcome.run,
            "samples": results.get("samples", 0),
            "m": results.get("bank", 0),
            "reason": outcome.reason,
        }

    def __iter__(self) -> Iterator[tuple[Member, MemberOutcome]]:
        """Yield the members that have ended, in the order of the sweep, and how."""
        for member in self.sweep.members:
            if member.key in self.outcomes:
                yield member, self.outcomes[member.key]

    def save(self, path: str | Path) -> None:
        """Write the table to a file whose name ends in .csv or .parquet.

        Raises
        ------
        MklvizError
            For another ending, or where nothing that writes Parquet is installed.
        """
        ending = Path(path).suffix.lower()
        if ending not in (".csv", ".parquet"):
            raise MklvizError(f"A table is written to a file that ends in .csv or .parquet, not to {Path(path).name}.")
        if ending == ".parquet":
            require_parquet()
        with replacing(path) as file:
            if ending == ".csv":
                write_csv(self.frame, file)
            else:
                file.write(self.frame.to_parquet(None, engine="pyarrow", index=False))

    def _repr_html_(self) -> str:
        html: str = self.frame.to_html(max_rows=20, index=False)
        return html


def known_outcomes(store: Store, members: Iterable[Member]) -> dict[str, MemberOutcome]:
    """Return how members ended, by their keys, as a store knows it: a result before a failure, the newest first."""
    wanted = {member.key for member in members}
    outcomes: dict[str, MemberOutcome] = {}
    where = f"member:{next(iter(wanted))}" if len(wanted) == 1 else "made:sweep"
    for run in store.runs(where, order="created"):
        if run.member in wanted and run.results:  # without, it was cut off before its score was written
            outcome = MemberOutcome.stored(run)
            if outcome.done or (outcome.failed and not (run.member in outcomes and outcomes[run.member].done)):
                outcomes[run.member] = outcome
    return outcomes


# The results of a sweep in short: mean and standard deviation over the splits, for each data set and solver.
#
# What a run that did not converge took is less than what it would have taken: where there is one among those that are
# averaged, the mean is a lower bound, and says so. CPU seconds stand there for runs of one machine only.


def summary_rows(table: SweepTable) -> list[tuple[str, ...]]:
    """Return header and rows of a short table."""
    frame, varied = table.frame, [*table.sweep.members[0].settings]
    costs = {"SVM solves": "svm_solves", "fits": "fits"} | ({"CPU s": "seconds"} if _machines(table) < 2 else {})
    rows: list[tuple[str, ...]] = [("data", "solver", *varied, "solved", *costs, "test score", "kernels")]
    for (data, solver, *settings), part in frame.groupby(["data", "solver", *map(_column, varied)], sort=False):
        ran, solved = part[_ran(part)], part["status"].isin(SOLVED)
        bound = "" if solved[ran.index].all() else "≥ "
        named = [value if isinstance(value, str) else f"{value:g}" for value in settings]
        spent = [_spread(ran[cost], bound) for cost in costs.values()]
        cells = [_spread(ran["score"]), _spread(ran["kernels"])]
        rows.append((str(data), str(solver), *named, f"{solved.sum():,} of {len(part):,}", *spent, *cells))
    return rows


def machines_text(table: SweepTable) -> str:
    """Return why times are left out, where they are."""
    count = _machines(table)
    if count < 2:
        return ""
    return f"These runs are of {counted(count, 'machine')}, of which only SVM solves and fits can be compared."


def _machines(table: SweepTable) -> int:
    frame = table.frame
    return int(frame["machine"][_ran(frame)].nunique())


def _ran(frame: pd.DataFrame) -> pd.Series[bool]:
    return (frame["steps"] > 0) | (frame["svm_solves"] > 0)


def _spread(values: pd.Series[float], bound: str = "") -> str:
    """Return "mean ± standard deviation" of what is known."""
    known = values.dropna()
    if known.empty:
        return "–"
    mean = f"{bound}{known.mean():.3g}"
    return f"{mean} ± {known.std():.2g}" if len(known) > 1 else mean
