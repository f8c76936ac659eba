"""Which solver for which problem: the measurements behind `mklviz.engine.kinds`.

``python .ci/measure which [kind ...] [--rounds N] [--splits N] [--gap 1e-2] [--json FILE]`` solves problems of every
kind, on several splits of each data set, with every solver that can follow, the recommended one first, in turn in one
process with BLAS on one thread. It prints CPU seconds as multiples of the recommended solver's, medians over the
rounds, and at the end the range of each solver over all problems of a kind. A solver that has not reached the gap after
`PATIENCE` times the seconds of the recommended one is stopped; its times are then a lower bound. Stochastic solvers are
left out: they have no warm SVMs to be compared by, and want passes instead of a gap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from statistics import median

from measure.report import Row, parser, print_rows, write_json
from mklviz.datasets import load_dataset
from mklviz.engine import available_solvers, recommend, solve, solver_classes
from mklviz.kernels import Gaussian, KernelBank, NystromBank, ProductBank, paper_bank
from mklviz.problem import (
    BlockL1,
    ElasticNet,
    EpsilonInsensitive,
    Hinge,
    L1Penalty,
    Logistic,
    Loss,
    LpBall,
    LpPenalty,
    MulticlassHinge,
    OneAgainstAllHinge,
    Problem,
    Regularizer,
    Simplex,
    Squared,
)
from mklviz.record import Trace

__all__ = ["CASES", "main", "measure", "ranges"]

PATIENCE = 8.0
LEAST_SECONDS = 0.3  # allowed to every solver
ROUNDING_OUT = 3000  # steps, which nobody but a stalled solver takes


Pose = Callable[[int], Problem]  # given the seed of the split


def _table(name: str, loss: Loss, regularizer: Regularizer) -> Pose:
    """Return what poses a problem on half a table, with the papers' bank and standardized targets."""

    def pose(seed: int) -> Problem:
        data = load_dataset(name).split(train=0.5, seed=seed)[0]
        y = (data.y - data.y.mean()) / data.y.std() if data.task == "regression" else data.y
        return Problem(paper_bank(data.X), y, loss, regularizer)

    return pose


def _on_the_fly(seed: int, regularizer: Regularizer) -> Problem:
    """Return 20,000 kernels of which none is kept."""
    data = load_dataset("sonar").split(train=0.5, seed=seed)[0]
    bank = KernelBank.build(data.X, [Gaussian(on="random:2000")], max_bytes=2**24)
    return Problem(bank, data.y, Hinge(C=100.0), regularizer)


def _landmarks(seed: int, regularizer: Regularizer) -> Problem:
    """Return kernels on 5,000 points by 100 landmarks."""
    data = load_dataset("letter").split(train=0.25, seed=seed)[0]
    bank = NystromBank.build(data.X, [Gaussian(widths=(1.0, 4.0), on="all+each")], 100)
    return Problem(bank, data.y, Hinge(C=1.0), regularizer)


def _product(seed: int) -> Problem:
    data = load_dataset("sonar").split(train=0.5, seed=seed)[0]
    return Problem(ProductBank.build(data.X), data.y, Hinge(C=10.0), L1Penalty(sigma=1.0))


TABLES = ("australian", "heart", "ionosphere", "liver", "pima", "sonar", "vote", "wdbc", "wpbc")  # of two classes

CASES: dict[str, dict[str, Pose]] = {
    "svm-sparse": {
        **{f"{name}, simplex": _table(name, Hinge(C=100.0), Simplex()) for name in TABLES},
        "heart, linear penalty": _table("heart", Hinge(C=100.0), L1Penalty(sigma=1.0)),
        "sonar, block 1-norm": _table("sonar", Hinge(C=100.0), BlockL1(lam=1.0)),
        "20,000 kernels, simplex": lambda seed: _on_the_fly(seed, Simplex()),
    },
    "simplex": {
        "heart, logistic": _table("heart", Logistic(C=10.0), Simplex()),
        "diabetes, squared": _table("diabetes", Squared(C=10.0), Simplex()),
        "diabetes, epsilon-insensitive": _table("diabetes", EpsilonInsensitive(C=10.0), Simplex()),
        "wine, multiclass": _table("wine", MulticlassHinge(C=10.0), Simplex()),
        "iris, one against all": _table("iris", OneAgainstAllHinge(C=10.0), Simplex()),
        "heart, no bias": _table("heart", Hinge(C=100.0, bias=False), Simplex()),
        "5,000 points, landmarks": lambda seed: _landmarks(seed, Simplex()),
    },
    "priced-smooth": {
        **{f"{name}, logistic": _table(name, Logistic(C=10.0), BlockL1(lam=1.0)) for name in TABLES},
        "heart, logistic, linear penalty": _table("heart", Logistic(C=10.0), L1Penalty(sigma=1.0)),
        "diabetes, squared": _table("diabetes", Squared(C=10.0), BlockL1(lam=1.0)),
    },
    "priced": {
        "diabetes, epsilon-insensitive": _table("diabetes", EpsilonInsensitive(C=10.0), L1Penalty(sigma=1.0)),
        "wine, multiclass": _table("wine", MulticlassHinge(C=10.0), BlockL1(lam=1.0)),
        "heart, elastic net": _table("heart", Hinge(C=10.0), ElasticNet(l1=1.0, l2=0.1)),
        "5,000 points, landmarks": lambda seed: _landmarks(seed, L1Penalty(sigma=1.0)),
    },
    "dense": {
        "heart, p = 4/3": _table("heart", Hinge(C=100.0), LpBall(p=4 / 3)),
        "sonar, p = 2": _table("sonar", Hinge(C=100.0), LpBall(p=2.0)),
        "pima, squared norm": _table("pima", Hinge(C=100.0), LpPenalty(p=4 / 3, sigma=1.0)),
        "heart, logistic": _table("heart", Logistic(C=10.0), LpPenalty(p=2.0, sigma=1.0)),
        "wine, multiclass": _table("wine", MulticlassHinge(C=10.0), LpBall(p=1.5)),
        "20,000 kernels, p = 4/3": lambda seed: _on_the_fly(seed, LpBall(p=4 / 3)),
        "5,000 points, landmarks": lambda seed: _landmarks(seed, LpBall(p=4 / 3)),
    },
    "product": {"sonar": _product},
}


