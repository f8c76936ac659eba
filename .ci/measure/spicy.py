"""How SpicyMKL's time grows with the number of kernels, beside SPG and Newton's method on the same problem.

Half of Ionosphere (n = 175) with unit-trace kernels, made in two ways: Gaussians of ever more widths with three
polynomials, on all and on each feature (the papers' bank, refined), or Gaussians of ten widths on drawn subsets of the
features. The problem is the simplex at C = 100 and, with the same solution, the block 1-norm that SpicyMKL was
written for, whose price comes from the solution on the simplex; Newton's method has it under the name of linear
penalty. All stop at a gap of 1e-2 of their own.

A row is one method on one problem: `active` kernels have weight at the end; `solves` are Newton steps of SpicyMKL, SVMs
or other inner problems of the others; `status` is "limit" where time ran out. An exponent is the e of the straight line
through log CPU seconds against e log m, over the runs that converged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from measure.report import Row
from mklviz.datasets import Dataset, load_dataset
from mklviz.engine import make_solver, solve
from mklviz.kernels import Gaussian, KernelBank, Polynomial
from mklviz.problem import BlockL1, Hinge, L1Penalty, Logistic, Loss, Problem, Simplex, equivalents

__all__ = ["exponents", "measure_spicy"]

KEY = ("bank", "loss", "form", "method")  # of what is measured at several sizes
METHODS = ("spicymkl", "spg", "newton")
GAP = 1e-2


def measure_spicy(
    sizes: Sequence[int] = (100, 300, 1000, 3000, 10_000), drawn: int = 3000, max_seconds: float = 120.0
) -> Iterator[Row]:
    """Yield the rows of about these numbers of kernels; banks of drawn subsets up to `drawn` kernels."""
    half = load_dataset("ionosphere").split(train=0.5, seed=0)[0]
    for size in sizes:
        yield from _rows("widths", _refined(half, size), half, max_seconds)
        if size <= drawn:
            yield from _rows("subsets", _drawn(half, size), half, max_seconds)


def _refined(data: Dataset, size: int) -> KernelBank:
    """Return polynomials 1 to 3 and as many Gaussian widths from 2^-3 to 2^6 as come nearest to `size` kernels."""
    widths = np.geomspace(2.0**-3, 2.0**6, max(1, round(size / (data.n_features + 1)) - 3))
    return KernelBank.build(data.X, [Gaussian(widths=tuple(widths), on="all+each"), Polynomial(on="all+each")])


def _drawn(data: Dataset, size: int) -> KernelBank:
    """Return Gaussians of ten widths on drawn subsets of 2 to 10 features."""
    rng = np.random.default_rng(0)
    subsets = (
        [int(j) for j in rng.choice(data.n_features, rng.integers(2, 11), replace=False)] for _ in range(size // 10)
    )
    return KernelBank.build(data.X, [Gaussian(on=columns) for columns in subsets])


def _rows(kind: str, bank: KernelBank, data: Dataset, max_seconds: float) -> Iterator[Row]:
    losses: tuple[Loss, ...] = (Logistic(C=100.0), Hinge(C=100.0))
    for loss in losses:
        for form, problem, newtons in _forms(Problem(bank, data.y, loss, Simplex()), max_seconds):
            for method in METHODS:
                posed = newtons if method == "newton" else problem
                if not make_solver(method).refusal(posed):
                    yield _row(kind, form, method, posed, max_seconds)


def _forms(simplex: Problem, max_seconds: float) -> Iterator[tuple[str, Problem, Problem]]:
    """Yield the problem on the simplex and, with the same solution, the block 1-norm; each also as Newton's."""
    yield "simplex", simplex, simplex
    best = solve(simplex, "spicymkl", gap=1e-5, max_seconds=4.0 * max_seconds).best
    same = {equal.problem.regularizer.name_: equal.problem for equal in equivalents(simplex, best.weights, best.dual)}
    yield "block 1", same[BlockL1.name_], same[L1Penalty.name_]


def _row(kind: str, form: str, method: str, problem: Problem, max_seconds: float) -> Row:
    solve(problem, method, gap=None, max_iter=1)  # compiled code is loaded outside the clock
    run = solve(problem, method, gap=GAP, max_iter=None, max_seconds=max_seconds)
    return Row(
        bank=kind,
        kernels=problem.m,
        loss=problem.loss.name_,
        form=form,
        method=method,
        cpu_s=run.last_seconds,
        gap=run.gap[-1],
        active=run.best.active,
        solves=run.final.svm_solves,
        status=run.status,
    )


def exponents(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield the exponents of everything measured at three sizes or more."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        if row["status"] == "converged":
            groups.setdefault(tuple(row[name] for name in KEY), []).append(row)
    for key, runs in groups.items():
        if len(runs) >= 3:
            line = np.polyfit(*(np.log([run[name] for run in runs]) for name in ("kernels", "cpu_s")), 1)
            yield Row(zip(KEY, key, strict=True), exponent=float(line[0]), sizes=len(runs))
