"""What is compared: columns of a table of results, and which of them times of several machines leave.

A mean-kernel fit is the time that one SVM on the mean of all kernels takes on the machine of the run, so that seconds
divided by it can be compared between machines, as seconds cannot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mklviz.errors import ProblemError, UnknownName
from mklviz.quoting import hint

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MEASURES", "Measure", "machines_of", "measure_of"]


AND = " + "  # between the machines of a row that sums several runs


@dataclass(frozen=True)
class Measure:
    """One column of a table of results that is compared.

    `label`: what it is called in words; `cost`: whether it is positive, and the less the better: costs are compared by
    their ratios; `timed`: whether it is a property of the machine, too, and not of the run alone.
    """

    column: str
    label: str
    cost: bool = True
    timed: bool = False


MEASURES: Mapping[str, Measure] = {
    measure.column: measure
    for measure in (
        Measure("svm_solves", "SVM solves"),
        Measure("fits", "mean-kernel fits"),
        Measure("seconds", "CPU seconds", timed=True),
        Measure("steps", "steps"),
        Measure("moved", "full moves of the weights"),
        Measure("score", "test score", cost=False),
        Measure("objective", "objective", cost=False),
        Measure("kernels", "kernels kept", cost=False),
    )
}


def machines_of(frame: pd.DataFrame) -> int:
    """Return on how many machines the runs were made; a row may name several, with `AND` between them."""
    return len({name for names in frame["machine"].dropna().unique() for name in str(names).split(AND)})


def measure_of(frame: pd.DataFrame, name: str | None = None) -> Measure:
    """Return the measure of a name, by default the time where the table allows it.

    Without a name it is CPU seconds on one machine. On several it is mean-kernel fits, or SVM solves where no run has a
    fit measured beside it. Raises `UnknownName` if there is no such measure, and `ProblemError` if it is a time and the
    runs were made on several machines.
    """
    machines = machines_of(frame)
    if name is None:
        fitted = np.isfinite(frame["fits"].to_numpy(dtype=np.float64)).any()
        return MEASURES["seconds" if machines <= 1 else "fits" if fitted else "svm_solves"]
    if name not in MEASURES:
        raise UnknownName(f"Runs are not compared by {name!r:.60}; {hint(name, MEASURES)}")
    if MEASURES[name].timed and machines > 1:
        raise ProblemError(
            f"These runs were made on {machines} machines, whose seconds do not compare: ask for svm_solves, or for"
            " fits, which are the seconds in units of one SVM fit of the mean kernel on the same machine."
        )
    return MEASURES[name]
