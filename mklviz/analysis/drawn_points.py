"""Points in the plane that a person draws: their columns, their file, and the function learned from all of them.

They become a data set as a file does, so a recipe knows them by the digest of their saved file.
"""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from mklviz.analysis.decisions import Lines, level_lines, values_over
from mklviz.analysis.kernel_weights import by_kernel
from mklviz.context import interruptible
from mklviz.datasets import Dataset, read_dataset_bytes
from mklviz.engine import make_solver, recommend, solve
from mklviz.errors import ProblemError
from mklviz.numbers import counted, number_text
from mklviz.problem import Problem
from mklviz.problem.problem import balanced_classes
from mklviz.recipe import Recipe
from mklviz.recipe.prepared import Prepared, build_bank
from mklviz.record import Trace
from mklviz.typing import Array

FILE = "Drawn points.csv"
MOST_POINTS = 500
FEWEST = 2  # of each class: one to learn from, one to be asked about
FARTHEST = 1e6  # a coordinate
DIGITS = 4  # behind the point
WINDOW = 0.2  # of the points' extent, on each side


@dataclass(frozen=True)
class Points:
    """Points and the names of their classes."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    labels: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def window(self) -> tuple[Array, Array]:
        """Opposite corners of a part of the plane that leaves room around the points."""
        points = np.array([self.x, self.y]).T
        low, high = points.min(axis=0), points.max(axis=0)
        room = WINDOW * np.where(high > low, high - low, 1.0)
        return low - room, high + room

    def moved(self, columns: Mapping[str, Any]) -> Points | None:
        """Return the points while one of them is dragged, as a page says it; None where it says nothing of use."""
        columns_moved = [list(columns.get(name, ())) for name in ("place", "x", "y")]
        numbers = [value for column in columns_moved for value in column if isinstance(value, int | float)]
        if [len(column) for column in columns_moved] != [1, 1, 1] or len(numbers) != len(columns_moved):
            return None
        place, *ends = numbers
        if place not in range(len(self)) or not all(abs(end) <= FARTHEST for end in ends):  # false for nan
            return None
        x, y = (
            tuple(round(float(end), DIGITS) if k == place else value for k, value in enumerate(column))
            for column, end in zip((self.x, self.y), ends, strict=True)
        )
        return replace(self, x=x, y=y)


@dataclass(frozen=True)
class Field:
    """The learned function, over a part of the plane."""

    values: Array  # (rows, columns): f, or the number of the class chosen where there are more than two
    boundary: Lines  # where f is 0; none of more than two classes
    margins: Lines  # where it is -1 or 1
    weights: Mapping[str, float]  # of the kernels in use, by name, the heaviest first
    sentence: str  # how it was learned, in a sentence


def points_of(prepared: Prepared) -> Points:
    """Return all samples of a race, as its kernels see them."""
    parts = (prepared.train, prepared.test)
    X = np.concatenate([part.X for part in parts]).round(DIGITS)
    y, classes = np.concatenate([part.y for part in parts]), prepared.train.classes
    codes = (y > 0).astype(int) if prepared.train.task == "binary" else y.astype(int)
    return Points(tuple(X[:, 0].tolist()), tuple(X[:, 1].tolist()), tuple(classes[k] for k in codes))


def read_points(columns: Mapping[str, Any], classes: Sequence[str]) -> Points:
    """Return the points that a page has sent."""
    x, y, labels = (list(columns.get(name, ())) for name in ("x", "y", "label"))
    if len(x) != len(y) or len(y) != len(labels) or not set(labels) <= set(classes):
        raise ProblemError("The change could not be understood: try it again.")
    if len(labels) > MOST_POINTS:
        raise ProblemError(f"There can be {MOST_POINTS} points at most: remove some before you add others.")
    try:
        coordinates = [[round(float(value), DIGITS) for value in column] for column in (x, y)]
    except (TypeError, ValueError, OverflowError):
        raise ProblemError("The change could not be understood: try it again.") from None
    if not all(math.isfinite(value) and abs(value) <= FARTHEST for column in coordinates for value in column):
        raise ProblemError("A point lies too far away: keep all of them on the figure.")
    counts = Counter(labels)
    few = next((name for name in classes if counts[name] < FEWEST), None)
    if few is not None:
        raise ProblemError(f"Class {few} needs at least {FEWEST} points: one to learn from, one to be held out.")
    return Points(tuple(coordinates[0]), tuple(coordinates[1]), tuple(map(str, labels)))


def as_file(points: Points, names: Sequence[str], written: Callable[[str], object] = str) -> bytes:
    """Return the points as a table, under the `names` of the two features; texts stand in it as `written`."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(written, [*names, "class"]))
    writer.writerows(zip(points.x, points.y, map(written, points.labels), strict=True))
    return text.getvalue().encode()


