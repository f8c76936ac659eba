"""Coordinate steps on the dual of a support vector machine whose kernel is K = Z diag(w) Z', with Z (n, R).

    beta_i <- clip(beta_i + (p_i - f_i - b) / (K_ii + rho)),  f_i = Z_i'g,  g = w o Z'beta,  b = b_0 + rho (1'beta - S)

Each step maximises exactly in one variable and costs one row of Z to read. The bias enters as an augmented Lagrangian:
b_0 is moved in between, until 1'beta = S holds by itself.

Chunks of rows are stepped in along s lanes, chunk k in lane k mod s. Along a lane each begins with the g that the one
before it left; of each other lanes know nothing before the sweep ends. As they take much the same steps, a lane counts
its own s times, in g, in the bias and in the curvature. Of what it changed, delta, the best share is added, lane after
lane,

    t = clip((p'delta - f'delta - b 1'delta) / (delta'K delta + rho (1'delta)^2), 0, 1),

so that the dual value never falls. The rows of so few variables that they make a small chunk are brought together, and
stepped in one after the other. Chunks, their order and s depend on the data only: any number of workers gives the same
bits.

References: Hsieh, Chang, Lin, Keerthi, Sundararajan, A dual coordinate descent method for large-scale linear SVM, ICML
2008, algorithm 1; Ma, Smith, Jaggi, Jordan, Richtárik, Takáč, Adding vs. averaging in distributed primal-dual
optimization, ICML 2015, whose sigma' is s.
"""

from __future__ import annotations

from itertools import cycle
from typing import Any, NamedTuple

import numpy as np

from mklviz.compiled import njit
from mklviz.context import checkpoint
from mklviz.kernels.storage.disk import release
from mklviz.kernels.storage.passes import FAST, Factors, answer_of, asked, begun, chunk_length, diagonal_of, joined
from mklviz.typing import Array, Indices, Integers

BLOCK = 16  # samples that stand together are stepped in together: rows drawn singly come slowly from memory
PIECE = 20_000_000  # entries of Z between two checkpoints
LANES = 2  # with four, more sweeps are needed


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


class DualVariables(NamedTuple):
    """What is known of dual variables, (n,) each: their linear terms p, bounds and diagonal of K."""

    linear: Array
    low: Array
    high: Array
    diagonal: Array

    def some(self, which: Any, lanes: int = 1) -> DualVariables:
        """Return what is known of some of them, each of which counts `lanes` times in the curvature."""
        linear, low, high, diagonal = (one[which] for one in self)
        return DualVariables(linear, low, high, lanes * diagonal)


def bounds_there(rows: Factors, *terms: Array) -> list[Any]:
    """Return what stands for the linear terms and bounds of each chunk's variables, which are beside it."""
    length = chunk_length(rows.shape)
    starts = range(0, len(rows), length)
    return begun(rows, [asked(rows, k, _given, *(one[k : k + length] for one in terms)) for k in starts])


def known_there(rows: Factors, bounds: list[Any], w: Array, runs: Integers) -> tuple[list[Any], Array]:
    """Return what stands for all that is known of each chunk's variables, and the diagonal of K, (n,)."""
    starts = range(0, len(rows), chunk_length(rows.shape))
    known = [asked(rows, k, _known, some, w, runs) for k, some in zip(starts, bounds, strict=True)]
    answers = begun(rows, [*known, *(asked(rows, k, _diagonal, one) for k, one in zip(starts, known, strict=True))])
    there, parts = answers[: len(known)], answers[len(known) :]
    return there, joined(rows, (answer_of(rows, part) for part in parts))


class Terms(NamedTuple):
    """What stays the same in all sweeps: w and its runs, rho, b_0, and s."""

    w: Array
    runs: Integers
    rho: float
    offset: float
    lanes: int


class Near(NamedTuple):
    """Which rows of a chunk are stepped in, what is known of their variables, and what stays the same."""

    places: Indices
    variables: DualVariables
    terms: Terms


class Common(NamedTuple):
    """What all variables share: g and 1'beta - S; and what steps gained, and p'delta of their change delta."""

    g: Array
    excess: float
    gain: float = 0.0
    pull: float = 0.0


class Change(NamedTuple):
    """What steps in a chunk's variables changed: beta before and after, and what they share afterwards."""

    before: Array
    beta: Array
    common: Common

    def added(self, share: float) -> Array:
        """Return beta with this share of the change: on its bounds, not beside them, with all of it."""
        return self.beta if share == 1.0 else self.before + share * (self.beta - self.before)


