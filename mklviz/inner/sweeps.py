"""Coordinate steps on the dual of a support vector machine whose kernel is K = Z diag(w) Z', with Z (n, R).

    beta_i <- clip(beta_i + (p_i - f_i - b) / (K_ii + rho)),  f_i = Z_i'g,  g = w o Z'beta,  b = b_0 + rho (1'beta - S)

Each step maximises exactly in one variable and costs one row of Z to read. The bias enters as an augmented Lagrangian:
b_0 is moved in between, until 1'beta = S holds by itself.

Up to s chunks of rows are stepped in at once: each starts from the g that all but the s - 1 before it have left. As
those take much the same steps, a chunk counts its own s times, in g, in the bias and in the curvature. Of what it
changes, delta, the best share is added,

    t = clip((p'delta - f'delta - b 1'delta) / (delta'K delta + rho (1'delta)^2), 0, 1),

so that the dual value never falls. The rows of so few variables that they make one chunk are brought together, and
stepped in one after the other. Chunks, their order and s depend on the data only: any number of workers gives the same
bits.

References: Hsieh, Chang, Lin, Keerthi, Sundararajan, A dual coordinate descent method for large-scale linear SVM, ICML
2008, algorithm 1; Ma, Smith, Jaggi, Jordan, Richtárik, Takáč, Adding vs. averaging in distributed primal-dual
optimization, ICML 2015, whose sigma' is s.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from mklviz.compiled import njit
from mklviz.context import checkpoint
from mklviz.kernels.storage.disk import release
from mklviz.kernels.storage.passes import FAST, Factors, chunk_length, each, in_turn, joined, kept
from mklviz.typing import Array, Indices, Integers

BLOCK = 16  # samples that stand together are stepped in together: rows drawn singly come slowly from memory
PIECE = 20_000_000  # entries of Z between two checkpoints
TOGETHER = 2  # chunks that are stepped in at once; with four, more sweeps are needed


@njit(cache=True, nogil=True, fastmath=FAST)
def _diagonal(Z: Factors, w: Array, runs: Integers, q: Array) -> None:
    """q_i = sum over r of w_r Z_ir^2, the diagonal of K."""
    for i in range(Z.shape[0]):
        total = 0.0
        for run in range(runs.shape[0]):
            z, part = Z[i, runs[run, 0] : runs[run, 1]], w[runs[run, 0] : runs[run, 1]]
            for r in range(z.shape[0]):
                total += part[r] * z[r] * z[r]
        q[i] = total


@njit(cache=True, nogil=True, fastmath=FAST)
def _sweep(
    Z: Factors,
    order: Indices,
    places: Indices,
    p: Array,
    low: Array,
    high: Array,
    q: Array,
    beta: Array,
    rho: float,
    w: Array,
    runs: Integers,
    g: Array,
    state: Array,
) -> None:
    """Step once in the variables `order` among those of the rows `places`, to which p, low, high, q and beta belong.

    state holds b_0, 1'beta - S and what the dual objective gained.
    """
    offset, total, gain = state[0], state[1], state[2]
    for k in order:
        i = places[k]
        f = offset + rho * total
        for run in range(runs.shape[0]):
            z, part = Z[i, runs[run, 0] : runs[run, 1]], g[runs[run, 0] : runs[run, 1]]
            for r in range(z.shape[0]):
                f += z[r] * part[r]
        slope, bend = p[k] - f, q[k] + rho
        change = min(max(beta[k] + slope / bend, low[k]), high[k]) - beta[k]
        if change != 0.0:
            beta[k] += change
            total += change
            gain += change * (slope - 0.5 * bend * change)
            for run in range(runs.shape[0]):
                first, last = runs[run, 0], runs[run, 1]
                z, part, size = Z[i, first:last], g[first:last], w[first:last]
                for r in range(z.shape[0]):
                    part[r] += change * size[r] * z[r]
    state[1], state[2] = total, gain


def diagonal(Z: Factors, w: Array, runs: Integers) -> Array:
    """Return the diagonal of ``Z diag(w) Z'``, (n,)."""
    return joined(Z, each(Z, partial(_squared, w, runs)))


def _squared(w: Array, runs: Integers, rows: Factors) -> Array:
    q = np.empty(len(rows))
    _diagonal(rows, w, runs, q)
    return q


class DualVariables(NamedTuple):
    """What is known of some dual variables, (n,) each: their rows, linear terms p, bounds and diagonal of K."""

    places: Indices
    linear: Array
    low: Array
    high: Array
    diagonal: Array


