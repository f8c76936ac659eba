"""What is compared: columns of a table of results, and which of them times of several machines leave.

A mean-kernel fit is the time that one SVM on the mean of all kernels takes on the machine of the run, so that seconds
divided by it can be compared between machines, as seconds cannot.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mklviz.errors import ProblemError, UnknownName
from mklviz.numbers import is_number
from mklviz.quoting import hint
from mklviz.recipe.parsing import show_number
from mklviz.record import SOLVED
from mklviz.typing import Array, Flags, Indices

if TYPE_CHECKING:
    import pandas as pd

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
    fit measured beside it.
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


# The results of a sweep as one matrix: a row for each case, a column for each solver.

NOT_SETTINGS = (  # the columns that every table of results has
    *("data", "split", "solver", "status", "reason", "gap", "objective", "svm_solves", "seconds", "fits", "score"),
    *("score_label", "kernels", "steps", "moved", "machine", "run", "samples", "m", "member"),
)
_NEEDED = ("data", "split", "solver", "status", "machine")


@dataclass(frozen=True)
class Case:
    """One problem that the solvers have in common: data, settings by their names, and the seed of the split."""

    data: str
    settings: tuple[tuple[str, Any], ...]
    split: int

    @property
    def title(self) -> str:
        """The data and the settings, in words, without the split."""
        return ", ".join([self.data, *(_setting(*pair) for pair in self.settings)])


@dataclass(frozen=True)
class Outcomes:
    """What came of each case with each solver, in the order of the table; arrays have a row for each case.

    `values`: the measure of each run, nan where there is no run or it has no such number; `known`: whether the run is
    there, with a value or without having converged; `solved`: whether it converged, which is that its gap is as small
    as was asked for, or as numbers allow; `sizes`: samples and kernels; `machines`: how many the runs were made on;
    `failed`: how many of those that did not converge broke down, and have no result; `uncounted`: solvers left out as
    they do not count what is measured, such as SVM solves of methods that solve none.
    """

    measure: Measure
    solvers: tuple[str, ...]
    cases: tuple[Case, ...]
    values: Array
    known: Flags
    solved: Flags
    sizes: Array
    machines: int
    failed: int = 0
    uncounted: tuple[str, ...] = ()

    @classmethod
    def of(cls, table: Any, measure: str | None = None) -> Outcomes:
        """Return the outcomes of a table of results, or of its data frame; of a member that is there twice the last."""
        frame = _checked(getattr(table, "frame", table))
        chosen = measure_of(frame, measure)
        solvers, cases, at = _places(frame)
        shape = len(cases), len(solvers)
        values, known, solved = np.full(shape, np.nan), np.zeros(shape, bool), np.zeros(shape, bool)
        values[at] = frame[chosen.column].to_numpy(dtype=np.float64)
        solved[at] = _solved(frame)
        if chosen.cost:
            values[~(values > 0.0)] = np.nan  # a method that solves no SVM has none to count
        known[at] = True
        known &= np.isfinite(values) | ~solved
        sizes = np.full((len(cases), 2), np.nan)
        sizes[at[0]] = frame[["samples", "m"]].to_numpy(dtype=np.float64)
        failed = int((frame["status"] == "failed").sum())
        outcomes = cls(chosen, solvers, cases, values, known, solved, sizes, machines_of(frame), failed)
        return outcomes._counted()

    def _counted(self) -> Outcomes:
        """Return this without the solvers none of whose converged runs has a value."""
        silent = self.solved.any(axis=0) & ~(self.solved & self.known).any(axis=0)
        if silent.all():
            raise ProblemError(f"None of these runs has a number for {self.measure.label}: ask for another measure.")
        names = np.array(self.solvers)
        return replace(self.among(names[~silent].tolist()), uncounted=tuple(names[silent].tolist()))

    def among(self, solvers: Collection[str]) -> Outcomes:
        """Return the outcomes of some of the solvers."""
        for name in solvers:
            if name not in self.solvers:
                raise UnknownName(f"No run of {name!r:.60} is compared here; {hint(name, self.solvers)}")
        chosen = [index for index, name in enumerate(self.solvers) if name in solvers]
        names = tuple(self.solvers[index] for index in chosen)
        columns = {name: getattr(self, name)[:, chosen] for name in ("values", "known", "solved")}
        return replace(self, solvers=names, **columns)

    @property
    def compared(self) -> Flags:
        """Whether every solver has a run of a case, by cases."""
        every: Flags = np.all(self.known, axis=1)
        return every

    @property
    def costs(self) -> Array:
        """The values, infinite where a run is there that did not converge, (cases, solvers)."""
        return np.where(self.solved, self.values, np.where(self.known, np.inf, np.nan))

    @property
    def splits(self) -> tuple[Indices, Indices]:
        """The number of each case's split of its data, and of its data: cases of one split are not independent."""
        units = {key: k for k, key in enumerate(dict.fromkeys((case.data, case.split) for case in self.cases))}
        data = {name: k for k, name in enumerate(dict.fromkeys(case.data for case in self.cases))}
        unit = [units[case.data, case.split] for case in self.cases]
        return np.array(unit, dtype=np.intp), np.array([data[case.data] for case in self.cases], dtype=np.intp)

    @property
    def words(self) -> str:
        """What the values are, and why they are not seconds where runs of several machines meet."""
        if self.machines <= 1 or not self.measure.cost:
            return self.measure.label
        return f"{self.measure.label} ({self.machines} machines: seconds do not compare)"


def _setting(name: str, value: Any) -> str:
    shown = show_number(value) if is_number(value) else str(value)
    return f"{name.removesuffix(' (set)')} = {shown}"


def _checked(frame: Any) -> pd.DataFrame:
    missing = [name for name in _NEEDED if name not in getattr(frame, "columns", ())]
    if missing:
        raise ProblemError(
            "A sweep is drawn from its table, as mv.sweep returns it, or from the table's data frame; this"
            f" {type(frame).__name__} has no column {missing[0]!r}."
        )
    if not len(frame):
        raise ProblemError("No member of this sweep has finished yet: there is nothing to compare.")
    table: pd.DataFrame = frame
    return table


def _places(frame: pd.DataFrame) -> tuple[tuple[str, ...], tuple[Case, ...], tuple[Indices, Indices]]:
    """Return the solvers, the cases, and for each row of the table its case and its solver."""
    settings = [name for name in frame.columns if name not in NOT_SETTINGS]
    columns = [frame[name].tolist() for name in settings]
    chosen: list[tuple[tuple[str, Any], ...]] = [
        tuple(zip(settings, row, strict=True)) for row in zip(*columns, strict=True)
    ] or [()] * len(frame)
    rows = [
        Case(str(data), setting, int(split))
        for data, setting, split in zip(frame["data"], chosen, frame["split"], strict=True)
    ]
    solvers, cases = tuple(dict.fromkeys(map(str, frame["solver"]))), tuple(dict.fromkeys(rows))
    of_case, of_solver = ({name: k for k, name in enumerate(names)} for names in (cases, solvers))
    at = [of_case[row] for row in rows], [of_solver[str(name)] for name in frame["solver"]]
    return solvers, cases, (np.array(at[0], dtype=np.intp), np.array(at[1], dtype=np.intp))


def _solved(frame: pd.DataFrame) -> Flags:
    """Return which runs converged; where there is no gap, another rule is all that can end a run well."""
    status, gap = frame["status"].to_numpy(), frame["gap"].to_numpy(dtype=np.float64)
    solved: Flags = np.isin(status, SOLVED) | ((status == "rule") & np.isnan(gap))
    return solved
