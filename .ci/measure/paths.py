"""What warm starts save along SimpleMKL's path: 100 values of C, evenly on a log scale from 1000 down to 0.01.

``python .ci/measure paths [--quick] [--data NAMES] [--solvers NAMES] [--count N] [--limit SECONDS]`` prints, for
each data set and solver, SVM solves (Newton steps for SpicyMKL, which solves none) and CPU seconds of the whole path,
cold and warm, and their ratios. Half of the samples, the papers' bank, hinge loss on the simplex, certified gap 1e-2 at
every value. Warm and cold paths of one solver run one after the other in one process, so their seconds can be compared.
`--limit` ends a single value after that many CPU seconds; the last columns count the values that missed the gap.

Reference: Rakotomamonjy, Bach, Canu, Grandvalet, More efficiency in multiple kernel learning, ICML 2007, section 4.1
and table 2, for the data sets, the number of values and their order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from measure.report import Row, parser, print_rows
from mklviz.datasets import load_dataset
from mklviz.engine import Path, path, path_values, solve
from mklviz.kernels import paper_bank
from mklviz.problem import Hinge, Problem

__all__ = ["DATASETS", "SOLVERS", "main", "measure"]

DATASETS = ("liver", "pima", "german", "ionosphere", "sonar")
SOLVERS = ("level", "newton", "spg", "closed-form", "spicymkl", "silp", "simplemkl")
QUICK = ("liver", "ionosphere"), ("level", "newton", "spg", "closed-form", "spicymkl", "silp")
GAP = 1e-2


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
            paths = [
                path(problem, solver, warm=warm, gap=GAP, max_iter=2000, max_seconds=limit, C=values)
                for warm in (False, True)
            ]
            yield _row(name, problem, solver, *paths)


def _row(name: str, problem: Problem, solver: str, cold: Path, warm: Path) -> Row:
    solves = [int(one.svm_solves.sum()) for one in (cold, warm)]
    seconds = [float(one.seconds.sum()) for one in (cold, warm)]
    return Row(
        data=name,
        n=problem.n,
        m=problem.m,
        solver=solver,
        cold=solves[0],
        warm=solves[1],
        ratio=solves[0] / max(solves[1], 1),
        cold_s=seconds[0],
        warm_s=seconds[1],
        ratio_s=seconds[0] / max(seconds[1], 1e-9),
        cold_unfinished=_unfinished(cold),
        warm_unfinished=_unfinished(warm),
    )


def _unfinished(path: Path) -> int:
    return sum(trace.status != "converged" for _, trace in path)


def main(arguments: Sequence[str]) -> None:
    """Measure and print."""
    known = parser("paths", __doc__)
    known.add_argument("--quick", action="store_true", help="two data sets, without SimpleMKL")
    known.add_argument("--data", help="names separated by commas")
    known.add_argument("--solvers", help="names separated by commas")
    known.add_argument("--count", type=int, default=100)
    known.add_argument("--limit", type=float, default=60.0)
    chosen = known.parse_args(arguments)
    datasets, solvers = QUICK if chosen.quick else (DATASETS, SOLVERS)
    datasets = tuple(chosen.data.split(",")) if chosen.data else datasets
    solvers = tuple(chosen.solvers.split(",")) if chosen.solvers else solvers
    print_rows(measure(datasets, solvers, chosen.count, chosen.limit))
