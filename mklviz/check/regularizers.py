"""What every regularizer promises: r, its gradient, projection, proximal point, conjugate and block form fit together.

r(d) + r*(u) >= d'u,    with equality for d = weights_from(2u);    G(x) = min_d 1/2 sum_k x_k^2 / d_k + r(d)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from mklviz.check.problems import blobs, near, require, require_named, small_bank
from mklviz.engine import available_solvers, recommend, solve
from mklviz.kernels import KernelBank, KernelFamily
from mklviz.problem import Hinge, Problem, Regularizer
from mklviz.record import SOLVED
from mklviz.typing import Array

TRIALS = 30


def posed(kind: type[Regularizer]) -> Problem:
    """Return forty points with the regularizer's defaults; its own is made for these kernels."""
    X, y = blobs(40, 0.1)
    return Problem(small_bank(X), y, Hinge(10.0), kind())


def points(regularizer: Regularizer, m: int) -> Iterator[Array]:
    """Yield weights inside its domain."""
    rng = np.random.default_rng(1)
    for _ in range(TRIALS):
        yield regularizer.project(rng.exponential(size=m) * 10.0 ** rng.uniform(-1, 1))


def says_what_it_is(kind: type[Regularizer]) -> None:
    """The class says what it is."""
    require_named(kind, ("name_", "label"))


def start_is_inside(kind: type[Regularizer]) -> None:
    """The start gives all kernels the same weight, inside the domain."""
    problem = posed(kind)
    start = problem.regularizer.start(problem.m)
    require(start.shape == (problem.m,) and np.ptp(start) == 0.0, "start(m) is not m equal weights.")
    if problem.regularizer.weighted:
        require(np.isfinite(problem.regularizer.value(start)), "value is infinite at start(m).")


def projection_is_nearest(kind: type[Regularizer]) -> None:
    """No point of the domain is nearer than the projection, which leaves its argument alone."""
    problem = posed(kind)
    regularizer, rng = problem.regularizer, np.random.default_rng(2)
    if not regularizer.weighted:
        return
    for other in points(regularizer, problem.m):
        argument = rng.normal(size=problem.m) * rng.exponential(2.0)
        before = argument.copy()
        nearest = regularizer.project(argument)
        require(np.array_equal(argument, before), "project writes into its argument.")
        require(np.isfinite(regularizer.value(nearest)), "value is infinite at a projection.")
        require(np.allclose(regularizer.project(nearest), nearest, rtol=1e-9, atol=1e-12), "projecting twice moves on.")
        ahead = float((argument - nearest) @ (other - nearest))
        size = float(np.linalg.norm(argument - nearest)) * (1.0 + float(np.linalg.norm(other - nearest)))
        require(ahead <= 1e-9 * size, "a point of the domain is nearer than the projection.")


def gradient_fits(kind: type[Regularizer]) -> None:
    """The gradient agrees with differences of the value."""
    problem = posed(kind)
    regularizer, before = problem.regularizer, problem.regularizer.start(problem.m)
    if not (regularizer.weighted and regularizer.smooth):
        return
    for one in points(regularizer, problem.m):
        middle, along, h = 0.45 * (one + before) + 0.1 * regularizer.start(problem.m), one - before, 1e-5
        before = one
        slope = (regularizer.value(middle + h * along) - regularizer.value(middle - h * along)) / (2 * h)
        gradient = regularizer.gradient(middle)
        require(gradient.shape == middle.shape, f"gradient has the shape {gradient.shape}, not {middle.shape}.")
        own = float(gradient @ along)
        size = float(np.abs(gradient) @ np.abs(along))
        require(near(own, slope, 1e-4, 1e-5 * size), f"differences give the slope {slope:g}, the gradient {own:g}.")


def proximal_point_is_best(kind: type[Regularizer]) -> None:
    """No point of the domain is better than the proximal point."""
    problem = posed(kind)
    regularizer, rng = problem.regularizer, np.random.default_rng(3)
    if not (regularizer.weighted and regularizer.proximal):
        return
    for other, step in zip(points(regularizer, problem.m), np.geomspace(1e-3, 30.0, TRIALS), strict=True):
        x = rng.normal(0.5, 1.0, size=problem.m)
        best = regularizer.prox(x, float(step))
        least, there = (0.5 * float((d - x) @ (d - x)) + step * regularizer.value(d) for d in (best, other))
        better = there < least - 1e-9 * (1.0 + abs(least))
        require(not better, f"with step {step:.2g}, prox gives {least:g}, but another point gives {there:g}.")


def conjugate_fits(kind: type[Regularizer]) -> None:
    """r(d) + r*(u) is never below d'u, and equal to it at the weights that weights_from gives."""
    problem = posed(kind)
    regularizer, rng = problem.regularizer, np.random.default_rng(4)
    if not (regularizer.weighted and regularizer.conjugated):
        return
    for d in points(regularizer, problem.m):
        u = rng.normal(size=problem.m) * rng.exponential(3.0)
        product = float(d @ u)
        value = regularizer.value(d) + regularizer.conjugate(u)
        require(value >= product - 1e-9 * (1.0 + abs(product)), f"r(d) + r*(u) is {value:g}, below d'u = {product:g}.")
        if not regularizer.determined:
            continue
        s = rng.exponential(size=problem.m)
        best, bound = regularizer.weights_from(s), regularizer.conjugate(0.5 * s)
        attained = 0.5 * float(best @ s) - regularizer.value(best)
        fits = near(attained, bound, 1e-6, 1e-9)
        require(fits, f"weights_from(s) attains {attained:g}, but conjugate(s / 2) is {bound:g}.")


