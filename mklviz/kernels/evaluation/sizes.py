"""Kernels of very different size: v'K_k v over random signs v is trace(K_k) in the mean (Hutchinson 1990).

Where traces differ by ten powers of ten, so do the weights that make kernels comparable, and what is added to the
largest of them loses that many of its sixteen digits: no method is exact then, whatever the problem.
"""

from __future__ import annotations

import numpy as np

from mklviz.kernels.interface import Bank

__all__ = ["size_remark"]

_RANGE = 1e6  # of traces: beyond it, six digits are gone before a gap of 1e-2 is asked for
_PROBES = 8  # a kernel of rank one has a mean square of 1 +- 0.5: a factor, which no power of ten depends on


def size_remark(bank: Bank) -> str:
    """Return a sentence on how much the sizes of the kernels differ, where they do so by far, or ""."""
    if not bank.convex or getattr(bank, "normalize", "none") != "none":
        return ""
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (bank.n_samples, _PROBES))
    sizes = bank.quad(signs)
    sizes = sizes[sizes > 0.0]
    ratio = float(sizes.max() / sizes.min()) if len(sizes) else 1.0
    if not ratio > _RANGE:
        return ""
    return (
        f"The largest kernel is about {ratio:.0e} times as large as the smallest, too much for the digits of numbers:"
        ' normalize the kernels (normalize="trace"), and standardize the features.'
    )
