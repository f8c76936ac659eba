"""Pictures of kernels: their weights as bars and as a heat map, a Gram matrix by class, and how alike they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol

import holoviews as hv
import numpy as np
from numpy.typing import ArrayLike

from mklviz.analysis.kernel_weights import (
    MOST_KERNELS,
    Alignments,
    Bars,
    Grid,
    OrderedGram,
    align,
    by_family,
    by_feature,
    by_kernel,
    distinct,
    heaviest,
    ordered_gram,
)
from mklviz.contract import ACTIVE_WEIGHT
from mklviz.errors import ProblemError
from mklviz.kernels import Bank
from mklviz.record import Trace
from mklviz.typing import Array
from mklviz.views.look.palette import Theme, diverging, sequential, theme_for
from mklviz.views.look.styles import run_styles
from mklviz.views.pictures.style import HEIGHT, dressed

By = Literal["kernel", "family", "feature"]


class Fitted(Protocol):
    """What is drawn of an estimator."""

    trace_: Trace

    def kernel_shares(self, X: Any, y: Any = None) -> Array:
        """Return each kernel's share of the decisions at `X`, or of the score."""


ROW = 18  # pixels for each bar
AROUND = 90  # pixels for title and axis


def weights(
    trace: Trace | Fitted, bank: Bank | None = None, by: By = "kernel", step: int | None = None, dark: bool = False
) -> hv.Element:
    """Draw the kernel weights that a run or an estimator found.

    Parameters
    ----------
    trace : Trace, or fitted estimator such as MKLClassifier
    bank : Bank, optional
        The bank of the run's problem, which knows families and features; by kernel it is not needed.
    by : "kernel", "family" or "feature"
        Bars for the 50 heaviest kernels; bars for kernel families; or a heat map of features by kernels on them, such
        as Gaussians of each width.
    step : int, optional
        The step whose weights are drawn, a negative one counted from the end; by default those of the run's solution,
        its least objective. The steps of a branch go on from where it began.
    dark : bool
        Whether for a dark page.

    Returns
    -------
    hv.Bars or hv.HeatMap

    Raises
    ------
    ProblemError
        If there is no such step, or the bank is missing, another one, or knows no families.

    Examples
    --------
    >>> import mklviz as mv
    >>> train, test = mv.load_dataset("heart").split(train=0.5, seed=0)
    >>> problem = mv.Problem(mv.paper_bank(train.X), train.y, mv.Hinge(C=10.0))
    >>> trace = mv.solve(problem, "level")
    >>> picture = mv.plot.weights(trace) + mv.plot.weights(trace, problem.bank, by="feature")
    >>> mv.plot.save(picture, "weights.html")
    """
    trace = trace if isinstance(trace, Trace) else _fitted(trace).trace_
    theme, here = theme_for(dark), _weights_at(trace, step)
    title = f"{trace.label}, {'solution' if step is None else f'step {step:,}'}"
    if by == "kernel":
        return draw_bars(by_kernel(here, trace.kernel_names), "kernel", _colour(trace, theme), theme, title)
    if by not in ("family", "feature"):
        raise ProblemError(f'Weights are drawn by "kernel", "family" or "feature", but by={by!r} was given.')
    if bank is None or len(bank) != len(here):
        had = "none was given" if bank is None else f"the one given has {len(bank):,} kernels and the run {len(here):,}"
        raise ProblemError(f"Families and features are known to the bank of the run's problem: give it; {had}.")
    if by == "family":
        return draw_bars(by_family(here, bank), "family", _colour(trace, theme), theme, title)
    return draw_grid(by_feature(here, bank), theme, title)


