"""Random small problems, every solver that takes them, and whether what it says can be true.

    max over solvers and steps of D  <=  min over solvers and steps of P        up to rounding

    python tests/solver_fuzz.py [--cases 300] [--first 0] [--seconds 5] [--solver NAME ...]

A case is a seed: `make_case` poses the same problem for it every time. C is from 1e-4 to 1e5, kernels are scaled by
1e-8 to 1e8, p is from 1.01 to 20, the other prices are a thousandth to a thousand times what is natural in those units;
sums and products of kernels, every loss and every regularizer come in turn. What can go wrong has a name:

    error        the solver broke down
    not finite   a weight, dual variable or objective that is no number
    infeasible   weights outside the regularizer's set, or dual variables outside theirs
    bounds       a lower bound above the least objective that any solver found, or an objective below the best bound
    verdict      "converged", although the gap is larger than was asked for, or clearly negative
    late         more than 0.3 seconds over the time limit, twice in a row
    unfinished   not solved to the gap asked for, though another solver was
"""

import argparse
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

import mklviz as mv
from mklviz.context.blas import one_blas_thread
from mklviz.contract import Array
from mklviz.engine import available_solvers, make_solver, solve
from mklviz.errors import MklvizError
from mklviz.kernels import Gaussian, KernelBank, Polynomial, ProductBank
from mklviz.problem import Loss, Regularizer
from mklviz.problem.rounding import rounding_bound
from mklviz.record import Trace

GAP = 1e-2
GRACE = 0.3  # seconds over the time limit that a kernel in its midst may take
ROUNDING = 1e-9  # of the objective: certified bounds may cross by that, besides what cancelling scores lose
SIMPLEX = 0.2  # share of the cases with weights on the simplex besides its turn, as most methods are made for it
PRODUCTS = 0.15  # share of the cases with products of kernels


@dataclass(frozen=True)
class Case:
    """A problem posed from a seed, and what it is in words."""

    seed: int
    problem: mv.Problem
    words: str


@dataclass(frozen=True)
class Fault:
    """The faults of a solver on the case of a seed: the kind, as the module lists them, and the numbers."""

    seed: int
    method: str
    kind: str
    note: str


def make_case(seed: int) -> Case:
    """Return the problem of a seed."""
    rng = np.random.default_rng(seed)
    n, features = int(rng.integers(8, 41)), int(rng.integers(1, 4))
    X = rng.normal(size=(n, features))
    slope = X @ rng.normal(size=features) + 0.5 * rng.normal(size=n)
    scale, C = 10.0 ** rng.uniform(-8.0, 8.0), 10.0 ** rng.uniform(-4.0, 5.0)
    product = rng.random() < PRODUCTS
    loss = _loss(rng, C, float(slope.std()))
    y = _targets(loss, slope)
    if product:
        bank: KernelBank | ProductBank = ProductBank.build(X)
        scale = 1.0
    else:
        families = [Gaussian(widths=tuple(2.0 ** rng.uniform(-2.0, 3.0, size=int(rng.integers(1, 4)))), on="all+each")]
        built = KernelBank.build(X, [*families, Polynomial(degrees=(1, 2))][: int(rng.integers(1, 3))])
        grams = [scale * n * built.combine(unit) for unit in np.eye(len(built))]
        bank = KernelBank.from_grams(grams, precision="double")
    regularizer = _regularizer(rng, loss, scale, product)
    words = f"n = {n}, m = {len(bank)}{', product' if product else ''}, K {scale:.1e}, {loss!r}, {regularizer!r}"
    return Case(seed, mv.Problem(bank, y, loss, regularizer), words)


def _loss(rng: np.random.Generator, C: float, spread: float) -> Loss:
    bias = bool(rng.random() < 0.6)
    kind = int(rng.integers(8)) % 6  # twice as often those that most solvers know
    if kind == 4:
        return mv.MulticlassHinge(C)
    losses = (mv.Hinge(C, bias=bias), mv.EpsilonInsensitive(C, 0.1 * spread, bias=bias), mv.Squared(C, bias=bias),
              mv.Logistic(C, bias=bias), None, mv.OneAgainstAllHinge(C, bias=bias))  # fmt: skip
    chosen = losses[kind]
    assert chosen is not None
    return chosen