def block_form_fits(kind: type[Regularizer]) -> None:
    """weights_from_norms attains the block form, and no other weights cost less."""
    problem = posed(kind)
    regularizer, rng = problem.regularizer, np.random.default_rng(5)
    if not regularizer.closed_form:
        return
    for _ in range(TRIALS):
        x = rng.exponential(size=problem.m) + 1e-3
        d, block = regularizer.weights_from_norms(x), regularizer.block(x)
        cost = regularizer.cost(d, (x / d) ** 2)
        require(near(cost, block, 1e-6, 1e-9), f"weights_from_norms costs {cost:g}, but block says {block:g}.")
        if regularizer.weighted:
            other = regularizer.project(d * rng.uniform(0.2, 3.0, size=problem.m))
            price = 0.5 * float((x**2 / np.maximum(other, 1e-300)).sum()) + regularizer.value(other)
            require(price >= block * (1 - 1e-9), f"other weights cost {price:g}, less than block says, {block:g}.")


def solvers_follow(kind: type[Regularizer]) -> None:
    """At least one solver can follow it, and ends at a gap of one per cent where there is one."""
    problem = posed(kind)
    able = available_solvers(problem)
    if not able:  # such as one whose formulation has no intercept
        problem = Problem(problem.bank, problem.y, Hinge(10.0, bias=False), kind())
        able = available_solvers(problem)
    require(able, "no solver takes it with the hinge loss.")
    trace = solve(problem, recommend(problem), gap=1e-2, max_iter=1000)
    proved = trace.status in (*SOLVED, "rule")
    require(proved, f"{trace.label} ended as {trace.status}: {trace.reason}")


REGULARIZER_PROMISES: tuple[Callable[[type[Regularizer]], None], ...] = (
    says_what_it_is,
    start_is_inside,
    projection_is_nearest,
    gradient_fits,
    proximal_point_is_best,
    conjugate_fits,
    block_form_fits,
    solvers_follow,
)


# -- families of kernels: symmetric, positive semidefinite, the same however they are computed


def names_its_kernels(kind: type[KernelFamily]) -> None:
    """The class says what it is, and its kernels have names that differ."""
    require_named(kind, ("name_", "label"))
    values = kind().values()
    require(len(values) > 0, "values() is empty: there is one kernel for each value.")
    names = [kind().describe(value) for value in values]
    require(all(isinstance(name, str) and name for name in names), "describe does not return a name.")
    require(len(set(names)) == len(names), f"describe gives two kernels the same name: {', '.join(names)}.")


def matrices_are_kernels(kind: type[KernelFamily]) -> None:
    """Every matrix is finite, symmetric and positive semidefinite."""
    family, (X, _) = kind(), blobs(30)
    for value in family.values():
        K = family.profile(family.base(X, X), value)
        name = family.describe(value)
        require(K.shape == (30, 30), f"{name} has the shape {K.shape} on 30 points.")
        require(np.isfinite(K).all(), f"{name} is nan or infinite.")
        require(np.allclose(K, K.T, rtol=1e-9, atol=1e-12), f"{name} is not symmetric.")
        least = float(np.linalg.eigvalsh(0.5 * (K + K.T)).min())
        size = float(np.trace(K))
        require(least >= -1e-9 * max(size, 1e-300), f"{name} has an eigenvalue {least:g}, where its trace is {size:g}.")


def base_is_shared(kind: type[KernelFamily]) -> None:
    """All values share one base, into which profile does not write."""
    family, (X, _) = kind(), blobs(12)
    base = family.base(X, X)
    copy = base.copy()
    for value in family.values():
        family.profile(base, value)
        require(np.array_equal(base, copy), "profile writes into the base, which the other values need.")


def parts_agree(kind: type[KernelFamily]) -> None:
    """The diagonal and kernels with new points are those of the whole matrix."""
    family, (X, _) = kind(), blobs(12)
    for value in family.values():
        K = family.profile(family.base(X, X), value)
        part = family.profile(family.base(X[:5], X), value)
        name = family.describe(value)
        require(np.allclose(part, K[:5], rtol=1e-9, atol=1e-12), f"{name} between 5 and 12 points is not that of all.")
        fits = np.allclose(family.diagonal(X, value), np.diag(K), rtol=1e-9, atol=1e-9)
        require(fits, f"{name} has another diagonal than diagonal says.")


def banks_are_built(kind: type[KernelFamily]) -> None:
    """A bank on all and on each feature has the matrices that the formula says, at unit trace."""
    family, (X, _) = kind(on="all+each"), blobs(20)
    bank = KernelBank.build(X, [family])
    expected = [
        family.profile(family.base(X[:, columns], X[:, columns]), value)
        for columns in (range(3), [0], [1], [2])
        for value in family.values()
    ]
    require(len(bank) == len(expected), f"a bank on three features has {len(bank)} kernels, not {len(expected)}.")
    for unit, K, name in zip(np.eye(len(bank)), expected, bank.names, strict=True):
        close = np.allclose(bank.combine(unit), K / np.trace(K), rtol=1e-6, atol=1e-9)
        require(close, f"{name} in a bank is not what base and profile say: look at on_one_feature and streams.")


KERNEL_PROMISES: tuple[Callable[[type[KernelFamily]], None], ...] = (
    names_its_kernels,
    matrices_are_kernels,
    base_is_shared,
    parts_agree,
    banks_are_built,
)
