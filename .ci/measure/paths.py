"""What warm starts save along SimpleMKL's path: 100 values of C, evenly on a log scale from 1000 down to 0.01.

``python -m mklviz.bench.paths [--quick] [--data NAMES] [--solvers NAMES] [--count N] [--limit SECONDS]`` prints, for
each data set and solver, SVM solves (Newton steps for SpicyMKL, which solves none) and CPU seconds of the whole path,
cold and warm, and their ratios. Half of the samples, the papers' bank, hinge loss on the simplex, certified gap 1e-2 at
every value. Warm and cold paths of one solver run one after the other in one process, so their seconds can be compared.
`--limit` ends a single value after that many CPU seconds; the last column counts the values that missed the gap.

Reference: Rakotomamonjy, Bach, Canu, Grandvalet, More efficiency in multiple kernel learning, ICML 2007, section 4.1
and table 2, for the data sets, the number of values and their order.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mklviz.datasets import load_dataset
from mklviz.engine import Path, path, path_values, solve
from mklviz.kernels import paper_bank
from mklviz.problem import Hinge, Problem

__all__ = ["DATASETS", "SOLVERS", "Row", "main", "measure"]

DATASETS = ("liver", "pima", "german", "ionosphere", "sonar")
SOLVERS = ("level", "newton", "spg", "closed-form", "spicymkl", "silp", "simplemkl")
QUICK = ("liver", "ionosphere"), ("level", "newton", "spg", "closed-form", "spicymkl", "silp")
GAP = 1e-2


@dataclass(frozen=True)
class Row:
    """One solver along one path.

    Attributes
    ----------
    n, m : int
        Samples and kernels.
    solves, seconds : (cold, warm)
        Of the whole path.
    unfinished : (cold, warm)
        Values at which the gap was not reached.
    """

    dataset: str
    n: int
    m: int
    solver: str
    solves: tuple[int, int]
    seconds: tuple[float, float]
    unfinished: tuple[int, int]


def measure(
    datasets: Sequence[str] = DATASETS,
    solvers: Sequence[str] = SOLVERS,
    count: int = 100,
    limit: float | None = 60.0,
) -> Iterator[Row]:
    """Yield a row for each data set and solver."""
    for name in datasets:
        train, _ = load_dataset(name).split(train=0.5, seed=0)
        problem = Problem(paper_bank(train.X), train.y, loss=Hinge())
        values = path_values(problem, "C", count)
        for solver in solvers:
            solve(problem, solver, gap=None, max_iter=1)  # compiled code is loaded outside the clock
            found = [
                path(problem, solver, warm=warm, gap=GAP, max_iter=2000, max_seconds=limit, C=values)
                for warm in (False, True)
            ]
            yield _row(name, problem, solver, *found)


def _row(name: str, problem: Problem, solver: str, cold: Path, warm: Path) -> Row:
    return Row(
        dataset=name,
        n=problem.n,
        m=problem.m,
        solver=solver,
        solves=(int(cold.svm_solves.sum()), int(warm.svm_solves.sum())),
        seconds=(float(cold.seconds.sum()), float(warm.seconds.sum())),
        unfinished=(_unfinished(cold), _unfinished(warm)),
    )


def _unfinished(found: Path) -> int:
    return sum(trace.status != "converged" for _, trace in found)


def main(words: Sequence[str] | None = None) -> None:
    """Print the rows as they come."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two data sets, without SimpleMKL")
    parser.add_argument("--data", help="names separated by commas")
    parser.add_argument("--solvers", help="names separated by commas")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--limit", type=float, default=60.0)
    given = parser.parse_args(words)
    datasets, solvers = QUICK if given.quick else (DATASETS, SOLVERS)
    datasets = tuple(given.data.split(",")) if given.data else datasets
    solvers = tuple(given.solvers.split(",")) if given.solvers else solvers
    print(f"{'data set':<11} {'n':>4} {'m':>4} {'solver':<12} {'cold':>7} {'warm':>7}  ratio", end="")
    print(f" {'cold s':>8} {'warm s':>8}  ratio  unfinished")
    for row in measure(datasets, solvers, given.count, given.limit):
        print(
            f"{row.dataset:<11} {row.n:>4} {row.m:>4} {row.solver:<12} {row.solves[0]:>7,} {row.solves[1]:>7,}"
            f" {row.solves[0] / max(row.solves[1], 1):>6.2f} {row.seconds[0]:>8.2f} {row.seconds[1]:>8.2f}"
            f" {row.seconds[0] / max(row.seconds[1], 1e-9):>6.2f}  {row.unfinished[0]}, {row.unfinished[1]}",
            flush=True,
        )


if __name__ == "__main__":
    main()
