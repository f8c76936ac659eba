"""The kernel weights of a trace: how they are kept in memory, and how far they move back and forth."""

from __future__ import annotations

import math
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from mklviz.contract import Array, Iterate

# How a trace keeps the weights of a million kernels: in full and bit for bit, where they take the least room.
#
# Where most of many weights are zero, only the others are kept. Otherwise all are kept, in memory up to 128 MB a trace
# and then in a temporary file. The last iterate stays as it is.


FEW = 20_000  # kernels whose weights take no room worth saving
SPARSE = 4  # a weight that is not zero takes its place besides its value; fewer than one in so many is worth that
IN_MEMORY = 2**27  # bytes of one trace's dense weights

Kept = Callable[[], Array]


class KeptIterate(Iterate):
    """An iterate that fetches its weights from where they are kept at each access."""

    __slots__ = ("_kept",)
    _kept: Kept | Array

    @property
    def weights(self) -> Array:
        """Kernel weights d, (m,)."""
        return self._kept() if callable(self._kept) else self._kept

    @weights.setter
    def weights(self, value: Kept | Array) -> None:
        object.__setattr__(self, "_kept", value)

    def __reduce__(self) -> tuple[type[Iterate], tuple[Any, ...]]:
        """Pickle sparse weights as they are, and all others in full: another process may not have the file."""
        others = _all_but_weights(self)
        sparse = isinstance(self._kept, _Sparse)
        return (KeptIterate, (self._kept, *others)) if sparse else (Iterate, (self.weights, *others))


def _all_but_weights(iterate: Iterate) -> tuple[Any, ...]:
    return tuple(getattr(iterate, field.name) for field in fields(Iterate)[1:])


class WeightKeeping:
    """Keeps the weights of one trace."""

    def __init__(self) -> None:
        self._taken = 0
        self._file: IO[bytes] | None = None
        self._lock = threading.Lock()

    def keep(self, iterate: Iterate) -> Iterate:
        """Return an equal iterate that takes little memory."""
        weights = iterate.weights
        if len(weights) <= FEW or isinstance(iterate, KeptIterate):
            return iterate
        kept = self._kept(weights)
        return KeptIterate(kept, *_all_but_weights(iterate)) if kept else iterate  # type: ignore[arg-type]

    def _kept(self, weights: Array) -> Kept | None:
        """Return what fetches weights that are kept elsewhere; None where they stay in memory as they are."""
        indices = np.flatnonzero(weights.view(np.int64))  # -0.0 is a number of its own
        if SPARSE * len(indices) <= len(weights):
            return _Sparse(indices.astype(np.int32), weights[indices], len(weights))
        self._taken += weights.nbytes
        with suppress(OSError):  # the disk is full or may not be written to: in memory after all
            return self._in_file(weights) if self._taken > IN_MEMORY else None
        return None

    def _in_file(self, weights: Array) -> Kept:
        with self._lock:
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="mklviz-weights-")  # noqa: SIM115, it lives as the trace does
            file = self._file
            start = file.seek(0, 2)
            file.write(weights.data)
            file.flush()

        m = len(weights)

        def read() -> Array:
            out = np.empty(m)
            with self._lock:
                file.seek(start)
                file.readinto(out.data)  # type: ignore[attr-defined]
            return out

        return read


@dataclass(frozen=True)
class _Sparse:
    """The nonzero weights, and their indices."""

    indices: NDArray[np.int32]
    values: Array
    m: int

    def __call__(self) -> Array:
        out = np.zeros(self.m)
        out[self.indices] = self.values
        return out


# Does a path of kernel weights oscillate? Count how often the whole weight is moved, and how much of that in vain.
#
# With weights scaled to sum 1 and T steps from d_0 to d_T,
#
#     moved   = 1/2 sum_t ||d_{t+1} - d_t||_1       once all the weight from some kernels to others is 1
#     in vain = moved - net,  net = 1/2 ||d_T - d_0||_1
#     late    = the same after the first fifth of the steps, in which any method may look for its scale
#     back    = sum_t (m_t + m_{t+1} - 1/2 ||d_{t+2} - d_t||_1) / 2 over moved, m_t the t-th term of moved:
#               the share of all movement that the very next step takes back, kernel by kernel
#     last    = in vain in the last third of the steps
#
# A path *oscillates* where late >= 1, or late >= 0.5 and back >= 0.4, unless it has calmed down: last < 0.7, or less
# than 2 % of the weight per step. Otherwise it *settles* where it moved at least 1.5 in vain, twice as fast as in the
# end; otherwise it is *stable*. That is what a person sees in the pictures of the scenarios; on the papers' data sets,
# `last` is at least 1.05 for SILP and at most 0.47 for all others.


SHORTEST = 8  # steps that are judged: a few long ones, such as Newton's, may lead straight to where others wander
LATE, LATE_BACK, BACK = 1.0, 0.5, 0.4
LAST, TREMOR = 0.7, 0.02
SEARCH = 1.5
RULE = (
    f"The rule: a path oscillates if it undoes, after the first fifth of its steps, {LATE:g} full move or more,"
    f" or {LATE_BACK:g} with {100 * BACK:.0f} % or more of all movement taken back by the very next step, and still"
    f" {LAST:g} in the last third; else it settles if it undid {SEARCH:g} full moves, but little of that in the end;"
    " else it is stable."
)


