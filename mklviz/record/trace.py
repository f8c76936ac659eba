"""The trace of one run: every iterate and the CPU seconds it took, append-only, with its columns as arrays.

One thread appends, any number read: an iterate is published by appending it to a list, which the interpreter does in
one piece. A reader that wants to know whether the trace is complete reads `status` before the length.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import asdict, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from mklviz.context import PARTS
from mklviz.contract import Array, Facts, Iterate
from mklviz.errors import MklvizError
from mklviz.problem.proving import relative_gap
from mklviz.quoting import fact_table, one_line
from mklviz.record.archive import opened_run, replacing, write_run
from mklviz.record.run_facts import FINAL, Origin, Verdict, shares_text
from mklviz.record.weights import Motion, MotionTracker, WeightKeeping

if TYPE_CHECKING:
    import pandas as pd

CUT_OFF = "The recording ends here, while the run was still going."
_HEAVIEST = 5  # kernels that a notebook names
_HEADER = ("solver", "label", "options", "problem", "recipe", "versions", "descends")  # saved
CHOOSING = ("alignf", "easymkl", "smkl")  # solvers that do not descend, for files from before they stated it
_COLUMNS = ("svm_solves", "seconds", "objective", "lower_bound", "gap", "iterate_gap", "step", "active")


def _below(value: float, other: float) -> bool:
    """Return whether `value` is less than `other`, or a number where that is none."""
    return value < other or (math.isnan(other) and not math.isnan(value))


def _column(known: Sequence[Mapping[str, float | str]], name: str) -> Array:
    """Return one numeric fact of every step, (T,); nan where it is not known, or a word."""
    values = (facts.get(name) for facts in known)
    return np.array([float(value) if isinstance(value, (int, float)) else np.nan for value in values])


class Trace(Sequence[Iterate]):
    """What one solver did on one problem.

    Attributes
    ----------
    solver, label : str
        Registry name and the name people use.
    options : mapping
        The solver's options.
    kernel_names : sequence of str
        A list, or for kernels computed on the fly what makes each name when it is asked for.
    problem : str
        One line about the problem.
    recipe : str
        What defines the race that the run belongs to, as JSON; "" where it has none.
    versions : mapping
        What it was computed with: versions by name, "python" and packages; empty for runs saved without.
    origin : Origin or None
        The step of another run that this one went on from; None where it began by itself.
    descends : bool
        Whether the method looks for the least objective. One that chooses the weights by something else has what it
        chose, its last iterate, as its solution, and nothing at its start.
    status : str
        "running", or how it ended: "converged" (the gap proves it), "precision" (as exact as numbers allow), "rule"
        (another stop rule fired, which proves nothing), "limit", "stopped" or "failed".
    reason : str
        The same as a sentence.

    Examples
    --------
    >>> train, test = mv.load_dataset("heart").split(train=0.5, seed=0)
    >>> problem = mv.Problem(mv.paper_bank(train.X), train.y)
    >>> trace = mv.solve(problem, "level")
    >>> trace.status, len(trace.best.weights), trace.gap_at(len(trace) - 1) <= 0.01
    ('converged', 182, True)
    """

    def __init__(
        self,
        solver: str = "",
        label: str = "",
        options: Mapping[str, Any] | None = None,
        kernel_names: Sequence[str] = (),
        problem: str = "",
        recipe: str = "",
        versions: Mapping[str, str] | None = None,
        origin: Origin | None = None,
        descends: bool | None = None,
    ) -> None:
        self.solver, self.label, self.problem, self.recipe = solver, one_line(label), one_line(problem), recipe
        self.origin = origin
        self.descends = solver not in CHOOSING if descends is None else descends
        self.options, self.versions = dict(options or {}), dict(versions or {})
        self.kernel_names: Sequence[str] = (
            list(kernel_names) if isinstance(kernel_names, (list, tuple)) else kernel_names
        )
        self.status, self.reason = "running", ""
        self._iterates: list[Iterate] = []
        self._gaps: list[float] = []
        self._bests: list[int] = []  # index of the solution after each step
        self._best, self._best_bound = 0, 0  # indices of the solution and of the highest lower bound
        self._keeping = WeightKeeping()
        self._tracker = MotionTracker()
        self._seconds: list[float] = []
        self._split: list[tuple[float, ...]] = []  # one number for each of PARTS; empty where they were not measured

    def append(self, iterate: Iterate, seconds: float, split: Mapping[str, float] | None = None) -> None:
        """Add a step and the CPU seconds spent so far, in all and, where known, by part (see `split`)."""
        self._seconds.append(seconds)
        if split is not None and len(self._split) == len(self._iterates):
            self._split.append(tuple(split[part] for part in PARTS))
        if self._iterates:
            self._iterates[-1] = self._keeping.keep(self._iterates[-1])  # of a million kernels only the last in full
        best, bound = self._compared(iterate)
        self._bests.append(best)
        self._iterates.append(iterate)  # a reader counts iterates; only then may the best be this one
        self._best, self._best_bound = best, bound

    def _compared(self, iterate: Iterate) -> tuple[int, int]:
        """Return where the solution and the highest bound are once `iterate` is added, and learn the gap."""
        at = len(self._iterates)
        best, bound = self._best, self._best_bound
        left_zero = at > 0 and iterate.dual.any() and not self._iterates[best].dual.any()
        if at == 0 or left_zero or not self.descends or _below(iterate.objective, self._iterates[best].objective):
            best = at
        if at == 0 or _below(-iterate.lower_bound, -self._iterates[bound].lower_bound):
            bound = at
        upper, lower = (iterate if index == at else self._iterates[index] for index in (best, bound))
        gap = relative_gap(upper.objective, lower.lower_bound)
        # where the objective shrinks by more than the bound rises, a proof relative to its earlier size still holds
        self._gaps.append(gap if at == 0 or not self.descends or not self._gaps[-1] < gap else self._gaps[-1])
        return best, bound

    def finish(self, verdict: Verdict) -> None:
        """Record how the run ended."""
        self.reason = verdict.reason
        self.status = verdict.status

    def __len__(self) -> int:
        return len(self._iterates)

    @overload
    def __getitem__(self, index: int) -> Iterate: ...
    @overload
    def __getitem__(self, index: slice) -> list[Iterate]: ...
    def __getitem__(self, index: int | slice) -> Iterate | list[Iterate]:
        return self._iterates[index]

    def __repr__(self) -> str:
        if not self:
            return f"Trace({self.label}: {self.status}, no steps yet)"
        last = self.final
        return (
            f"Trace({self.label}: {self.status} after {len(self) - 1} steps and {last.svm_solves} SVM solves,"
            f" objective {self.best.objective:.6g}{'' if np.isnan(self._gaps[-1]) else f', gap {self._gaps[-1]:.2g}'})"
        )

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [("status", f"{self.status}: {self.reason}" if self.reason else self.status)]
        if self:
            last, best, motion = self.final, self.best, self.motion
            order = np.argsort(-best.weights, kind="stable")[:_HEAVIEST]
            heaviest = [(self.kernel_names[k], best.weights[k]) for k in order if k < len(self.kernel_names)]
            origin = self.origin
            rows += [
                ("went on from", "" if origin is None else f"step {origin.step:,} of {origin.label}"),
                ("steps", f"{len(self) - 1:,}"),
                ("SVM solves", f"{last.svm_solves:,}"),
                ("CPU seconds", f"{self.last_seconds:.3g}"),
                ("time spent on", shares_text(self.shares)),
                ("objective", f"{best.objective:.8g}"),
                *self._certificate(),
                ("kernels in use", f"{best.active:,} of {len(best.weights):,}"),
                ("motion of the weights", f"{motion.verdict}: {motion}" if motion.verdict else ""),
                ("heaviest", ", ".join(f"{name} ({weight:.3g})" for name, weight in heaviest)),
            ]
        return fact_table(f"{self.label} on {self.problem}", rows)

    def _certificate(self) -> list[tuple[str, object]]:
        """Return what is known of the distance from the optimum, of which a problem that is not convex has none."""
        if not np.isnan(self._gaps[-1]):
            bound = self._iterates[self._best_bound].lower_bound
            return [("lower bound", f"{bound:.8g}"), ("gap", f"{self._gaps[-1]:.2g}")]
        slope = self.final.facts.projected_gradient
        none = ("lower bound", "none: the problem is not convex, or its dual not known")
        return [none] if math.isnan(slope) else [none, ("projected gradient", f"{slope:.2g}")]

    @property
    def seed(self) -> int | None:
        """Seed of every random choice; None where the solver's options do not say it."""
        seed = self.options.get("seed")
        return seed if isinstance(seed, int) else None

    @property
    def first_step(self) -> int:
        """The number of the first iterate: 0, or the step of another run that this one went on from."""
        return 0 if self.origin is None else self.origin.step

    @property
    def last_step(self) -> int:
        """The number of the last iterate; one less than `first_step` where there is none."""
        return self.first_step + len(self) - 1

    def index_at(self, step: int) -> int:
        """Return the index of the iterate at a step: the last index for later steps, negative before the run began."""
        return min(step, self.last_step) - self.first_step

    @property
    def final(self) -> Iterate:
        """The last iterate."""
        if not self._iterates:
            raise MklvizError(f"The run of {self.label or 'this solver'} has no iterates yet.")
        return self._iterates[-1]

    @property
    def best(self) -> Iterate:
        """The run's solution: the iterate of least objective, the first of equal ones, or the last, see `descends`.

        The zero function, at which some methods begin, knows nothing of the samples: once left, it is no solution.
        """
        return self.final if not self._iterates else self._iterates[self._best]

    @property
    def best_index(self) -> int:
        """Which step `best` is."""
        return self._best

    def best_index_at(self, index: int) -> int:
        """Which step was `best` after step `index`."""
        return self._bests[index]

    def motion_at(self, index: int) -> Motion:
        """How the weights had moved after step `index`, see `motion`."""
        return self._tracker.read_to(self, index)

    @property
    def undecided(self) -> bool:
        """Whether the method has not chosen anything yet, and stands where others begin; see `descends`."""
        return len(self) == 1 and not self.descends

    @property
    def best_bound(self) -> Iterate:
        """The iterate of the highest lower bound, the first of equal ones."""
        return self.final if not self._iterates else self._iterates[self._best_bound]

    @property
    def best_dual(self) -> Array:
        """The dual variables that prove the highest lower bound."""
        bound = self.best_bound
        return bound.dual if bound.certificate is None else bound.certificate

    @property
    def best_start(self) -> Iterate:
        """What a warm start begins from: `best`, with `best_dual` as its certificate."""
        return replace(self.best, certificate=self.best_dual)

    @property
    def last_seconds(self) -> float:
        """CPU seconds spent so far."""
        return self._seconds[-1] if self._seconds else 0.0

    def seconds_at(self, index: int) -> float:
        """CPU seconds spent up to and including step `index`; unlike `seconds`, does not copy the column."""
        return self._seconds[index]

    @property
    def weights(self) -> Array:
        """Kernel weights, (T, m)."""
        return np.array([iterate.weights for iterate in self._iterates])

    @property
    def dual(self) -> Array:
        """Dual variables, (T, n)."""
        return np.array([iterate.dual for iterate in self._iterates])

    @property
    def objective(self) -> Array:
        """Certified upper bounds, (T,)."""
        return np.array([iterate.objective for iterate in self._iterates])

    @property
    def lower_bound(self) -> Array:
        """Certified lower bounds, (T,)."""
        return np.array([iterate.lower_bound for iterate in self._iterates])

    @property
    def gap(self) -> Array:
        """The run's relative certified gap, (T,): objective of the solution less highest lower bound so far.

        It never rises where the method `descends`.
        """
        return np.array(self._gaps[: len(self._iterates)])

    @property
    def iterate_gap(self) -> Array:
        """Relative certified gap of each step's own weights and dual variables, (T,)."""
        return np.array([iterate.gap for iterate in self._iterates])

    def gap_at(self, index: int) -> float:
        """The run's gap after step `index`; unlike `gap`, does not copy the column."""
        return self._gaps[index]

    @property
    def step(self) -> Array:
        """Step sizes as each solver defines them, (T,)."""
        return np.array([iterate.step for iterate in self._iterates])

    @property
    def svm_solves(self) -> NDArray[np.int64]:
        """SVMs solved so far, (T,)."""
        return np.array([iterate.svm_solves for iterate in self._iterates], dtype=np.int64)

    @property
    def seconds(self) -> Array:
        """CPU seconds spent inside the solver so far, (T,); pauses and drawing do not count."""
        return np.array(self._seconds[: len(self._iterates)])

    @property
    def split(self) -> dict[str, Array]:
        """CPU seconds spent so far by what they were spent on, (T,) each: they add up to `seconds`.

        "svm" is the inner problem, "gradient" the kernels' quadratic forms, "combine" the weighted kernel,
        "subproblem" the method's own step and "other" the rest, such as certificates. Empty for runs saved without.
        """
        length = len(self._iterates)
        if len(self._split) < length:
            return {}
        columns = np.array(self._split[:length], dtype=np.float64).reshape(length, len(PARTS))
        return dict(zip(PARTS, columns.T, strict=True))

    def split_at(self, index: int) -> dict[str, float]:
        """CPU seconds by part up to and including step `index`, empty where unknown; does not copy the columns."""
        return dict(zip(PARTS, self._split[index], strict=True)) if index < len(self._split) else {}

    @property
    def shares(self) -> dict[str, float]:
        """What share of all seconds went to each part; empty where unknown."""
        spent = self.split_at(len(self) - 1) if self else {}
        total = sum(spent.values())
        return {part: seconds / total for part, seconds in spent.items()} if total > 0 else {}

    @property
    def active(self) -> NDArray[np.int64]:
        """Kernels in use (weight above 1e-8), (T,)."""
        return np.array([iterate.active for iterate in self._iterates], dtype=np.int64)

    @property
    def facts(self) -> list[Facts]:
        """What the solver knew about each step; those read from a file answer to the same names."""
        return [iterate.facts for iterate in self._iterates]

    def fact(self, name: str) -> Array:
        """Return one numeric fact of every step, (T,); nan where a step does not have it."""
        return _column([iterate.facts.known() for iterate in self._iterates], name)

    @property
    def kernel_passes(self) -> Array:
        """Passes over all kernels so far, (T,): as a method counts them itself, or else two for each SVM.

        One pass forms the learned kernel of an SVM, one finds the slopes at its solution.
        """
        counted = self.fact("kernel_passes")
        return np.where(np.isnan(counted), 2.0 * self.svm_solves, counted)

    @property
    def motion(self) -> Motion:
        """How the weights have moved: how far, how much of that was undone, and the verdict."""
        return self._tracker.read(self._iterates)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per step: the columns above and the numeric facts."""
        import pandas as pd

        now = copy(self)  # which no longer grows, so that all its columns have one length
        columns: dict[str, Any] = {"iteration": now.first_step + np.arange(len(now))}
        columns.update({name: getattr(now, name) for name in _COLUMNS})
        columns.update({f"{part}_seconds": seconds for part, seconds in now.split.items()})
        known = [facts.known() for facts in now.facts]
        numeric = {key for facts in known for key, value in facts.items() if not isinstance(value, str)}
        columns.update({key: _column(known, key) for key in sorted(numeric - set(columns))})
        return pd.DataFrame(columns)

    @property
    def header(self) -> dict[str, Any]:
        """What the trace says of itself in a file, beside its end and the names of its kernels."""
        origin = None if self.origin is None else asdict(self.origin)
        return {name: getattr(self, name) for name in _HEADER} | {"origin": origin}

    def without_steps(self) -> Trace:
        """Return what the trace says of itself, without any steps."""
        return Trace(**{**self.header, "origin": self.origin}, kernel_names=self.kernel_names)

    def snapshot(self) -> Trace:
        """Return a copy that no longer grows; of a run that goes on, it says that the recording ends there."""
        now = copy(self)
        if now.status not in FINAL:
            now.finish(Verdict("stopped", CUT_OFF))
        return now

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in vars(self).items() if name not in ("_keeping", "_tracker")}
        length = len(self)  # after the status, as every reader must
        return state | {name: state[name][:length] for name in ("_iterates", "_gaps", "_bests", "_seconds", "_split")}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(state)
        self._keeping, self._tracker = WeightKeeping(), MotionTracker()
        self._iterates = [*map(self._keeping.keep, self._iterates[:-1]), *self._iterates[-1:]]

    def save(self, path: str | Path | IO[bytes]) -> None:
        """Write the trace to `path` or an open file as a compressed NumPy archive without pickled objects.

        A file that was there is replaced whole, or stays as it was if the new one cannot be written.
        """
        if isinstance(path, (str, Path)):
            with replacing(path) as file:
                self.save(file)
            return
        now = copy(self)
        end = {"status": now.status, "reason": now.reason, "kernel_names": list(now.kernel_names)}
        write_run(path, {**now.header, **end}, now[:], now.seconds, now.split)

    @classmethod
    def load(cls, path: str | Path | IO[bytes]) -> Trace:
        """Read a trace that `save` wrote.

        Raises
        ------
        MklvizError
            If the file is not such a trace.
        """
        with opened_run(path) as (header, steps):
            status, reason = header.pop("status"), header.pop("reason")
            trace = cls(**header)
            for iterate, seconds, split in steps:
                trace.append(iterate, seconds, split)
            trace.finish(Verdict(status, reason) if status in FINAL else Verdict("stopped", CUT_OFF))
        return trace
