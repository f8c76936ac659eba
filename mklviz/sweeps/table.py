"""The results of a sweep: a row for each member that has ended."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mklviz.errors import MklvizError
from mklviz.record.archive import replacing
from mklviz.record.store import Store
from mklviz.record.summary import require_parquet, write_csv
from mklviz.sweeps.definition import Sweep
from mklviz.sweeps.member import Member
from mklviz.sweeps.outcome import MemberOutcome

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SweepTable", "known_outcomes"]

_FOUND = ("kernels", "gap")  # what a run had found at its end, though a sweep may vary what is called so, too


@dataclass(frozen=True)
class SweepTable:
    """What is known of a sweep.

    Attributes
    ----------
    sweep : Sweep
    outcomes : mapping
        How the members ended, by their keys.
    """

    sweep: Sweep
    outcomes: Mapping[str, MemberOutcome]

    @classmethod
    def of(cls, store: Store, sweep: Sweep) -> SweepTable:
        """Return what a store knows of a sweep, whichever sweep its members were solved for."""
        return cls(sweep, known_outcomes(store, sweep.members))

    def __len__(self) -> int:
        return len(self.outcomes)

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each member that has ended, in the order of the sweep.

        Its columns are data, split, solver, whatever else varies (gap and kernels as "gap (set)" and
        "kernels (set)"), status, gap, objective, svm_solves, seconds (of
        CPU), fits (the same in fits of one SVM with the mean kernel on the same machine), score (on the test part),
        kernels (in use), steps, moved (full moves of the weights, see `Motion`), machine, run (key in the store),
        samples (trained on), m (kernels in the bank) and reason.
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
            **{f"{key} (set)" if key in _FOUND else key: value for key, value in member.settings.items()},
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
    """Return how members ended of which a store knows it, those that failed among them, by their keys.

    Of one that was solved more than once, a result counts before a failure, and the newest before others.
    """
    wanted = {member.key for member in members}
    outcomes: dict[str, MemberOutcome] = {}
    where = f"member:{next(iter(wanted))}" if len(wanted) == 1 else "made:sweep"
    for run in store.runs(where, order="created"):
        if run.member in wanted and run.results:  # without, it was cut off before its score was written
            outcome = MemberOutcome.stored(run)
            if outcome.done or (outcome.failed and not (run.member in outcomes and outcomes[run.member].done)):
                outcomes[run.member] = outcome
    return outcomes