@dataclass(frozen=True)
class Motion:
    """How the weights of a run have moved; 1 is all the weight, moved once from some kernels to others."""

    steps: int = 0
    moved: float = 0.0  # length of the path
    net: float = 0.0  # and of the line from its start to its end
    late: float = 0.0  # movement in vain after the first fifth of the steps
    last: float = 0.0  # movement in vain in the last third of the steps
    back: float = 0.0  # share of the movement that the very next step takes back

    @property
    def in_vain(self) -> float:
        """Movement that has led nowhere."""
        return self.moved - self.net

    @property
    def share_in_vain(self) -> float:
        """Share of the movement that has led nowhere."""
        return self.in_vain / self.moved if self.moved > 0.0 else 0.0

    @property
    def verdict(self) -> str:
        """The word for it, "oscillates", "settles" or "stable"; "" while there are fewer than eight steps to judge."""
        if self.steps < SHORTEST or not math.isfinite(self.moved):
            return ""
        third = self.steps - _begin_of_last(self.steps)
        calm = self.last < max(LAST, TREMOR * third)
        if not calm and (self.late >= LATE or (self.late >= LATE_BACK and self.back >= BACK)):
            return "oscillates"
        fades = 2.0 * self.last / third <= self.in_vain / self.steps
        return "settles" if fades and self.in_vain >= SEARCH else "stable"

    def __str__(self) -> str:
        """Say it in words: "shifted weight worth 52 full moves; 98 % was undone"."""
        if not math.isfinite(self.moved):
            return ""
        times = f"{self.moved:.1f}" if self.moved < 9.95 else f"{self.moved:,.0f}"
        what = f"{100 * self.moved:.0f} % of its weight" if self.moved < 0.995 else f"weight worth {times} full moves"
        undone = round(100 * self.share_in_vain)
        return f"shifted {what}; {f'{undone} % was' if undone else 'nothing was'} undone"


class MotionTracker:
    """Follows the weights of one growing path, each step once: a tick cannot afford the whole path."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._moved: list[float] = []  # after so many steps
        self._back: list[float] = []  # taken back by the next step, after so many steps
        self._first = self._before = self._last = np.zeros(0)
        self._begins: dict[int, Array] = {}  # where the parts of the path begin that are looked at alone
        self._motion = Motion()

    def read(self, path: Sequence[Iterate], seconds: float = math.inf) -> Motion:
        """Take in what is new, for about `seconds` at most, and return the motion until there; the next call goes on.

        One thread may append to the path while others ask.
        """
        with self._lock:
            length, deadline = len(path), time.perf_counter() + seconds
            while len(self._moved) < length and time.perf_counter() < deadline:
                self._add(path[len(self._moved)].weights)
            if self._motion.steps + 1 < len(self._moved):
                self._motion = self._measure(path, len(self._moved) - 1, self._last)
            return self._motion

    def read_to(self, path: Sequence[Iterate], step: int) -> Motion:
        """Return the motion of the path as it was at `step`, which costs little once the path is taken in."""
        with self._lock:
            while len(self._moved) <= step:
                self._add(path[len(self._moved)].weights)
            return self._measure(path, step, scaled(path[step].weights))

    def _add(self, weights: Array) -> None:
        new = scaled(weights)
        if not self._moved:
            self._first = self._last = new
            self._moved.append(0.0)
            self._back.append(0.0)
            return
        step, back = _distance(new, self._last), 0.0
        if len(self._moved) > 1:
            previous = self._moved[-1] - self._moved[-2]
            back = max(0.0, previous + step - _distance(new, self._before)) / 2.0
        self._before, self._last = self._last, new
        self._back.append(self._back[-1] + back)
        self._moved.append(self._moved[-1] + step)

    def _measure(self, path: Sequence[Iterate], steps: int, end: Array) -> Motion:
        """Return the motion of the first `steps` steps, which lead to the scaled weights `end`."""
        moved, back = self._moved[steps], self._back[steps]
        parts = steps // 5, _begin_of_last(steps)
        self._begins = {at: self._begins[at] if at in self._begins else scaled(path[at].weights) for at in parts}
        late, last = (max(0.0, moved - self._moved[at] - _distance(end, self._begins[at])) for at in parts)
        net = min(_distance(end, self._first), moved)  # rounding may make the line longer than its parts
        return Motion(steps, moved, net, late, last, back / moved if moved > 0.0 else 0.0)


def _begin_of_last(steps: int) -> int:
    """Return where the last third of the steps begins."""
    return 2 * steps // 3


def scaled(weights: Array) -> Array:
    """Return the weights scaled to sum 1; weights that are all zero stay so."""
    total = float(weights.sum())
    return weights if total == 0.0 else weights / total


def _distance(one: Array, other: Array) -> float:
    return 0.5 * float(np.abs(one - other).sum())
