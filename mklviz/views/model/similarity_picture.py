"""How alike the kernels of a bank are: centred alignments, like kernels side by side."""

from __future__ import annotations

import holoviews as hv
import numpy as np
from numpy.typing import ArrayLike

from mklviz.errors import ProblemError
from mklviz.kernels import Bank
from mklviz.typing import Array
from mklviz.views.look.palette import Theme, diverging, sequential
from mklviz.views.model.grams import Alignments, align
from mklviz.views.model.learned import MOST_KERNELS, heaviest
from mklviz.views.pictures.style import dressed, theme_of

__all__ = ["draw_similarity", "similarity"]

ROW = 15  # pixels for each kernel
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
    return draw_similarity(align(bank, chosen), theme_of(dark), title)


def draw_similarity(alignments: Alignments, theme: Theme, title: str) -> hv.HeatMap:
    """Draw alignments as a square of fields, the first kernel at the top left."""
    names = alignments.names
    fields = [
        (column, row, value)
        for row, line in zip(names[::-1], alignments.values[::-1].tolist(), strict=True)
        for column, value in zip(names, line, strict=True)
    ]
    signed = bool(alignments.values.min() < -0.05)
    drawn = hv.HeatMap(fields, [hv.Dimension("one", label="kernel"), hv.Dimension("other")], "alignment")
    named = len(names) <= NAMED
    size = round(theme.scale * (max(ABOVE + ROW * len(names), 180) + (BELOW if named else 0)))
    return dressed(
        drawn,
        theme,
        title=title,
        height=size,
        width=size + 120,
        cmap=diverging(theme) if signed else sequential(theme),
        clim=(-1.0 if signed else 0.0, 1.0),
        colorbar=True,
        grid=False,
        xrotation=60,
        xaxis="bottom" if named else None,
        xlabel="",
        ylabel="",
        line_color=theme.card,
        hover_tooltips=[("kernels", "@one and @other"), ("alignment", "@alignment{0.000}")],
        tools=["hover"],
    )
