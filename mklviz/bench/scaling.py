"""How CPU time grows with the number of kernels m and of samples n, beside the exponents of SPG's paper.

- *m*: half of Sonar and of Ionosphere, Gaussians of ten widths on drawn feature subsets, computed whenever they are
  needed, so that every size takes the same path; l_1.33 as in the paper, and the simplex.
- *n*: people of Adult, and drawn points in the shape of Web (about 12 of 300 words on a page, one page in ten positive;
  the real set has one in thirty), ten Gaussians on all columns, l_1.33.

All stop at a relative duality gap of 1e-2. Making the kernels is not timed. The exponent is the slope of the straight
line through the logarithms.

Reference: Jain, Vishwanathan, Varma, SPG-GMKL, KDD 2012, section 5.5 and figure 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from mklviz.bench._suite import Bench, Slope, Suite
from mklviz.datasets import load_dataset
from mklviz.engine import solve
from mklviz.kernels import Gaussian, KernelBank
from mklviz.problem import Hinge, LpBall, Problem, Regularizer, Simplex
from mklviz.typing import Array

__all__ = ["SUITE", "adult", "measure", "slope", "web_like"]

GAP = 1e-2
P = 1.33
KERNELS = (1000, 3000, 10_000, 30_000)
SAMPLES = (250, 500, 1000, 2000, 4000, 8000)
ON_THE_FLY = 2**24  # bytes allowed to a bank, too few to keep kernels
GOALS = {"m": 1.05, "n": 2.1}
WIDTHS = tuple(2.0**k for k in range(-4, 6))


def measure(bench: Bench) -> Iterator[Slope]:
    """Measure the growth in m, then in n."""
    kernels, samples = ((*KERNELS[:2], 6000), SAMPLES[:4]) if bench.quick else (KERNELS, SAMPLES)
    for name in ("sonar", "ionosphere"):
        train, _ = load_dataset(name).split(train=0.5, seed=0)
        for solver, regularizer, label, paper in (
            ("spg", LpBall(P), f"SPG, l_{P:g}", 1.0),
            ("closed-form", LpBall(P), f"closed form, l_{P:g}", None),
            ("level", Simplex(), "Level, simplex", None),
        ):
            yield slope(f"{label}, {name}", "m", kernels, _wider(train.X, train.y, regularizer), solver, bench, paper)
    for label, draw, published in (("Adult", adult, 1.98), ("the shape of Web", web_like, 1.52)):
        for solver, method, paper in (("spg", "SPG", published), ("closed-form", "closed form", None)):
            name = f"{method}, l_{P:g}, in {label}"
            yield slope(name, "n", samples, _longer(draw), solver, bench, paper)


def slope(
    name: str,
    letter: str,
    sizes: Sequence[int],
    pose: Callable[[int], Problem],
    solver: str,
    bench: Bench,
    paper: float | None,
) -> Slope:
    """Time `solver` on the problems of all sizes, in turn."""
    seconds, solves = [], []
    for size in sizes:
        bench.say(f"{name}, {letter} = {size:,}")
        problem = pose(size)
        solve(problem, solver, gap=None, max_iter=1)  # compiled code is loaded outside the clock
        rounds = [solve(problem, solver, gap=GAP) for _ in range(bench.repeats or 1)]
        trace = rounds[-1]
        seconds.append(float(np.median([one.last_seconds for one in rounds])))
        solves.append(f"{trace.final.svm_solves}{'' if trace.status == 'converged' else ' (gap not reached)'}")
    return Slope(name, letter, tuple(sizes), tuple(seconds), paper, GOALS[letter], f"SVMs solved: {', '.join(solves)}")


def _wider(X: Array, y: Array, regularizer: Regularizer) -> Callable[[int], Problem]:
    def pose(m: int) -> Problem:
        bank = KernelBank.build(X, [Gaussian(on=f"random:{m // 10}")], max_bytes=ON_THE_FLY)
        return Problem(bank, y, Hinge(C=100.0), regularizer)

    return pose


def _longer(draw: Callable[[int], tuple[Array, Array]]) -> Callable[[int], Problem]:
    def pose(n: int) -> Problem:
        X, y = draw(n)
        bank = KernelBank.build(X, [Gaussian(widths=WIDTHS)], normalize="none")
        return Problem(bank, y, Hinge(C=1.0), LpBall(P))

    return pose


def adult(n: int) -> tuple[Array, Array]:
    """Return n people of Adult as (n, 123) zeros and ones, and labels."""
    people = load_dataset("adult", n=n)
    return people.X, people.y


def web_like(n: int, seed: int = 0) -> tuple[Array, Array]:
    """Return n pages with about 12 of 300 words each as (n, 300) zeros and ones, and labels, a tenth +1."""
    rng = np.random.default_rng(seed)
    frequency = 1.0 / np.arange(3, 303)  # as words are
    X = (rng.random((n, 300)) < 12.0 * frequency / frequency.sum()).astype(np.float64)
    return X, _labels(X, rng, 0.1)


def _labels(X: Array, rng: np.random.Generator, positive: float) -> Array:
    """Return the sign of a drawn linear function with noise, such that so many are +1."""
    score = X @ np.random.default_rng(1).standard_normal(X.shape[1])  # one function for every n
    noisy = score + 0.5 * score.std() * rng.standard_normal(len(X))
    return np.where(noisy > np.quantile(noisy, 1.0 - positive), 1.0, -1.0)


SUITE = Suite(
    "How time grows with kernels and samples",
    "CPU time to a duality gap of 1 %, its exponent from a straight line on log scales, the paper's beside it.",
    measure,
)
