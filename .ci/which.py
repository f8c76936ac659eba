"""Which solver for which problem: the measurements that `mklviz.engine.kinds` is fitted to.

``python .ci/which.py [kind ...] [--rounds N] [--gap 1e-2] [--json FILE]`` solves problems of every kind, over
points, kernels, C, scaling and regularizer, with every solver that can follow, the recommended one first, in turn in
one process with BLAS on one thread. It prints CPU seconds, the least over the rounds, and at the end the range of each
solver over all problems of a kind as multiples of the recommended one's, and how much longer than the fastest solver
that one takes. A solver that has not reached the gap after `PATIENCE` times the seconds of the fastest so far is
stopped; its times are then a lower bound. Stochastic solvers are left out: they have no warm SVMs to be compared by,
and want passes instead of a gap. With ``--json .ci/docs/which_solver.json`` the rows stand in the documentation.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mklviz.datasets import load_dataset
from mklviz.engine import available_solvers, kind_of, recommend, solve, solver_classes
from mklviz.kernels import KernelBank, NystromBank, ProductBank, paper_bank
from mklviz.problem import Hinge, L1Penalty, Problem, Regularizer, Simplex
from mklviz.recipe.words import read_kernels, read_loss, read_regularizer
from mklviz.record import Trace

PATIENCE = 3.0
LEAST_SECONDS = 0.3  # allowed to every solver
CLOSE = 2.0  # times the fastest, up to which a solver runs again
NEVER_FIRST = ("ogaprox", "pairwise", "pgd", "simplemkl", "smkl", "smo-mkl")  # in earlier tables, with every solver
ROUNDING_OUT = 3000  # steps, which only a stalled solver takes

Pose = Callable[[int], Problem]  # given the seed of the split
Row = dict[str, Any]  # of one solver on one problem


def _table(words: str) -> Pose:
    """Return what poses a problem on half a table, with the papers' bank: "heart logistic:C=10 simplex"."""
    name, loss, regularizer = words.split()

    def pose(seed: int) -> Problem:
        data = load_dataset(name).split(train=0.5, seed=seed)[0]
        y = (data.y - data.y.mean()) / data.y.std() if data.task == "regression" else data.y
        return Problem(paper_bank(data.X), y, read_loss(loss), read_regularizer(regularizer))

    return pose


def _on_the_fly(seed: int, regularizer: Regularizer) -> Problem:
    """Return 20,000 kernels of which none is kept."""
    data = load_dataset("sonar").split(train=0.5, seed=seed)[0]
    bank = KernelBank.build(data.X, read_kernels("gauss@random:2000"), max_bytes=2**24)
    return Problem(bank, data.y, Hinge(C=100.0), regularizer)


def _landmarks(seed: int, regularizer: Regularizer) -> Problem:
    """Return kernels on 5,000 points by 100 landmarks."""
    data = load_dataset("letter").split(train=0.25, seed=seed)[0]
    bank = NystromBank.build(data.X, read_kernels("gauss:1,4@all+each"), 100)
    return Problem(bank, data.y, Hinge(C=1.0), regularizer)


def _product(seed: int) -> Problem:
    data = load_dataset("sonar").split(train=0.5, seed=seed)[0]
    return Problem(ProductBank.build(data.X), data.y, Hinge(C=10.0), L1Penalty())


TABLES = ("australian", "heart", "ionosphere", "liver", "pima", "sonar", "vote", "wdbc", "wpbc")  # of two classes

KERNELS = {
    "the papers'": "paper",
    "5 widths": "gauss:0.5,1,2,4,8",
    "10 widths, 3 degrees": "gauss poly:1...3",
    "1 width each": "gauss:1@each",
    "3 widths each": "gauss:0.5,2,8@each",
}
SVMS = (
    *((name, n, "the papers'") for name, n in (("sonar", 104), ("ionosphere", 175), ("vote", 217), ("heart", 270))),
    *((name, n, "the papers'") for name, n in (("australian", 345), ("pima", 384), ("pima", 700), ("german", 700))),
    *(("pima", 700, "5 widths"), ("letter", 1000, "10 widths, 3 degrees"), ("letter", 1600, "3 widths each")),
    *(("adult", 800, "3 widths each"), ("adult", 1600, "1 width each")),
    *((f"noise:{m}", n, "1 width each") for m, n in ((30, 300), (100, 1000), (400, 1000))),
)
SCALES = (*(("diagonal", C) for C in (1.0, 10.0, 100.0)), *(("trace", C) for C in (30.0, 100.0, 10_000.0)))


