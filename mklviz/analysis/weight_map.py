"""Weight maps: what a map shows of the space of kernel weights, and the nodes at which its height is computed.

    plane    d(x) = P(o + x_1 u_1 + x_2 u_2)     u_1, u_2 the two principal directions of all paths, P the projection
                                                 on the feasible weights: the nearest weights that are allowed
    slice    d(p) = sum_i p_i v_i,  p >= 0, 1'p = 1    exact: v_i gives kernel i all that two or three kernels share

The heights are computed coarsely first: each stage halves the mesh and keeps the nodes of the one before.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import ClassVar

import numpy as np

from mklviz.contract import ACTIVE_WEIGHT
from mklviz.numbers import number_text
from mklviz.problem import Simplex
from mklviz.typing import Array

Key = tuple[int, ...]
Mesh = tuple[Array, Array, Array]  # x, y and the height, each (rows, columns)
STEPS = (4, 2, 1)  # distance of the nodes of each stage, in steps of the finest mesh
STAGES = len(STEPS)
ACROSS, UP = 36, 28  # meshes of a plane: 1,073 nodes
SIDE = 40  # meshes along a side of a triangle: 861 nodes
LINE = 64  # meshes of a segment
MARGIN = 0.07  # of a plane beyond the paths, on each side
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])  # of the triangle as it is drawn
NAMED = 3  # kernels that are named beside a point

_STAR = "The star is the best point found; small rings are the trials of this step's line search."
_START = "Drag the start, or click: every solver begins there."
_PLANE = "Seen along the two directions in which the weights moved most, {share} of all movement."
_SLICE = "Each point is one mix of the three kernels{others}."


@dataclass(frozen=True)
class MapPoint:
    """One place of a map and its text."""

    along: float
    up: float
    title: str
    objective: str
    weights: str


def point_of(
    position: tuple[float, float] | Array, title: str, objective: float, weights: Array, names: Sequence[str]
) -> MapPoint:
    """Return a point of a map with its objective and its heaviest kernels in words."""
    heaviest = np.argsort(-weights, kind="stable")[:NAMED] if len(weights) > NAMED else range(len(weights))
    more = int((weights > ACTIVE_WEIGHT).sum()) - NAMED
    kernels = ", ".join(f"{names[k]} {weights[k]:.3f}" for k in heaviest) + (f" and {more:,} more" if more > 0 else "")
    x, y = position
    return MapPoint(float(x), float(y), title, number_text(objective), kernels)


# What maps share: nodes are known by whole numbers, so that no height is computed twice, each beside the one before.
# `directions` (2, m) are those that a plane follows, `vertices` (k, m) the weights that a slice lies between, `window`
# the corners of what is drawn, where it changes, and `flat`, where known, A, a, B and b: weights d are drawn at
# A d + a, and B x + b is at a place x.


class _AnyMap(ABC):
    """A part of the space of kernel weights; `seen` is what it shows, `shade` what its shade is, in sentences."""

    shade: ClassVar[str]

    @property
    @abstractmethod
    def seen(self) -> str: ...

    @abstractmethod
    def _lines(self, step: int) -> list[list[Key]]:
        """Return the nodes so far apart, line by line."""

    def words(self, posed: bool) -> str:
        """Return what the map shows; there is no shade and no start to drag where the problem is not `posed`."""
        return " ".join((self.seen, self.shade, _STAR, _START) if posed else (self.seen, _STAR))

    def nodes(self, stage: int) -> list[Key]:
        """Return the nodes line by line, to and fro."""
        return [key for n, line in enumerate(self._lines(STEPS[stage])) for key in (line[::-1] if n % 2 else line)]


@dataclass(frozen=True)
class Plane(_AnyMap):
    """The plane of two directions, between `low` and `high`."""

    origin: Array  # (m,)
    directions: Array  # (2, m): orthonormal
    explained: float  # share of the squared distances from the origin that lies in the plane
    low: Array  # (2,)
    high: Array
    project: Callable[[Array], Array]  # takes weights to the nearest that are allowed
    vertices: ClassVar[None] = None
    shade = "The shade is the objective at the nearest feasible weights."

    @property
    def window(self) -> tuple[Array, Array]:
        return self.low, self.high

    @property
    def flat(self) -> tuple[Array, Array, Array, Array]:
        return self.directions, -self.directions @ self.origin, self.directions.T, self.origin

    @property
    def seen(self) -> str:
        return _PLANE.format(share=_percent(self.explained))

    def position(self, weights: Array) -> Array:
        """Return the coordinates along the two axes."""
        return (weights - self.origin) @ self.directions.T

    def around(self, points: Array) -> Plane:
        """Return the same plane between other corners, which hold all `points` (P, 2)."""
        low, high = _window(points)
        return replace(self, low=low, high=high)

    def weights_at(self, key: Key) -> Array:
        """Return the allowed weights nearest to a node."""
        return self.weights_near(*self.drawn_at(key))

    def weights_near(self, x: float, y: float) -> Array:
        """Return the allowed weights nearest to a point of the plane."""
        return self.project(self.origin + np.array([x, y]) @ self.directions)

    def drawn_at(self, key: Key) -> Array:
        """Return the coordinates of a node, whose allowed weights may lie off the plane."""
        return self.low + np.array(key) / (ACROSS, UP) * (self.high - self.low)

    def _lines(self, step: int) -> list[list[Key]]:
        return [[(i, j) for i in range(0, ACROSS + 1, step)] for j in range(0, UP + 1, step)]

    def mesh(self, stage: int, height: Callable[[Key], float]) -> Mesh:
        """Return a rectangle."""
        rows = self._lines(STEPS[stage])
        x = [self.drawn_at(key)[0] for key in rows[0]]
        y = [self.drawn_at(row[0])[1] for row in rows]
        return *np.meshgrid(x, y), np.array([[height(key) for key in row] for row in rows])


@dataclass(frozen=True)
class Slice(_AnyMap):
    """All ways in which two or three kernels can share a weight, the others' being fixed."""

    kernels: tuple[int, ...]
    vertices: Array  # (k, m): the weights where one of them has all of it
    directions: ClassVar[None] = None
    window: ClassVar[None] = None
    shade = "The shade is the objective there."

    @property
    def flat(self) -> tuple[Array, Array, Array, Array] | None:
        if self.vertices.shape != (3, 3):
            return None
        shares = np.linalg.inv(np.vstack([CORNERS.T, np.ones(3)]))
        return CORNERS.T @ self.vertices, np.zeros(2), self.vertices.T @ shares[:, :2], self.vertices.T @ shares[:, 2]

    @property
    def seen(self) -> str:
        if self.vertices.shape[1] == len(self.kernels):
            return _SLICE.format(others="")
        held = _percent(float(self.vertices[0, self.kernels[0]]))
        others = f", which share {held} of the weight; the others keep theirs as at the best point"
        return _SLICE.format(others=others)

    @property
    def _corners(self) -> Array:
        """Where the vertices are drawn: of a triangle, or of a segment from the second kernel (0) to the first (1)."""
        return CORNERS if len(self.kernels) == 3 else CORNERS[1::-1]

    def shares(self, weights: Array) -> Array:
        """Return the kernels' shares (k,) of their joint weight; nan where that is zero."""
        held = weights[list(self.kernels)]
        total = float(held.sum())
        return held / total if total > 0.0 else np.full(len(held), np.nan)

    def position(self, weights: Array) -> Array:
        """Return the point at which weights are drawn."""
        return self.shares(weights) @ self._corners

    def weights_at(self, key: Key) -> Array:
        """Return the weights of a node."""
        return self._shares(key) @ self.vertices

    def weights_near(self, x: float, y: float) -> Array:
        """Return the weights at a point, or at the nearest point of the slice."""
        if len(self.kernels) == 2:
            share = min(max(x, 0.0), 1.0)
            return np.array([share, 1.0 - share]) @ self.vertices
        shares = np.linalg.solve(np.vstack([CORNERS.T, np.ones(3)]), [x, y, 1.0])
        return Simplex().project(shares) @ self.vertices

    def drawn_at(self, key: Key) -> Array:
        """Return the point of the triangle or the segment."""
        return self._shares(key) @ self._corners

    def _shares(self, key: Key) -> Array:
        side = SIDE if len(self.kernels) == 3 else LINE
        return np.array([*key, side - sum(key)]) / side

    def _lines(self, step: int) -> list[list[Key]]:
        if len(self.kernels) == 2:
            return [[(i,) for i in range(0, LINE + 1, step)]]
        return [[(i, j) for j in range(0, SIDE - i + 1, step)] for i in range(0, SIDE + 1, step)]

    def mesh(self, stage: int, height: Callable[[Key], float]) -> Mesh:
        """Return a segment as one row, or a triangle whose rows, as long as each other, end in its corner."""
        lines = self._lines(STEPS[stage])
        whole = np.linspace(0.0, 1.0, len(lines[0]))
        x, y, z = (np.empty((len(lines), len(whole))) for _ in range(3))
        for row, line in enumerate(lines):
            first, last = self.drawn_at(line[0]), self.drawn_at(line[-1])
            x[row], y[row] = (first + whole[:, None] * (last - first)).T
            z[row] = np.interp(whole, np.linspace(0.0, 1.0, len(line)), [height(key) for key in line])
        return x, y, z