def swept(
    rows: Factors,
    blocks: Indices,
    beta: Array,
    variables: DualVariables,
    rho: float,
    columns: tuple[Array, Integers],
    where: tuple[Array, Array],
    length: int,
) -> tuple[Array, Array, Array]:
    """Step once in some variables of a chunk, and return beta, g and the state afterwards.

    `blocks`: the order of blocks of neighbours among them; `columns`: w and its runs; `where`: g and the state before;
    `length`: rows between two checkpoints.
    """
    order = (BLOCK * blocks[:, None] + np.arange(BLOCK)).ravel()
    order = order[order < len(beta)]
    beta, g, state = (np.array(one) for one in (beta, *where))  # a worker may be asked for it again
    for start in range(0, len(order), length):
        checkpoint()
        _sweep(rows, order[start : start + length], *variables, beta, rho, *columns, g, state)
    return beta, g, state


class Sweeps:
    """Steps in the variables `near`, ascending; beta (n,) changes in place.

    `columns`: w and its runs; `variables`: of all rows; `g` (R,): w o Z'beta; `bias`: b_0; `excess`: 1'beta - S.
    """

    def __init__(
        self,
        rows: Factors,
        columns: tuple[Array, Integers],
        variables: DualVariables,
        near: Indices,
        beta: Array,
        g: Array,
        rho: float,
        bias: float,
        excess: float,
    ) -> None:
        self._rows, self._columns, self._linear, self._beta = rows, columns, variables.linear, beta
        self._g, self._rho, self._offset, self._excess, self._gain = g, rho, bias, excess, 0.0
        w, length, places = columns[0], chunk_length(len(g)), near
        self._inverse = np.divide(1.0, w, out=np.zeros_like(w), where=w >= np.finfo(float).tiny)  # finite
        if len(near) <= length < len(rows):  # a few steps in each of many chunks take less time than asking for them
            self._rows, places = rows[near], np.arange(len(near))
            release(rows)
        starts = np.arange(0, len(self._rows), length)
        cuts = np.searchsorted(places, starts[1:])
        chunks = [*zip(starts.tolist(), np.split(near, cuts), np.split(places, cuts), strict=True)]
        chunks = [chunk for chunk in chunks if len(chunk[1])]
        self._together = min(TOGETHER, len(chunks))
        self._chunks = [(start, mine, self._kept(start, mine, here - start, variables)) for start, mine, here in chunks]

    def _kept(self, start: int, mine: Indices, places: Indices, variables: DualVariables) -> Any:
        """Return what every sweep needs of a chunk's variables, which is sent to where the chunk is once."""
        _, linear, low, high, diagonal = variables
        some = linear[mine], low[mine], high[mine], self._together * diagonal[mine]
        return kept(self._rows, start, DualVariables(places, *some))

    @property
    def bias(self) -> float:
        """b."""
        return float(self._offset + self._rho * self._excess)

    def sweep(self, rng: np.random.Generator) -> float:
        """Step once in each of the variables and return what the dual objective gained."""
        asked = deque[tuple[Indices, Array]]()
        self._gain = 0.0
        for beta, g, state in in_turn(self._rows, swept, self._calls(asked, rng), max(self._together, 1)):
            mine, before = asked.popleft()
            if self._together > 1:
                self._add(mine, before, beta, g)
            else:
                self._beta[mine], self._g = beta, g
                _, self._excess, self._gain = state.tolist()
        return self._gain

    def _calls(
        self, asked: deque[tuple[Indices, Array]], rng: np.random.Generator
    ) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """Yield what `swept` is asked for; `asked`: the variables of each chunk, and the g it starts from."""
        (w, runs), together = self._columns, self._together
        length = max(PIECE // max(len(w), 1), 1)
        for start, mine, variables in self._chunks:
            blocks = rng.permutation(-(-len(mine) // BLOCK))
            asked.append((mine, self._g))
            columns, state = (together * w, runs), np.array([self._offset, self._excess / together, 0.0])
            where = self._g, state
            yield start, (blocks, self._beta[mine], variables, together * self._rho, columns, where, length)

    def _add(self, mine: Indices, before: Array, beta: Array, g: Array) -> None:
        """Add the best share of what a chunk changed, which began with g `before`, and then had beta and g."""
        held, change = self._beta[mine], (g - before) / self._together
        move = beta - held
        total, change_u = float(move.sum()), self._inverse * change
        slope = float(self._linear[mine] @ move) - float(self._g @ change_u) - self.bias * total
        bend = float(change @ change_u) + self._rho * total**2
        share = min(max(slope / max(bend, 1e-300), 0.0), 1.0)
        self._beta[mine] = beta if share == 1.0 else held + share * move  # on its bounds, not beside them
        self._g = self._g + share * change
        self._excess += share * total
        self._gain += share * (slope - 0.5 * share * bend)