def _svm(name: str, n: int, kernels: str, normalize: str, C: float) -> Pose:
    """Return what poses an SVM on n points of a table, or of noise in so many features of which four tell classes."""

    def pose(seed: int) -> Problem:
        rng = np.random.default_rng(seed)
        if name.startswith("noise:"):
            X = rng.normal(size=(n, int(name.removeprefix("noise:"))))
            y = np.where(X[:, 0] + 0.7 * X[:, 1] * X[:, 2] + 0.5 * X[:, 3] > 0.0, 1.0, -1.0)
        else:
            data = load_dataset(name)
            chosen = rng.permutation(len(data.y))[:n]
            X, y = data.X[chosen] - data.X.mean(axis=0), data.y[chosen]
            X /= np.where(data.X.std(axis=0) > 0.0, data.X.std(axis=0), 1.0)
        return Problem(KernelBank.build(X, read_kernels(KERNELS[kernels]), normalize), y, Hinge(C), Simplex())

    return pose


CASES: dict[str, dict[str, Pose]] = {
    "svm": {
        f"{name}, {kernels}, {n} points, {scale} {C:g}": _svm(name, n, kernels, scale, C)
        for name, n, kernels in SVMS
        for scale, C in SCALES
    },
    "simplex": {
        "diabetes, epsilon-insensitive": _table("diabetes epsilon-insensitive:C=10 simplex"),
        "wine, multiclass": _table("wine multiclass-hinge:C=10 simplex"),
        "iris, one against all": _table("iris one-against-all:C=10 simplex"),
        "vehicle, multiclass": _table("vehicle multiclass-hinge:C=1 simplex"),
        "vehicle, one against all": _table("vehicle one-against-all:C=10 simplex"),
        "segment, one against all": _table("segment one-against-all:C=1 simplex"),
        "heart, no bias": _table("heart hinge:bias=no simplex"),
        "5,000 points, landmarks": lambda seed: _landmarks(seed, Simplex()),
    },
    "smooth": {
        **{f"{name}, logistic": _table(f"{name} logistic:C=10 block-l1") for name in TABLES},
        "heart, logistic, simplex": _table("heart logistic:C=10 simplex"),
        "diabetes, squared, simplex": _table("diabetes squared:C=10 simplex"),
        "heart, logistic, linear penalty": _table("heart logistic:C=10 l1-penalty"),
        "diabetes, squared": _table("diabetes squared:C=10 block-l1"),
    },
    "priced": {
        "diabetes, epsilon-insensitive": _table("diabetes epsilon-insensitive:C=10 l1-penalty"),
        "wine, multiclass": _table("wine multiclass-hinge:C=10 block-l1"),
        "heart, elastic net": _table("heart hinge:C=10 elastic-net:l2=0.1"),
        "5,000 points, landmarks": lambda seed: _landmarks(seed, L1Penalty()),
    },
    "dense": {
        "heart, p = 4/3": _table("heart hinge lp-ball:p=4/3"),
        "sonar, p = 2": _table("sonar hinge lp-ball:p=2"),
        "pima, squared norm": _table("pima hinge lp-penalty:p=4/3"),
        "heart, logistic": _table("heart logistic:C=10 lp-penalty:p=2"),
        "wine, multiclass": _table("wine multiclass-hinge:C=10 lp-ball:p=1.5"),
        "20,000 kernels, p = 4/3": lambda seed: _on_the_fly(seed, read_regularizer("lp-ball:p=4/3")),
        "5,000 points, landmarks": lambda seed: _landmarks(seed, read_regularizer("lp-ball:p=4/3")),
    },
    "svm-priced": {
        "heart, linear penalty": _table("heart hinge l1-penalty"),
        "sonar, block 1-norm": _table("sonar hinge block-l1"),
    },
    "product": {"sonar": _product},
}


def measure(kinds: Sequence[str], gap: float = 1e-2, rounds: int = 3, splits: int = 1) -> Iterator[Row]:
    """Yield the rows of every problem of these kinds on so many splits, the recommended solver first."""
    for kind in kinds:
        for label, pose in CASES[kind].items():
            for seed in range(splits):
                yield from _compare(kind, f"{label}, split {seed}" if splits > 1 else label, pose(seed), gap, rounds)


