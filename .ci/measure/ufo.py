"""UFO-MKL beside SILP as in section 5.1 of its paper: 70 % of the samples, 13 kernels per feature and on all, C = 100.

    lambda = 1 / (C N),  alpha for the mean loss;  10 epochs for Liver and Ionosphere, 20 for Sonar

Times C N, that is our squared group norm with lam = 1 and alpha C N. SILP solves the simplex at the same C, which is
the paper's equation 1, to a gap of 1e-2. Kernels have unit diagonal, as the theorem asks; the paper follows SimpleMKL,
whose program has the widths below.

A row is one method on one data set; medians over the splits, means of accuracy and kernels. `epochs` are the paper's,
or SILP's steps; `cpu_s`, `accuracy`, `kernels` and `gap` are those after them. `gap_s` is the CPU time to a gap of
1e-2, each of its own objective, `good_s` that to the first epoch after which the test accuracy is no lower than SILP's
at its end, both infinite where that is not reached. `ratio`, `gap_ratio` and `good_ratio` are SILP's CPU time over each
of the three.

Reference: Orabona, Luo, Ultra-fast optimization algorithm for sparse multi kernel learning, ICML 2011, table 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median

import numpy as np

from measure.report import Row
from mklviz.datasets import load_dataset
from mklviz.engine import solve
from mklviz.kernels import CrossBank, Gaussian, KernelBank, Polynomial
from mklviz.problem import GroupSquaredPlusL1, Hinge, Logistic, Loss, Problem, Simplex
from mklviz.record import Trace

__all__ = ["measure_ufo"]

EPOCHS: Mapping[str, int] = {"liver": 10, "ionosphere": 10, "sonar": 20}
FAMILIES = (Gaussian(widths=(0.5, 1, 2, 5, 7, 10, 12, 15, 17, 20), on="all+each"), Polynomial(on="all+each"))
ALPHAS = (1e-3, 2.5e-3, 5e-3)
C = 100.0
GAP = 1e-2


def measure_ufo(datasets: Sequence[str] = tuple(EPOCHS), splits: int = 5, max_seconds: float = 10.0) -> Iterator[Row]:
    """Yield SILP's row and those of UFO-MKL of one data set after the other.

    UFO-MKL may take `max_seconds` to its gap, SILP three times as long.
    """
    for name in datasets:
        cases = [_Case(name, seed) for seed in range(splits)]
        silp = [case.silp(3.0 * max_seconds) for case in cases]
        yield _row(name, "SILP", float("nan"), silp, silp)
        losses: tuple[Loss, ...] = (Hinge(C, bias=False), Logistic(C, bias=False))
        for loss in losses:
            for alpha in ALPHAS:
                ours = [
                    case.ufo(loss, alpha, EPOCHS[name], max_seconds, least.accuracy)
                    for case, least in zip(cases, silp, strict=True)
                ]
                yield _row(name, f"UFO, {loss.name_}", alpha, ours, silp)


@dataclass(frozen=True)
class _Result:
    epochs: int
    seconds: float
    accuracy: float
    kernels: int
    gap: float
    to_gap: float
    as_good: float


class _Case:
    """One split of one data set."""

    def __init__(self, name: str, seed: int) -> None:
        self.train, self.test = load_dataset(name).split(train=0.7, seed=seed)
        self.bank = KernelBank.build(self.train.X, FAMILIES, normalize="diagonal")
        self.cross: CrossBank = self.bank.cross(self.test.X)

    def silp(self, max_seconds: float) -> _Result:
        problem = Problem(self.bank, self.train.y, Hinge(C), Simplex())
        solve(problem, "silp", gap=None, max_iter=1)  # compiled code is loaded outside the clock
        run = solve(problem, "silp", gap=GAP, max_iter=None, max_seconds=max_seconds)
        end = len(run) - 1
        reached = run.last_seconds if run.status == "converged" else float("nan")
        kernels, accuracy = run.best.active, self._accuracy(problem, run, end)
        return _Result(end, run.last_seconds, accuracy, kernels, run.gap[-1], reached, run.last_seconds)

    def ufo(self, loss: Loss, alpha: float, epochs: int, max_seconds: float, good: float) -> _Result:
        n = len(self.train.y)
        problem = Problem(self.bank, self.train.y, loss, GroupSquaredPlusL1(1.0, alpha * n * C))
        solve(problem, "ufo", gap=None, max_iter=1)
        run = solve(problem, "ufo", gap=None, max_iter=epochs)
        longer = solve(problem, "ufo", gap=GAP, max_iter=None, max_seconds=max_seconds)
        as_good = next((t for t in range(1, epochs + 1) if self._accuracy(problem, run, t) >= good), None)
        return _Result(
            epochs=epochs,
            seconds=run.last_seconds,
            accuracy=self._accuracy(problem, run, epochs),
            kernels=int((run.best.weights > 0.0).sum()),
            gap=run.gap[-1],
            to_gap=longer.last_seconds if longer.status == "converged" else float("nan"),
            as_good=float("nan") if as_good is None else float(run.seconds[as_good]),
        )

    def _accuracy(self, problem: Problem, run: Trace, step: int) -> float:
        """Return the percentage of test samples on the right side of what the run had found by that step."""
        best = run[run.best_index_at(step)]
        values = problem.decision_values(best.weights, best.dual, self.cross)
        return 100.0 * float(np.mean(problem.loss.classes(values) == self.test.y))


def _row(name: str, method: str, alpha: float, results: Sequence[_Result], silp: Sequence[_Result]) -> Row:
    def over(values: Sequence[float]) -> float:
        return median(other.seconds for other in silp) / median(values)

    seconds = [result.seconds for result in results]
    # a split on which something is not reached takes for ever
    to_gap, as_good = (
        [np.inf if np.isnan(value) else value for value in values]
        for values in ([result.to_gap for result in results], [result.as_good for result in results])
    )
    return Row(
        data=name,
        method=method,
        alpha=alpha,
        epochs=int(median(result.epochs for result in results)),
        cpu_s=median(seconds),
        ratio=over(seconds),
        accuracy=mean(result.accuracy for result in results),
        kernels=mean(result.kernels for result in results),
        gap=median(result.gap for result in results),
        gap_s=median(to_gap),
        gap_ratio=over(to_gap),
        good_s=median(as_good),
        good_ratio=over(as_good),
    )
