"""One solver along a path of problems that differ in one number, each solve started from the last solution.

Reference: Rakotomamonjy, Bach, Canu, Grandvalet, More efficiency in multiple kernel learning, ICML 2007, section 4.1:
100 values of C, from large to small, with warm starts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from io import BytesIO
from pathlib import Path as FilePath
from typing import IO, TYPE_CHECKING, Any, overload
from zipfile import ZIP_STORED, ZipFile

import numpy as np
from numpy.typing import NDArray

from mklviz.context import PARTS, interruptible
from mklviz.contract import Array, Iterate, Solver
from mklviz.engine.grid import check_values, with_parameter
from mklviz.engine.kinds import solver_for
from mklviz.engine.run import Run, check_callable
from mklviz.engine.solving import finish, hand_over
from mklviz.engine.stop import standard_rules
from mklviz.errors import MklvizError, ProblemError
from mklviz.numbers import is_number
from mklviz.problem import Problem
from mklviz.quoting import table
from mklviz.record.archive import replacing
from mklviz.record.summary import result_at
from mklviz.record.trace import Trace

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = ("iterations", "svm_solves", "seconds", "objective", "lower_bound", "gap", "active")
_SHOWN = ("value", "status", "steps", "SVM solves", "CPU s", "objective", "gap", "kernels")
_FORMAT = 1


def _column(name: str, words: str, kind: type = np.float64) -> Any:
    """Return a property of a path: this entry of the result of each of its runs."""

    def column(path: Path) -> NDArray[Any]:
        return np.array([getattr(result_at(trace), name) for _, trace in path._started()], dtype=kind)

    return property(column, doc=words)


class Path(Sequence[tuple[float, Trace]]):
    """What one solver found along a path: pairs of a value and the trace of its run, in the order they were solved.

    Arrays have one row per value; while a path is under way the last row is that of the run so far.

    Attributes
    ----------
    parameter : str
        What varies, such as "C".
    warm : bool
        Whether each run began at the solution of the one before.
    complete : bool
        Whether all values were solved; False while under way, and where the path was cancelled.

    Examples
    --------
    >>> problem = mv.Problem(mv.KernelBank.build(np.eye(4), "gauss:1,4"), np.array([1.0, 1.0, -1.0, -1.0]))
    >>> [C for C, trace in mv.path(problem, "level", C=[10.0, 1.0])]
    [10.0, 1.0]
    """

    objective: Array = _column("objective", "Certified upper bound at each value, (V,).")
    gap: Array = _column("gap", "Relative certified gap at each value, (V,).")
    svm_solves: NDArray[np.int64] = _column("svm_solves", "SVMs solved for each value, (V,).", np.int64)
    iterations: NDArray[np.int64] = _column("iterations", "Steps beside the start at each value, (V,).", np.int64)
    seconds: Array = _column("seconds", "CPU seconds inside the solver for each value, (V,).")
    active: NDArray[np.int64] = _column("active", "Kernels in use at each value, (V,).", np.int64)

    def __init__(self, parameter: str, warm: bool) -> None:
        self.parameter, self.warm, self.complete = parameter, warm, False
        self._pairs: list[tuple[float, Trace]] = []

    def append(self, value: float, trace: Trace) -> None:
        """Add the run at the next value."""
        self._pairs.append((value, trace))

    def __len__(self) -> int:
        return len(self._pairs)

    @overload
    def __getitem__(self, index: int) -> tuple[float, Trace]: ...
    @overload
    def __getitem__(self, index: slice) -> list[tuple[float, Trace]]: ...
    def __getitem__(self, index: int | slice) -> tuple[float, Trace] | list[tuple[float, Trace]]:
        return self._pairs[index]

    def __repr__(self) -> str:
        if not self:
            return f"Path({self.parameter}: no values yet)"
        start = "warm" if self.warm else "cold"
        return (
            f"Path({self.label}: {len(self)} values of {self.parameter} from {self.values[0]:g} to {self.values[-1]:g},"
            f" {start} starts, {int(self.svm_solves.sum()):,} SVM solves)"
        )

    def _repr_html_(self) -> str | None:
        if not self:
            return None
        title = f"{self.label} along {self.parameter}, {'warm' if self.warm else 'cold'} starts"
        return table(title, (self.parameter, *_SHOWN[1:]), self.rows())

    def rows(self) -> list[tuple[str, ...]]:
        """Return one row of text per value: the value, how its run ended and what it took."""
        runs = [(value, trace.status, result_at(trace)) for value, trace in self._started()]
        return [(f"{value:.4g}", status, *end.texts()[:-1], f"{end.active:,}") for value, status, end in runs]

    def _started(self) -> list[tuple[float, Trace]]:
        """Return the pairs whose run has an iterate."""
        return [pair for pair in self._pairs if len(pair[1])]

    @property
    def label(self) -> str:
        """The solver's name."""
        return self._pairs[0][1].label if self else ""

    @property
    def kernel_names(self) -> Sequence[str]:
        return self._pairs[0][1].kernel_names if self else []

    @property
    def values(self) -> Array:
        """Values of the parameter, (V,)."""
        return np.array([value for value, _ in self._started()])

    @property
    def finals(self) -> list[Iterate]:
        """The solution at each value: the run's iterate of least objective."""
        return [trace.best for _, trace in self._started()]

    @property
    def weights(self) -> Array:
        """Kernel weights at each value, (V, m)."""
        return np.array([best.weights for best in self.finals])

    @property
    def lower_bound(self) -> Array:
        """Certified lower bound at each value, (V,)."""
        return np.array([trace.best_bound.lower_bound for _, trace in self._started()])

    @property
    def split(self) -> dict[str, Array]:
        """The same by what they were spent on, (V,) each, as `Trace.split`; empty where a run was saved without."""
        spent = [trace.split_at(len(trace) - 1) for _, trace in self._started()]
        return {part: np.array([of_run[part] for of_run in spent]) for part in PARTS} if all(spent) else {}

    def to_frame(self) -> pd.DataFrame:
        """Return one row per value: the columns above and the weight of every kernel, under its name."""
        import pandas as pd

        started = self._started()
        columns: dict[str, Any] = {self.parameter: self.values, "status": [trace.status for _, trace in started]}
        columns.update({name: getattr(self, name) for name in _COLUMNS})
        columns.update({f"{part}_seconds": seconds for part, seconds in self.split.items()})
        names = list(self.kernel_names)
        weights = pd.DataFrame(self.weights.reshape(len(started), len(names)), columns=names)
        return pd.concat([pd.DataFrame(columns), weights], axis=1)

    def save(self, file: str | FilePath | IO[bytes]) -> None:
        """Write the path to `file`, a zip of the traces of its runs.

        A file that was there is replaced whole, or stays as it was if the new one cannot be written.
        """
        if isinstance(file, (str, FilePath)):
            with replacing(file) as opened:
                self.save(opened)
            return
        header = {
            "format": _FORMAT,
            "parameter": self.parameter,
            "warm": self.warm,
            "complete": self.complete,
            "values": self.values.tolist(),
        }
        with ZipFile(file, "w", ZIP_STORED) as archive:
            archive.writestr("path.json", json.dumps(header))
            for index, (_, trace) in enumerate(self._started()):
                buffer = BytesIO()
                trace.save(buffer)
                archive.writestr(f"{index:05d}.npz", buffer.getvalue())

    @classmethod
    def load(cls, file: str | FilePath | IO[bytes]) -> Path:
        """Read a path that `save` wrote, or raise `MklvizError`."""
        try:
            with ZipFile(file) as archive:
                header = json.loads(archive.read("path.json"))
                parameter, values = header["parameter"], header["values"]
                if not (isinstance(parameter, str) and isinstance(values, list) and all(map(is_number, values))):
                    raise ValueError("it does not say what varied, or not by numbers")
                path = cls(parameter, bool(header["warm"]))
                for index, value in enumerate(values):
                    path.append(float(value), Trace.load(BytesIO(archive.read(f"{index:05d}.npz"))))
                path.complete = bool(header["complete"])
                if len({len(best.weights) for best in path.finals}) > 1:
                    raise ValueError("its runs differ in their kernels")
        except FileNotFoundError:
            raise MklvizError(f"There is no file {file}.") from None
        except Exception as error:
            raise MklvizError(f"{file} is not a path saved by mklviz ({error}).") from error
        return path