def _targets(loss: Loss, slope: Array) -> Array:
    if loss.regression:
        return slope
    if loss.multiclass:
        thirds = np.quantile(slope, (1.0 / 3.0, 2.0 / 3.0))
        return (slope[:, None] > thirds).sum(axis=1).astype(float)
    return np.where(slope > np.median(slope), 1.0, -1.0)


def _regularizer(rng: np.random.Generator, loss: Loss, scale: float, product: bool) -> Regularizer:
    """Return one at random, for an objective between 1 and C and the weights that then give decisions about 1."""
    price, p = 10.0 ** rng.uniform(-3.0, 3.0), 1.0 + 10.0 ** rng.uniform(-2.0, np.log10(19.0))
    C = loss.C ** rng.uniform()
    weight, norm = 1.0 / (C * scale), scale**-0.5
    choices: list[Regularizer] = [
        mv.L1Penalty(price * C / weight),
        mv.LpPenalty(p, price * C / weight**2),
        mv.PowerPenalty(p, price * C / weight**p),
        mv.Entropy(price * C),
        mv.Simplex(),
        mv.LpBall(p),
    ]
    if not product:
        choices += [
            mv.BlockL1(price * C / norm),
            mv.BlockPower(price * C / norm ** (2.0 * p / (p + 1.0)), 2.0 * p / (p + 1.0)),
            mv.ElasticNet(price * C / norm, price * C / norm**2),
            mv.GroupSquaredPlusL1(price * C / norm**2, 0.1 * price * C / norm * float(rng.integers(2))),
        ]
    return mv.Simplex() if rng.random() < SIMPLEX else choices[int(rng.integers(len(choices)))]


def examine(case: Case, seconds: float = 5.0, solvers: Sequence[str] = ()) -> tuple[list[Fault], dict[str, float]]:
    """Let every solver that takes a case try it; return its faults, and by solver the CPU seconds beyond the limit."""
    traces: dict[str, Trace] = {}
    faults, over = [], {}
    for name in solvers or available_solvers(case.problem):
        if make_solver(name).refusal(case.problem):
            continue
        try:
            traces[name], over[name] = _timed(case, name, seconds)
            if over[name] > GRACE:  # the first time may have had to compile, which is not the solver's doing
                traces[name], over[name] = _timed(case, name, seconds)
        except MklvizError as error:
            over[name] = 0.0
            faults.append(Fault(case.seed, name, "error", f"{type(error).__name__}: {error} {case.words}"))
        if over[name] > GRACE:
            faults.append(Fault(case.seed, name, "late", f"{over[name]:.2f} s over {seconds:g}: {case.words}"))
    faults += [fault for name, trace in traces.items() for fault in _own_faults(case, name, trace)]
    return [*faults, *_disagreements(case, traces)], over


def _timed(case: Case, name: str, seconds: float) -> tuple[Trace, float]:
    """Solve a case; return the trace, and the CPU seconds beyond the limit."""
    begun = time.process_time()
    trace = solve(case.problem, name, gap=GAP, max_iter=300, max_seconds=seconds)
    return trace, max(time.process_time() - begun - seconds, 0.0)