def shares(estimator: Fitted, X: ArrayLike, y: ArrayLike | None = None, dark: bool = False) -> hv.Bars:
    """Draw each kernel's share of what an estimator decides, or of a regressor's score.

    Parameters
    ----------
    estimator : MKLClassifier, MKLRegressor or MKLOneClass
        Fitted.
    X : (n, d) array
        Where it decides.
    y : (n,) array, optional
        Values there, for shares of a regressor's score.
    dark : bool
        Whether for a dark page.

    Returns
    -------
    hv.Bars
        The 50 largest, see `MKLClassifier.kernel_shares`.

    Examples
    --------
    >>> import mklviz as mv
    >>> data = mv.load_dataset("iris")
    >>> model = mv.MKLClassifier("gauss:1@each").fit(data.X, data.y)
    >>> mv.plot.save(mv.plot.shares(model, data.X), "shares.html")
    """
    theme, trace = theme_for(dark), _fitted(estimator).trace_
    values = np.asarray(estimator.kernel_shares(X, y))
    chosen = [k for k in np.argsort(-np.abs(values), kind="stable")[:MOST_KERNELS] if abs(values[k]) > ACTIVE_WEIGHT]
    chosen.sort(key=lambda k: -values[k])
    names = distinct(trace.kernel_names[k] for k in chosen)
    bars = Bars(names, tuple(values[chosen].tolist()), ("",) * len(chosen), 1.0)
    title = f"{trace.label}, shares of the {'decision' if y is None else 'score'}"
    return draw_bars(bars, "kernel", _colour(trace, theme), theme, title, "share")


def _fitted(estimator: Fitted) -> Fitted:
    if isinstance(getattr(estimator, "trace_", None), Trace):
        return estimator
    raise ProblemError(
        "A run or a fitted estimator is drawn, such as MKLClassifier().fit(X, y), pipeline[-1] or a search's"
        f" best_estimator_, not {estimator!r:.80}."
    )


def _weights_at(trace: Trace, step: int | None) -> Array:
    if step is None:
        return trace.best.weights
    first, last = trace.first_step, trace.last_step
    index = step - first if step >= 0 else step + len(trace)
    if not 0 <= index < len(trace):
        raise ProblemError(f"The run has the steps {first:,} to {last:,}, but step {step:,} was asked for.")
    return trace[index].weights


def _colour(trace: Trace, theme: Theme) -> str:
    return run_styles({trace.solver: trace}, theme)[trace.solver].colour


def draw_bars(bars: Bars, of: str, colour: str, theme: Theme, title: str, what: str = "weight") -> hv.Bars:
    """Draw one bar for each name, the first at the top."""
    # pictures side by side share the axes that have one name; in tips a name that begins with another is taken for it
    value = f"{what}_of_{of}"
    rows = list(zip(bars.names, bars.values, bars.counted, strict=True))[::-1]
    drawn = hv.Bars(rows, hv.Dimension(of), [value, "note"])
    label = title if bars.share > 0.9995 else f"{title}: {100 * bars.share:.0f} % of the weight"
    tips = [(of, f"@{of}"), (what, f"@{value}{{0.0000}}"), *([("kernels", "@note")] if any(bars.counted) else [])]
    return dressed(
        drawn,
        theme,
        title=label,
        height=round(theme.scale * max(AROUND + ROW * len(bars.names), 180)),
        invert_axes=True,
        xlabel="",
        ylabel="value" if of == "parameter" else f"kernel {what}",
        color=colour,
        line_color=None,
        bar_width=0.7,
        hover_tooltips=tips,
        tools=["hover"],
        ylim=(1.05 * min(0.0, *bars.values, 0.0), 1.05 * max(bars.values, default=1.0) or 1.0),
    )


def draw_grid(grid: Grid, theme: Theme, title: str) -> hv.HeatMap:
    rows = len(grid.rows)
    return _heat_map(
        (grid.rows, grid.columns, grid.values),
        [hv.Dimension("kind", label="kernel"), "features"],
        "weight",
        theme,
        title=title if grid.share > 0.9995 else f"{title}: {100 * grid.share:.0f} % of the weight",
        height=round(theme.scale * max(AROUND + 60 + ROW * rows, HEIGHT if rows > 6 else 220)),
        cmap=sequential(theme),
        clim=(0.0, float(np.max(grid.values, initial=0.0)) or 1.0),
        xrotation=50,
        xlabel="kernel",
        hover_tooltips=[("kernel", "@kind"), ("features", "@features"), ("weight", "@weight{0.0000}")],
    )