WeightMap = Plane | Slice


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def slice_through(weights: Array, kernels: Sequence[int]) -> Slice:
    """Return the slice where two or three `kernels` share their part of `weights` (m,), or all if that is zero."""
    indices = tuple(kernels)
    rest = weights.copy()
    rest[list(indices)] = 0.0
    mass = float(weights[list(indices)].sum())
    if mass <= 0.0 or len(indices) == len(weights):
        rest, mass = np.zeros_like(weights), 1.0
    corners = np.repeat(rest[None], len(indices), axis=0)
    corners[np.arange(len(indices)), indices] = mass
    return Slice(indices, corners)


def principal_plane(
    weights: Array, origin: Array, project: Callable[[Array], Array], before: Array | None = None
) -> Plane:
    """Return the plane through `origin` nearest to `weights` (T, m), turned to match one along `before` (2, m)."""
    offsets = weights - origin
    values, vectors = np.linalg.eigh(offsets @ offsets.T)  # of T weights, as kernels may be many
    squares = np.maximum(values[::-1], 0.0)
    total = float(squares.sum())
    directions = [
        offsets.T @ vectors[:, -1 - k] for k in range(min(2, len(values))) if squares[k] > 1e-12 * total > 0.0
    ]
    axes = _orthonormal(directions, len(origin))
    if before is not None:
        left, _, right = np.linalg.svd(before @ axes.T)
        axes = left @ right @ axes
    explained = float(squares[:2].sum()) / total if total > 0.0 else 1.0
    low, high = _window(offsets @ axes.T)
    return Plane(origin.copy(), axes, explained, low, high, project)


def _window(points: Array) -> tuple[Array, Array]:
    """Return the corners of a map that holds all points with some margin."""
    low, high = points.min(axis=0), points.max(axis=0)
    size = np.maximum(high - low, 0.15 * float((high - low).max()) or 1.0)  # no map is a mere line
    centre, reach = 0.5 * (low + high), (0.5 + MARGIN) * size
    return centre - reach, centre + reach


def _orthonormal(directions: Sequence[Array], m: int) -> Array:
    """Return two orthonormal axes from `directions`; a missing one moves weight between two kernels."""
    axes: list[Array] = []
    spare = (_exchange(k, m) for k in range(m))
    candidates = chain(directions, spare)
    while len(axes) < 2:
        direction = next(candidates).copy()
        size = float(np.linalg.norm(direction))
        for axis in axes:
            direction -= (direction @ axis) * axis
        if np.linalg.norm(direction) > 1e-6 * size:
            axes.append(direction / np.linalg.norm(direction))
    return np.array(axes)


def _exchange(k: int, m: int) -> Array:
    direction = np.zeros(m)
    direction[k] += 1.0
    direction[(k + 1) % m] -= 1.0 if k + 1 < m else 0.0  # the last leaves the simplex, as with two kernels one must
    return direction