def swept(rows: Factors, near: Near, seed: int, last: Change, share: float, start: Change) -> Change:
    """Step once in some variables of a chunk, in the order that `seed` draws, and return what that changes.

    `last`: their change before, of which this share was added; `start`: whose end this begins with.
    """
    places, variables, (w, runs, rho, offset, s) = near
    before, (g, excess, gain, pull) = last.added(share), start.common
    beta, g, state = before.copy(), g.copy(), np.array([offset, excess, gain])
    blocks = np.random.default_rng(seed).permutation(-(-len(beta) // BLOCK))
    order = (BLOCK * blocks[:, None] + np.arange(BLOCK)).ravel()
    order = order[order < len(beta)]
    length = max(PIECE // max(len(w), 1), 1)
    for first in range(0, len(order), length):
        checkpoint()
        _sweep(rows, order[first : first + length], places, *variables, beta, s * rho, s * w, runs, g, state)
    pull += float(variables.linear @ (beta - before))
    return Change(before, beta, Common(g, float(state[1]), float(state[2]), pull))


class Sweeps:
    """Steps in the variables `near`, ascending, of beta (n,).

    `columns`: w and its runs; `variables`: of all rows, which `there` stands for chunk by chunk; `g` (R,): w o Z'beta;
    `bias`: b_0; `excess`: 1'beta - S.
    """

    def __init__(
        self,
        rows: Factors,
        columns: tuple[Array, Integers],
        variables: DualVariables,
        there: list[Any],
        near: Indices,
        beta: Array,
        g: Array,
        rho: float,
        bias: float,
        excess: float,
    ) -> None:
        places = near
        if len(near) <= chunk_length((len(near), len(g))) < len(rows):
            release(rows)  # a few steps in each of many chunks take less time than asking for them
            rows, places, there = rows[near], np.arange(len(near)), [variables.some(near)]
        starts = np.arange(0, len(rows), chunk_length(rows.shape))
        cuts = np.searchsorted(places, starts[1:])
        chunks = [*zip(starts.tolist(), np.split(near, cuts), np.split(places, cuts), there, strict=True)]
        chunks = [chunk for chunk in chunks if len(chunk[1])]
        lanes = min(max(len(chunks), 1), LANES)
        self._terms = Terms(*columns, rho, bias, lanes)
        self._rows, self._common = rows, Common(g, excess)
        self._starts, self._which = [start for start, *_ in chunks], [which for _, which, *_ in chunks]
        some = ((start, known, (here - start).astype(np.int32)) for start, _, here, known in chunks)
        nearby = [asked(rows, start, _near, known, here, self._terms) for start, known, here in some]
        self._near = begun(rows, nearby)
        held = (beta[which] for which in self._which)
        self._changes: list[Any] = [Change(one, one, self._common) for one in held]
        self._shares = [1.0] * lanes

    @property
    def bias(self) -> float:
        """b."""
        return self._terms.offset + self._terms.rho * self._common.excess

    def sweep(self, rng: np.random.Generator) -> float:
        """Step once in each of the variables and return what the dual objective gained."""
        rows, first, s = self._rows, self._common, self._terms.lanes
        none = np.zeros(0)
        ends: list[Any] = [(0, Change(none, none, Common(first.g, first.excess / s)))] * s
        tasks, gained = [], 0.0
        for k, (start, near, last) in enumerate(zip(self._starts, self._near, self._changes, strict=True)):
            given = near, int(rng.integers(2**63)), last, self._shares[k % s], ends[k % s][1]
            tasks.append(asked(rows, start, swept, *given))
            ends[k % s] = start, tasks[-1]
        shared = [asked(rows, start, _common, end) for start, end in ends]
        answers = begun(rows, [*tasks, *shared])
        self._changes = answers[: len(tasks)]
        for k, answer in enumerate(answers[len(tasks) :]):
            gained += self._add(k, first, answer_of(rows, answer))
        return gained

    def _add(self, k: int, first: Common, end: Common) -> float:
        """Add the best share of what lane k changed, which began with `first`, and return what that gains."""
        w, _, rho, _, s = self._terms
        if s == 1:
            self._common = end
            return end.gain
        now, step, total = self._common, (end.g - first.g) / s, end.excess - first.excess / s
        step_u = np.divide(step, w, out=np.zeros_like(w), where=w >= np.finfo(float).tiny)  # finite
        slope = end.pull - float(now.g @ step_u) - self.bias * total
        bend = float(step @ step_u) + rho * total**2
        share = self._shares[k] = min(max(slope / max(bend, 1e-300), 0.0), 1.0)
        self._common = Common(now.g + share * step, now.excess + share * total)
        return share * (slope - 0.5 * share * bend)

    def write(self, beta: Array) -> None:
        """Write the variables into beta (n,)."""
        ended = zip(self._starts, self._changes, cycle(self._shares))
        answers = begun(self._rows, [asked(self._rows, start, _reached, *last) for start, *last in ended])
        for which, answer in zip(self._which, answers, strict=True):
            beta[which] = answer_of(self._rows, answer)


def _given(_: Factors, *terms: Array) -> tuple[Array, ...]:
    return terms


def _known(rows: Factors, terms: tuple[Array, Array, Array], w: Array, runs: Integers) -> DualVariables:
    return DualVariables(*terms, np.maximum(diagonal_of(w, runs, rows), 1e-300))


def _diagonal(_: Factors, variables: DualVariables) -> Array:
    return variables.diagonal


def _near(_: Factors, variables: DualVariables, places: Indices, terms: Terms) -> Near:
    return Near(places.astype(np.int64), variables.some(places, terms.lanes), terms)


def _common(_: Factors, change: Change) -> Common:
    return change.common


def _reached(_: Factors, last: Change, share: float) -> Array:
    return last.added(share)