def _heat_map(
    fields: tuple[Sequence[str], Sequence[str], Array], dims: list[Any], what: str, theme: Theme, **options: Any
) -> hv.HeatMap:
    """Draw one field for each row and column, of which the names and values are given, the first row at the top."""
    rows, columns, values = fields
    lines = zip(rows[::-1], values[::-1].tolist(), strict=True)
    drawn = [(column, row, value) for row, line in lines for column, value in zip(columns, line, strict=True)]
    options |= {"colorbar": True, "ylabel": "", "line_color": theme.card, "tools": ["hover"]}
    return dressed(hv.HeatMap(drawn, dims, what), theme, grid=False, **options)


NEGATIVE = 0.05  # share of the largest entry below which negative ones are not visible


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
    return draw_gram(ordered_gram(bank, weights, targets), theme_for(dark), title)


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


def draw_gram(shown: OrderedGram, theme: Theme, title: str, height: int = HEIGHT, bar: bool = True) -> hv.Overlay:
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


FIELD = 15  # pixels for each kernel
NAMED = 24  # kernels that have their names below as well
ABOVE, BELOW = 40, 110  # pixels for title and names


def similarity(bank: Bank, weights: ArrayLike | None = None, dark: bool = False) -> hv.HeatMap:
    """Draw which kernels of a bank are alike, 1 for kernels that are the same up to a scale and a bias.

    Parameters
    ----------
    bank : Bank
    weights : (m,) array, optional
        Kernel weights, of which the 50 heaviest are compared; without them all kernels, or 50 at equal distances in
        the bank where there are more.
    dark : bool
        Whether for a dark page.

    Returns
    -------
    hv.HeatMap
        Centred alignments on at most 300 samples (Cortes, Mohri and Rostamizadeh, JMLR 13, 2012).

    Raises
    ------
    ProblemError
        If the bank has no kernels to compare, as a product, or the weights do not fit it.

    Examples
    --------
    >>> import mklviz as mv
    >>> train, test = mv.load_dataset("heart").split(train=0.5, seed=0)
    >>> bank = mv.KernelBank.build(train.X, [mv.Gaussian(on="all"), mv.Polynomial(on="all")])
    >>> mv.plot.save(mv.plot.similarity(bank), "similarity.html")
    """
    m = len(bank)
    if weights is None:
        chosen = np.linspace(0, m - 1, min(m, MOST_KERNELS)).round().astype(np.intp)
    else:
        values: Array = np.asarray(weights, dtype=np.float64)
        if values.shape != (m,):
            raise ProblemError(f"The bank has {m:,} kernels, but these weights have the shape {values.shape}.")
        chosen = heaviest(values, MOST_KERNELS)
        if not len(chosen):
            raise ProblemError("No kernel has weight, so there are none to compare: leave the weights out.")
    title = "Kernel similarity" + (f", {len(chosen):,} of {m:,} kernels" if len(chosen) < m else "")
    return draw_similarity(align(bank, chosen), theme_for(dark), title)


def draw_similarity(alignments: Alignments, theme: Theme, title: str) -> hv.HeatMap:
    """Draw alignments as a square of fields, the first kernel at the top left."""
    names = alignments.names
    signed = bool(alignments.values.min() < -0.05)
    named = len(names) <= NAMED
    size = round(theme.scale * (max(ABOVE + FIELD * len(names), 180) + (BELOW if named else 0)))
    return _heat_map(
        (names, names, alignments.values),
        [hv.Dimension("one", label="kernel"), hv.Dimension("other")],
        "alignment",
        theme,
        title=title,
        height=size,
        width=size + 120,
        cmap=diverging(theme) if signed else sequential(theme),
        clim=(-1.0 if signed else 0.0, 1.0),
        xrotation=60,
        xaxis="bottom" if named else None,
        xlabel="",
        hover_tooltips=[("kernels", "@one and @other"), ("alignment", "@alignment{0.000}")],
    )
