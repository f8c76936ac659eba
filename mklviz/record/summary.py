"""Results and costs of a run: in numbers for every table, and as the text that terminals and notebooks show."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import IO, TYPE_CHECKING, NamedTuple

from mklviz.errors import MissingPackage
from mklviz.numbers import counted
from mklviz.quoting import cell
from mklviz.record.run_facts import number
from mklviz.record.trace import Trace
from mklviz.typing import Flags

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("solver", "status", "iterations", "SVM solves", "CPU s", "objective", "gap", "kernels", "moved", "undone")


@dataclass(frozen=True)
class RunResult:
    """Results and costs of a run at one of its steps."""

    iterations: int  # includes those of the run that this one continues
    svm_solves: int
    seconds: float  # of CPU
    objective: float  # the least one until then
    gap: float  # by the best bounds until then; nan where there is none
    active: int  # kernels with weight at the least objective
    kernels: int

    def texts(self) -> tuple[str, ...]:
        """Return the entries of `COLUMNS` from the iterations to the kernels."""
        return (
            f"{self.iterations:,}",
            f"{self.svm_solves:,}",
            f"{self.seconds:.2f}",
            f"{self.objective:.6g}",
            number(self.gap, ".2g"),
            f"{self.active:,} of {self.kernels:,}",
        )


def result_at(trace: Trace, index: int | None = None) -> RunResult:
    """Return the result of a run that has begun, as of its iterate `index`, by default the last one."""
    at = len(trace) - 1 if index is None else index
    best = trace[trace.best_index_at(at)]
    return RunResult(
        iterations=trace.first_step + at,
        svm_solves=trace[at].svm_solves,
        seconds=trace.seconds_at(at),
        objective=best.objective,
        gap=trace.gap_at(at),
        active=best.active,
        kernels=len(best.weights),
    )


def summarize(key: str, status: str, trace: Trace) -> tuple[str, ...]:
    """Return the entries of `COLUMNS` for one run; `status`: before the trace was looked at, which knows no pauses."""
    if not len(trace):
        return (label(key, trace), status, *["–"] * (len(COLUMNS) - 2))
    motion = trace.motion
    moved = number(motion.moved, ".2f"), f"{100 * motion.share_in_vain:.0f} %"
    return (label(key, trace), status, *result_at(trace).texts(), *moved)


def label(key: str, trace: Trace) -> str:
    """Return the solver's own name, or its key in the race where two runs share a solver, or it is a branch."""
    is_branch = trace.origin is not None and key == trace.label.replace(" ", "-")
    return trace.label if key == trace.solver or is_branch else key


def best_of(traces: Iterable[Trace]) -> Trace:
    """Return the run of least objective among those that have begun."""
    return min((trace for trace in traces if len(trace)), key=lambda trace: trace.best.objective)


# -- what a run had spent at given parts of its way down
#
# P_t <= P* + (1 - s) (P_0 - P*) for s = 90, 99 and 99.9 %, with P* the least objective of any run

PARTS = (0.9, 0.99, 0.999)  # of the way


class Milestone(NamedTuple):
    """What had been spent: steps, SVM solves and CPU seconds."""

    steps: int
    svm_solves: int
    seconds: float

    def __str__(self) -> str:
        """Say it in words: "12 steps · 13 SVM solves · 0.07 s"."""
        return f"{counted(self.steps, 'step')} · {counted(self.svm_solves, 'SVM solve')} · {self.seconds:.2f} s"


def milestones(trace: Trace, best: Reference) -> tuple[Milestone | None, ...]:
    """Return what a run had spent at each of `PARTS` of its way; None where it has not come so far."""
    if not len(trace) or not math.isfinite(trace[0].objective) or math.isnan(best.objective):
        return (None,) * len(PARTS)
    objectives = trace.objective
    way = float(objectives[0]) - best.objective
    return tuple(_reached(trace, objectives <= best.objective + (1.0 - part) * way) for part in PARTS)


def _reached(trace: Trace, low: Flags) -> Milestone | None:
    """Return what had been spent at the first step whose objective is low enough."""
    at = int(low.argmax())
    return Milestone(trace.first_step + at, trace[at].svm_solves, trace.seconds_at(at)) if low[at] else None


# -- how far objectives lie above the best bound that any of several runs has proved: (P_t - max D) / |min P|
#
# This number still separates runs that all look optimal, and it falls to zero for every run that reaches the optimum.


@dataclass(frozen=True)
class Reference:
    """The best that is known of a problem; nan where nothing is."""

    bound: float = math.nan  # the highest lower bound on the optimum
    objective: float = math.nan  # the least objective

    @classmethod
    def of(cls, traces: Iterable[Trace]) -> Reference:
        """Return the best of runs on one problem, as far as they have come."""
        begun = [trace for trace in traces if len(trace)]
        bounds = [trace.best_bound.lower_bound for trace in begun]
        objectives = [trace.best.objective for trace in begun]
        return cls(
            max(filter(math.isfinite, bounds), default=math.nan),
            min(filter(math.isfinite, objectives), default=math.nan),
        )

    def __bool__(self) -> bool:
        return math.isfinite(self.bound) and math.isfinite(self.objective) and self.objective != 0.0

    def above(self, objective: float) -> float:
        """Return how far an objective lies above the bound, as a share of the least objective; nan if unknown."""
        return (objective - self.bound) / abs(self.objective) if self else math.nan


# -- all steps of several runs as one table: a row per step, and in its first column the run


def write_table(traces: Mapping[str, Trace], file: IO[bytes]) -> None:
    """Write the steps of all runs as CSV."""
    write_csv(_steps_table(traces), file)


def write_csv(table: pd.DataFrame, file: IO[bytes]) -> None:
    """Write a table as CSV, the only way in which one is written for people: none of its cells is a formula."""
    texts = table.select_dtypes(exclude=["number", "bool", "datetime"]).map(cell)
    table.assign(**texts).rename(columns=cell).to_csv(file, index=False)


def write_parquet(traces: Mapping[str, Trace], file: IO[bytes]) -> None:
    """Write the steps of all runs as Parquet, or raise `MissingPackage` where pyarrow is not installed."""
    require_parquet()
    file.write(_steps_table(traces).to_parquet(None, engine="pyarrow", index=False))


def require_parquet() -> None:
    """Raise `MissingPackage` where pyarrow is not installed."""
    if find_spec("pyarrow") is None:
        raise MissingPackage(
            "Parquet files need pyarrow, which is not installed: run “pip install pyarrow”, or take the table as CSV."
        )


def _steps_table(traces: Mapping[str, Trace]) -> pd.DataFrame:
    """Return all steps, the first column naming the run."""
    import pandas as pd

    frames = [trace.to_frame().assign(solver=key) for key, trace in traces.items()]
    table = pd.concat(frames, ignore_index=True)
    table.insert(0, "solver", table.pop("solver"))
    return table