def path(
    problem: Problem,
    solver: str | Solver | None = None,
    warm: bool = True,
    gap: float | None = 1e-2,
    max_iter: int | None = 500,
    max_seconds: float | None = None,
    seed: int = 0,
    progress: Callable[[Path], None] | None = None,
    checkpoint: Callable[[], None] | None = None,
    **varied: Sequence[float] | Array,
) -> Path:
    """Solve `problem` for each of several values of one of its numbers, in the order given.

    Parameters
    ----------
    problem : Problem
    solver : str or Solver, optional
        A registry name, or a solver with its options set; by default the one that `recommend` names for the problem.
    warm : bool
        Whether each run begins at the solution of the one before. UFO-MKL and OBSCURE always begin anew.
    gap, max_iter, max_seconds
        When each run stops, as in `solve`; `max_seconds` holds for each value.
    seed : int
        Seed of every random choice of a solver given by name.
    progress : callable, optional
        Called with the path after every step of every run.
    checkpoint : callable, optional
        Called some ten times a second; where it raises `mklviz.errors.Interrupted` the path ends with what it
        has.
    **varied
        The parameter and its values, exactly one, such as ``C=[1000, 100, 10]`` or ``lam=path_values(problem, "lam")``.
        Warm starts pay where neighbours are near each other; prices best fall from `lambda_max`.

    Returns
    -------
    Path

    Raises
    ------
    ProblemError
        If not exactly one parameter varies, if the problem does not have it, or not with such a value.
    UnsupportedProblem, SolverError
        If the solver cannot solve one of the problems; the error's `found` is the path until then, and where a run
        broke down, its trace is the last one and says why.
    KeyboardInterrupt
        On Ctrl-C; its `found` is the path until then.

    Examples
    --------
    >>> problem = mv.Problem(mv.KernelBank.build(np.eye(4), "gauss:1,4"), np.array([1.0, 1.0, -1.0, -1.0]))
    >>> along_C = mv.path(problem, C=np.geomspace(1000, 0.01, 4))
    >>> along_C.weights.shape
    (4, 2)
    """
    check_callable(progress, "progress")
    check_callable(checkpoint, "checkpoint")
    if len(varied) != 1:
        given = f"{', '.join(varied)} were given" if varied else "none was given"
        raise ProblemError(f"A path varies exactly one parameter, such as C=[100, 10, 1], but {given}.")
    ((name, listed),) = varied.items()
    values = check_values(listed, name)
    problems = [with_parameter(problem, name, value) for value in values]
    made = solver_for(problem, "auto" if solver is None else solver, seed)
    so_far, start = Path(name, warm), None
    try:
        for value, posed in zip(values, problems, strict=True):
            run = Run(posed, made, standard_rules(gap, max_iter, max_seconds, (), posed.convex), start=start)
            so_far.append(float(value), run.trace)
            with nullcontext() if checkpoint is None else interruptible(checkpoint):
                finish(run, lambda: progress(so_far) if progress is not None else None)
            if run.status == "stopped":
                return so_far
            if warm and len(run.trace):  # without a step where its seconds did not suffice for one
                start = run.trace.best_start
    except MklvizError as error:
        error.found = so_far
        raise
    except KeyboardInterrupt as stop:
        hand_over(stop, so_far)
        raise
    so_far.complete = True
    return so_far