def measure(kinds: Sequence[str], gap: float = 1e-2, rounds: int = 3, splits: int = 1) -> Iterator[Row]:
    """Yield the rows of every problem of these kinds on so many splits, the recommended solver first."""
    for kind in kinds:
        for label, pose in CASES[kind].items():
            for seed in range(splits):
                yield from _compare(kind, f"{label}, split {seed}" if splits > 1 else label, pose(seed), gap, rounds)


def ranges(rows: Iterable[Row]) -> Iterator[str]:
    """Yield a line for each kind: what every solver took at least and at most, as multiples of the recommended one."""
    rows_by_solver: dict[str, dict[str, list[Row]]] = {}
    for row in rows:
        rows_by_solver.setdefault(row["kind"], {}).setdefault(row["solver"], []).append(row)
    for kind, solvers in rows_by_solver.items():
        summary = ", ".join(f"{solver} {_range(some)}" for solver, some in solvers.items())
        yield f"{kind}: {summary}"


def _range(rows: Sequence[Row]) -> str:
    times = [row["times"] for row in rows]
    return f"{min(times):.2g}-{max(times):.2g}{'' if all(row['reached'] for row in rows) else ' and more'}"


def _compare(kind: str, label: str, problem: Problem, gap: float, rounds: int) -> Iterator[Row]:
    best = recommend(problem)
    known = solver_classes()
    sure = [name for name in available_solvers(problem) if known[name].converges and not known[name].stochastic]
    rivals = [name for name in sure if name != best]
    for name in (best, *rivals):
        solve(problem, name, gap=None, max_iter=1, projected_gradient=None)  # compiled code is loaded outside the clock
    reference = _run(problem, best, gap, None)
    allowed = max(LEAST_SECONDS, PATIENCE * reference.last_seconds)
    runs: dict[str, list[Trace]] = {name: [] for name in (best, *rivals)}
    for _ in range(rounds):
        for name, traces in runs.items():
            if not traces or traces[-1].status == "converged":  # one failure is enough
                traces.append(_run(problem, name, gap, None if name == best else allowed))
    unit = median(run.last_seconds for run in runs[best])
    for name, traces in runs.items():
        seconds = median(run.last_seconds for run in traces)
        last = traces[-1]
        yield Row(
            kind=kind,
            problem=label,
            solver=name,
            times=seconds / unit,
            cpu_s=seconds,
            solves=last.final.svm_solves,
            reached=last.status == "converged",
        )


def _run(problem: Problem, name: str, gap: float, seconds: float | None) -> Trace:
    # a product, which has no gap, stops at a projected gradient of a tenth of it
    return solve(problem, name, gap, ROUNDING_OUT, seconds, projected_gradient=0.1 * gap)


def main(arguments: Sequence[str]) -> None:
    """Measure and print the kinds asked for."""
    known = parser("which", __doc__)
    known.add_argument("kinds", nargs="*", metavar="kind", help=f"any of {', '.join(CASES)}; all by default")
    known.add_argument("--rounds", type=int, default=3, help="runs of every solver (default: 3)")
    known.add_argument("--splits", type=int, default=1, help="splits of every data set (default: 1)")
    known.add_argument("--gap", type=float, default=1e-2, help="gap to stop at (default: 0.01)")
    known.add_argument("--json", type=Path, metavar="FILE", help="write the table there as well")
    chosen = known.parse_args(arguments)
    unknown = [kind for kind in chosen.kinds if kind not in CASES]
    if unknown:
        known.error(f"there is no kind {unknown[0]!r}; there are {', '.join(CASES)}")
    rows = print_rows(measure(chosen.kinds or list(CASES), chosen.gap, chosen.rounds, chosen.splits))
    print("", *ranges(rows), sep="\n")
    if chosen.json is not None:
        write_json(chosen.json, {"which": rows})
