"""A Gram matrix as an image, ordered by class: which samples a kernel takes for alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import holoviews as hv
import numpy as np
from numpy.typing import ArrayLike

from mklviz.errors import ProblemError
from mklviz.kernels import Bank
from mklviz.typing import Array
from mklviz.views.look.palette import Theme, diverging, sequential
from mklviz.views.model.grams import MOST_SAMPLES, gram_on, sampled, shrunk
from mklviz.views.pictures.style import HEIGHT, dressed, theme_of

__all__ = ["Ordered", "draw_gram", "gram", "ordered_gram"]

CLASSES = 12  # at most so many targets are classes
NEGATIVE = 0.05  # share of the largest entry below which negative ones are not visible


@dataclass(frozen=True)
class Ordered:
    """A Gram matrix with its samples in order of class, in units of its mean diagonal."""

    values: Array  # (s, s)
    edges: tuple[float, ...]  # where classes end, from 0 to the number of samples
    classes: tuple[str, ...]  # empty where the samples are in order of their targets, or in the given order
    # `samples`, `total`: how many are drawn, of how many
    samples: int
    total: int


def gram(bank: Bank, which: int | str | ArrayLike, y: ArrayLike | None = None, dark: bool = False) -> hv.Overlay:
    """Draw a kernel on the samples: each field is the similarity of two of them.

    Parameters
    ----------
    bank : Bank
    which : int, str or (m,) array
        A kernel, by its number or its name, or the weights of all kernels for their sum (or product).
    y : (n,) array, optional
        The samples' targets: classes stand together then, numbers in their order.
    dark : bool
        Whether for a dark page.

    Returns
    -------
    hv.Overlay
        In units of the mean similarity of a sample with itself; of more than 600 samples a random 600.

    Raises
    ------
    ProblemError
        If there is no such kernel, or weights or targets do not fit the bank.

    Examples
    --------
    >>> import mklviz as mv
    >>> train, test = mv.load_dataset("heart").split(train=0.5, seed=0)
    >>> bank = mv.paper_bank(train.X)
    >>> trace = mv.solve(mv.Problem(bank, train.y), "level")
    >>> picture = mv.plot.gram(bank, trace.best.weights, train.y) + mv.plot.gram(bank, 3, train.y)
    >>> mv.plot.save(picture, "gram.html")
    """
    weights, title = _weights_of(bank, which)
    targets = None if y is None else np.asarray(y, dtype=np.float64).reshape(-1)
    if targets is not None and len(targets) != bank.n_samples:
        raise ProblemError(f"The bank has {bank.n_samples:,} samples, but y has {len(targets):,} targets.")
    return draw_gram(ordered_gram(bank, weights, targets), theme_of(dark), title)


def _weights_of(bank: Bank, which: Any) -> tuple[Array, str]:
    """Return the weights to draw, and their name."""
    noun = "kernel" if bank.kind != "parametric" else "parameter"
    if isinstance(which, str):
        if which not in bank.names:
            raise ProblemError(f"The bank has no {noun} {which!r:.60}; its first is {bank.names[0]!r}.")
        which = list(bank.names).index(which)
    if isinstance(which, (int, np.integer)):
        if not 0 <= which < len(bank):
            raise ProblemError(f"The bank has the {noun}s 0 to {len(bank) - 1:,}, but {which:,} was asked for.")
        weights = np.zeros(len(bank))
        weights[int(which)] = 1.0
        return weights, bank.names[int(which)]
    weights = np.asarray(which, dtype=np.float64)
    if weights.shape != (len(bank),):
        raise ProblemError(f"Give a {noun}, or {len(bank):,} weights; these have the shape {weights.shape}.")
    return weights, {"sum": "weighted sum", "product": "product", "parametric": "learned kernel"}[bank.kind]


def ordered_gram(
    bank: Bank, weights: Array, y: Array | None, classes: Sequence[str] = (), most: int = MOST_SAMPLES
) -> Ordered:
    """Return the Gram matrix of weights, class by class, in blocks of samples so that at most `most` are drawn."""
    samples = sampled(bank.n_samples, MOST_SAMPLES)
    matrix = gram_on(bank, weights, samples)
    edges, names = (0.0, float(len(samples))), tuple[str, ...]()
    if y is not None:
        order = np.argsort(y[samples], kind="stable")
        matrix = matrix[np.ix_(order, order)]
        codes, counts = np.unique(y[samples], return_counts=True)
        if len(codes) <= CLASSES:
            edges = (0.0, *np.cumsum(counts).astype(float).tolist())
            every = np.unique(y)
            named = len(classes) == len(every)
            names = tuple(classes[int(np.searchsorted(every, c))] if named else f"{c:g}" for c in codes)
    diagonal = float(np.abs(np.diag(matrix)).mean())
    values = shrunk(matrix, most) / (diagonal if diagonal > 0.0 else 1.0)
    return Ordered(values.astype(np.float32), edges, names, len(samples), bank.n_samples)


def draw_gram(shown: Ordered, theme: Theme, title: str, height: int = HEIGHT, bar: bool = True) -> hv.Overlay:
    """Draw a Gram matrix with lines between the classes, the first sample at the top left."""
    n, values = shown.samples, shown.values
    top = float(np.quantile(np.abs(values), 0.995)) or 1.0
    signed = float(np.quantile(values, 0.005)) < -NEGATIVE * top
    image = hv.Image(values, bounds=(0, 0, n, n), kdims=["column", "row"], vdims=["similarity"])
    shades = diverging(theme) if signed else sequential(theme)
    image.opts(cmap=shades, clim=(-top if signed else 0.0, top), colorbar=bar, backend="bokeh")
    # the image begins at the top: a row is as far below it as its number
    inner = [n - edge for edge in shown.edges[1:-1]]
    lines = [(0, y, n, y) for y in inner] + [(n - y, 0, n - y, n) for y in inner]
    between = hv.Segments(lines, ["column", "row", "column_end", "row_end"])
    between.opts(color=theme.text, line_width=1, backend="bokeh")
    middles = [(a + b) / 2 for a, b in zip(shown.edges, shown.edges[1:], strict=False)]
    some = f", {n:,} of {shown.total:,} samples" if n < shown.total else ""
    ticks = bool(shown.classes)
    return dressed(
        image * between,
        theme,
        title=f"{title}{some}",
        height=height,
        width=height + 80,
        xlabel="",
        ylabel="",
        xticks=list(zip(middles, shown.classes, strict=True)) if ticks else 0,
        yticks=[(n - at, name) for at, name in zip(middles, shown.classes, strict=True)] if ticks else 0,
        grid=False,
        xlim=(0, n),
        ylim=(0, n),
    )