MOST_LEARNED = 300  # points up to which the decision is learned after each change
MOST_STEPS, MOST_SECONDS = 300, 20.0
HEAVIEST = 10  # kernels whose weights are written


@dataclass(frozen=True)
class Fineness:
    """How exactly is learned, and on how many meshes it is drawn."""

    gap: float
    across: int  # meshes
    verb: str  # how the sentence begins that says how it was learned


FINE = Fineness(1e-2, 80, "Learned")
COARSE = Fineness(2e-2, 32, "Coarse: learned")  # in some hundredths of a second; equal weights often reach 1e-1


def learned(
    content: bytes,
    recipe: Recipe,
    classes: Sequence[str],
    corners: tuple[Array, Array],
    fineness: Fineness,
    report: Callable[[float], None],
) -> Field:
    """Learn from a file's points with kernels, loss and regularizer of `recipe`, and ask about a window (2, 2)."""
    done = 0.0

    def report_share(fraction: float) -> None:
        nonlocal done
        done = max(done, fraction)
        report(done)

    with interruptible(lambda: report(done)):
        data = read_dataset_bytes(content, FILE)
        bank = build_bank(recipe.kernels, data, recipe.split.seed, lambda fraction: report_share(0.3 * fraction))
        weights = None if recipe.problem.class_weight is None else balanced_classes(data.y)
        problem = Problem(bank, data.y, recipe.problem.loss, recipe.problem.regularizer, weights)
        solved = partial(_solved, report_share, fineness.gap)
        trace = solve(problem, gap=fineness.gap, max_iter=MOST_STEPS, max_seconds=MOST_SECONDS, progress=solved)
        return _field(problem, trace, data, classes, corners, fineness)


def _solved(report: Callable[[float], None], goal: float, trace: Trace) -> None:
    """Report the progress of a solve by the digits of its gap."""
    gap = min(max(float(trace.gap[-1]), goal), 1.0)
    report(0.3 + 0.6 * math.log(gap) / math.log(goal) if math.isfinite(gap) else 0.3)


def _field(
    problem: Problem,
    trace: Trace,
    data: Dataset,
    classes: Sequence[str],
    corners: tuple[Array, Array],
    fineness: Fineness,
) -> Field:
    best, (low, high) = trace.best, corners
    middles = (np.arange(fineness.across) + 0.5) / fineness.across
    x, y = (low[k] + middles * (high[k] - low[k]) for k in range(2))
    values = values_over(problem, best.weights, best.dual, x, y)
    boundary: Lines = []
    margins: Lines = []
    if data.task == "multiclass":
        index = np.array([classes.index(name) for name in data.classes], dtype=np.float64)
        values = index[values.astype(int)]
    else:
        values = values if data.classes[0] == classes[0] else -values  # a file's classes are in order of the alphabet
        boundary, margins = level_lines(x, y, values, 0.0), level_lines(x, y, values, -1.0, 1.0)
    label = make_solver(recommend(problem)).label
    used = f"{best.active:,} of {problem.m:,} {problem.noun}s in use"
    support = int(np.count_nonzero(best.dual if best.dual.ndim == 1 else best.dual.any(axis=1)))
    steps, objective = counted(len(trace) - 1, "step"), number_text(best.objective, ",.4g")
    how = f"from all {problem.n:,} points by {label} in {steps}"
    sentence = f"{fineness.verb} {how}: {used}, {support:,} support vectors, objective {objective}."
    bars = by_kernel(best.weights, problem.bank.names, HEAVIEST)
    return Field(values, boundary, margins, dict(zip(bars.names, bars.values, strict=True)), sentence)