def behind(rows: Iterable[Row]) -> str:
    """Return in a sentence how much longer than the fastest solver the recommended one takes, over all problems."""
    table = pd.DataFrame(rows)
    ratios = 1.0 / table[table["reached"]].groupby(["problem", "kind"], sort=False)["times"].min()
    middle, most = ratios.quantile([0.5, 0.9])
    return (
        f"On {len(ratios)} problems the solver recommended took {middle:.2f} times as long as the fastest in the"
        f" median, {most:.2f} times at most in nine of ten, and {ratios.max():.2f} times at most"
        f" ({', '.join(ratios.idxmax())})."
    )


def ranges(rows: Iterable[Row]) -> Iterator[str]:
    """Yield a line for each kind: what every solver took at least and at most, as multiples of the recommended one."""
    for kind, solvers in pd.DataFrame(rows).groupby("kind", sort=False):
        yield f"{kind}: {', '.join(f'{name} {_range(some)}' for name, some in solvers.groupby('solver', sort=False))}"


def _range(rows: pd.DataFrame) -> str:
    times = rows["times"]
    return f"{times.min():.2g}-{times.max():.2g}{'' if rows['reached'].all() else ' and more'}"


def _compare(kind: str, label: str, problem: Problem, gap: float, rounds: int) -> Iterator[Row]:
    taken, known = recommend(problem), solver_classes()
    sure = [name for name in available_solvers(problem) if known[name].converges and not known[name].stochastic]
    slow = {taken, *NEVER_FIRST, *(("spicymkl",) if kind == "svm" else ())}
    names = [taken, *(name for name in sure if name not in slow)]
    for name in names:
        solve(problem, name, gap=None, max_iter=1, projected_gradient=None)  # compiled code is loaded outside the clock
    runs = {taken: _run(problem, taken, gap, None)}
    for name in (*names[1:], *(rounds - 1) * names):
        best = min(run.last_seconds for run in runs.values() if run.status == "converged" or run is runs[taken])
        if name not in runs or (runs[name].status == "converged" and runs[name].last_seconds <= CLOSE * best):
            allowed = max(LEAST_SECONDS, PATIENCE * best)
            again = _run(problem, name, gap, None if name == taken else allowed)
            runs[name] = min(again, runs.get(name, again), key=lambda run: run.last_seconds)
    unit = runs[taken].last_seconds
    for name, run in runs.items():
        yield Row(
            kind=fitting.name if (fitting := kind_of(problem)) else kind,
            problem=label,
            n=problem.n,
            m=problem.m,
            solver=name,
            times=run.last_seconds / unit,
            cpu_s=run.last_seconds,
            solves=run.final.svm_solves,
            reached=run.status in {"converged", "rule"},  # the latter where there is no gap
        )


def _run(problem: Problem, name: str, gap: float, seconds: float | None) -> Trace:
    # a product, which has no gap, stops at a projected gradient of a tenth of it
    return solve(problem, name, gap, ROUNDING_OUT, seconds, projected_gradient=0.1 * gap)


def main() -> None:
    """Measure and print the kinds asked for."""
    known = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known.add_argument("kinds", nargs="*", metavar="kind", help=f"any of {', '.join(CASES)}; all by default")
    known.add_argument("--rounds", type=int, default=3, help="runs of every solver (default: 3)")
    known.add_argument("--splits", type=int, default=1, help="splits of every data set (default: 1)")
    known.add_argument("--gap", type=float, default=1e-2, help="gap to stop at (default: 0.01)")
    known.add_argument("--json", type=Path, metavar="FILE", help="write the rows there as well")
    chosen = known.parse_args()
    unknown = [kind for kind in chosen.kinds if kind not in CASES]
    if unknown:
        known.error(f"there is no kind {unknown[0]!r}; there are {', '.join(CASES)}")
    rows = []
    for row in measure(chosen.kinds or list(CASES), chosen.gap, chosen.rounds, chosen.splits):
        print(*(f"{value:.3g}" if isinstance(value, float) else value for value in row.values()), sep="\t", flush=True)
        rows.append(row)
    print("", *ranges(rows), behind(rows), sep="\n")
    if chosen.json is not None:
        lines = ",\n".join(json.dumps(row, allow_nan=False) for row in rows)
        chosen.json.write_text(f'{{\n"rows": [\n{lines}\n]\n}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