def _own_faults(case: Case, name: str, trace: Trace) -> Iterator[Fault]:
    """Look at each iterate by itself; there is none where the seconds did not suffice for a start."""
    if not len(trace):
        return
    problem, kinds = case.problem, set()
    for step, iterate in enumerate(trace):
        finite = np.isfinite(iterate.weights).all() and np.isfinite(iterate.dual).all()
        if not (finite and np.isfinite(iterate.objective)) or np.isnan(iterate.lower_bound) == problem.convex:
            kinds.add(("not finite", step))
        elif not _feasible(problem, iterate.weights, iterate.dual):
            kinds.add(("infeasible", step))
    for kind in sorted({kind for kind, _ in kinds}):
        first = min(step for other, step in kinds if other == kind)
        yield Fault(case.seed, name, kind, f"from step {first} of {len(trace) - 1}: {case.words}")
    gap, apart = trace.gap_at(len(trace) - 1), trace.best.objective - trace.best_bound.lower_bound
    if trace.status == "converged" and problem.convex and not (gap <= GAP and apart >= -_slack(problem, [trace])):
        yield Fault(case.seed, name, "verdict", f"gap {gap:.1e}, {trace.reason} {case.words}")


def _feasible(problem: mv.Problem, weights: Array, dual: Array) -> bool:
    try:
        problem.loss.check_dual(dual, problem.y)
    except MklvizError:
        return False
    regularizer = problem.regularizer
    inside = weights.min() >= -1e-12 * weights.max()
    return bool(inside and (not regularizer.weighted or np.isfinite(regularizer.value(weights))))


def _disagreements(case: Case, traces: dict[str, Trace]) -> Iterator[Fault]:
    """Hold the bounds of each against the best of all, and who did not finish against who did."""
    traces = {name: trace for name, trace in traces.items() if len(trace)}
    if not (case.problem.convex and traces):
        return
    lower = {name: max(iterate.lower_bound for iterate in trace) for name, trace in traces.items()}
    upper = {name: min(iterate.objective for iterate in trace) for name, trace in traces.items()}
    least, most = min(upper.values()), max(lower.values())
    slack = _slack(case.problem, list(traces.values()))
    for name, trace in traces.items():
        if lower[name] > least + slack or upper[name] < most - slack:
            note = f"D {lower[name]:.8g}, P {upper[name]:.8g}; of all: D {most:.8g}, P {least:.8g}. {case.words}"
            yield Fault(case.seed, name, "bounds", note)
        solver = make_solver(name)
        unfinished = trace.status not in ("converged", "precision")
        if unfinished and solver.converges and not solver.stochastic and least - most <= GAP * abs(least):
            gap = trace.gap_at(len(trace) - 1)
            note = f"{trace.status}, gap {gap:.1e} after {len(trace) - 1} steps: {trace.reason} {case.words}"
            yield Fault(case.seed, name, "unfinished", note)


def _slack(problem: mv.Problem, traces: Sequence[Trace]) -> float:
    """Return how far rounding may let bounds cross."""
    ends = [iterate for trace in traces for iterate in (trace.best, trace.best_bound)]
    size = max(abs(iterate.objective) for iterate in ends)
    return ROUNDING * size + 2.0 * max(rounding_bound(problem, it.weights, it.dual) for it in ends)


def main() -> None:
    """Try the cases asked for; print faults as they come, then how often each solver had which."""
    known = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known.add_argument("--cases", type=int, default=300, help="how many problems")
    known.add_argument("--first", type=int, default=0, metavar="SEED", help="seed of the first")
    known.add_argument("--seconds", type=float, default=5.0, help="time limit of each solver")
    known.add_argument("--solver", nargs="*", default=[], metavar="NAME", help="which solvers; all by default")
    chosen = known.parse_args()
    faults: list[Fault] = []
    tried: Counter[str] = Counter()
    with one_blas_thread():
        for seed in range(chosen.first, chosen.first + chosen.cases):
            faulty, over = examine(make_case(seed), chosen.seconds, chosen.solver)
            for fault in faulty:
                print(f"seed {fault.seed}, {fault.method}, {fault.kind}: {fault.note}", flush=True)
            faults += faulty
            tried.update(over.keys())
    print(f"\n{chosen.cases:,} cases, {tried.total():,} solves, {len(faults):,} faults")
    for method, count in sorted(tried.items()):
        kinds = Counter(fault.kind for fault in faults if fault.method == method)
        print(f"{method}: {count:,} cases", *(f"{kind} {often:,}" for kind, often in kinds.items()), sep=", ")


if __name__ == "__main__":
    main()
