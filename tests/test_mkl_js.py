"""The solvers in JavaScript take the steps of the Python ones, in a browser."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _browser import new_page

from mklviz.context import resolving
from mklviz.contract import Facts, Iterate, Solver
from mklviz.kernels import KernelBank
from mklviz.problem import Hinge, Problem
from mklviz.solvers.level import Level
from mklviz.solvers.silp import Silp
from mklviz.solvers.simplemkl import SimpleMkl
from mklviz.solvers.spg import Spg
from mklviz.typing import Array
from mklviz.views import host
from mklviz.views.host.solved_paths import SOLVED_PATHS

MODULE = Path(host.__file__).with_name("mkl.js")
EXACT = 1e-12  # tolerance of SVMs
FINEST = 1e-10  # that of SPG, which goes no further
GAP, MOST = 1e-4, 400
AGREED = 1e-6
SHAKEN = 1e-8  # change of a step, from which on the path hangs on rounding
PROBLEMS = 300

# kernels are built on both sides: handed over they would be a gigabyte
RACE = """
const kernelOf = (X, { features, gamma, degree }) => {
  const n = X.length, K = new Float64Array(n * n)
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) {
    let total = 0
    for (const f of features) total += degree ? X[i][f] * X[j][f] : (X[i][f] - X[j][f]) * (X[i][f] - X[j][f])
    K[i * n + j] = degree ? (1 + total / features.length) ** degree : Math.exp(-gamma * total)
  }
  return K
}
globalThis.race = (steps, { X, y, C, kernels }, gap, most) => {
  const problem = { kernels: kernels.map((kernel) => kernelOf(X, kernel)), y, C }
  return Object.fromEntries(["silp", "simplemkl", "level", "spg"].map((name) => {
    const taken = [], began = performance.now()
    for (const step of steps(name, problem)) {
      taken.push(step)
      if (step.gap <= gap || taken.length >= most) break
    }
    return [name, { taken, ms: performance.now() - began }]
  }))
}
"""


@dataclass(frozen=True)
class Posed:
    """A random problem, as both sides are told it."""

    X: Array
    y: Array
    C: float
    kernels: list[dict[str, Any]]

    def told(self) -> dict[str, Any]:
        return {"X": self.X.tolist(), "y": self.y.tolist(), "C": self.C, "kernels": self.kernels}

    def problem(self, nudge: float = 0.0, turned: bool = False) -> Problem:
        """Return the problem, its kernels scaled a little, each its own way, or its samples in the other order."""
        scales, order = 1.0 + nudge * np.arange(len(self.kernels)), slice(None, None, -1 if turned else None)
        grams = [scale * _kernel(self.X[order], **each) for scale, each in zip(scales, self.kernels, strict=True)]
        return Problem(KernelBank.from_grams(grams), self.y[order], Hinge(self.C))


def _kernel(X: Array, features: list[int], gamma: float, degree: int) -> Array:
    total = np.zeros((len(X), len(X)))
    for f in features:
        total += np.outer(X[:, f], X[:, f]) if degree else (X[:, None, f] - X[None, :, f]) ** 2
    return (1.0 + total / len(features)) ** degree if degree else np.exp(-gamma * total)


def posed(seed: int) -> Posed:
    """Return a random problem: 20 to 300 samples, 2 to 8 kernels, C from 0.1 to 1,000."""
    rng = np.random.default_rng(seed)
    n, m, p = round(np.exp(rng.uniform(np.log(20), np.log(300)))), int(rng.integers(2, 9)), int(rng.integers(2, 7))
    X = rng.normal(size=(n, p))
    bent = np.sin(X @ rng.normal(size=p)) + 0.5 * X[:, 0] * X[:, 1] + rng.normal(scale=rng.uniform(0.0, 1.0), size=n)
    y = np.where(bent > np.median(bent), 1.0, -1.0)
    kernels = []
    for _ in range(m):
        features = sorted(map(int, rng.choice(p, size=int(rng.integers(1, p + 1)), replace=False)))
        degree = int(rng.integers(1, 4)) if rng.random() < 0.25 else 0
        gamma = float(10.0 ** rng.uniform(-1.0, 1.0))
        kernels.append({"features": features, "gamma": gamma, "degree": degree})
    return Posed(X, y, float(10.0 ** rng.uniform(-1.0, 3.0)), kernels)


def solvers() -> dict[str, Solver]:
    exact = {"svm_tolerance": EXACT}
    return {"silp": Silp(**exact), "simplemkl": SimpleMkl(**exact), "level": Level(**exact), "spg": Spg()}


def steps_of(solver: Solver, problem: Problem) -> list[Iterate]:
    """Return the steps until the gap is small; SPG takes the tolerance of its SVMs from a start."""
    equal = np.full(problem.m, 1.0 / problem.m)
    exact = Iterate(equal, np.zeros(problem.n), np.inf, -np.inf, 0.0, 0, Facts(svm_tolerance=FINEST))
    taken: list[Iterate] = []
    upper, lower = np.inf, -np.inf
    with resolving(GAP):
        for iterate in solver.iterates(problem, exact if solver.name_ == "spg" else None):
            taken.append(iterate)
            upper, lower = min(upper, iterate.objective), max(lower, iterate.lower_bound)
            if upper - lower <= GAP * abs(upper) or len(taken) >= MOST:
                break
    return taken


def differences(ours: list[Iterate], theirs: list[dict[str, Any]]) -> list[float]:
    """Return by how much each step differs at most, relative to the objective and, of weights, to their sum."""
    return [
        max(
            abs(mine.objective - other["objective"]) / abs(mine.objective),
            abs(mine.lower_bound - other["bound"]) / abs(mine.objective),
            float(np.abs(mine.weights - other["weights"]).max()),
        )
        for mine, other in zip(ours, theirs, strict=False)
    ]


def well_defined(solver: Solver, given: Posed, ours: list[Iterate]) -> int:
    """Return how many first steps of Python's do not hang on rounding: they stay where other sums are rounded.

    What K b is rounded by is at most about eps n C.
    """
    rounding = max(FINEST if solver.name_ == "spg" else EXACT, np.finfo(float).eps * len(given.y) * given.C)
    kept = len(ours)
    for nudge, turned in ((rounding, False), (-rounding, False), (0.0, True), (rounding, True)):
        others = steps_of(solver, given.problem(nudge, turned))
        told = [{"objective": each.objective, "bound": each.lower_bound, "weights": each.weights} for each in others]
        alike = differences(ours[:kept], told)
        kept = next((step for step, apart in enumerate(alike) if apart > SHAKEN), len(alike))
    return kept


@pytest.fixture(scope="module")
def page(chromium: Any) -> Any:
    """An empty page that knows the module."""
    opened = new_page(chromium)
    opened.add_script_tag(type="module", content=f"{MODULE.read_text()}\nglobalThis.steps = steps\n{RACE}")
    opened.wait_for_function("'race' in globalThis")
    yield opened
    opened.context.close()


def disagreements(page: Any, seeds: range) -> list[str]:
    """Say which solver leaves Python's steps on which problem, as far as these are the same for rounded kernels."""
    told, compared, taken = [], 0, 0
    for seed in seeds:
        given = posed(seed)
        runs = page.evaluate("([given, gap, most]) => race(steps, given, gap, most)", [given.told(), GAP, MOST])
        for name, solver in solvers().items():
            ours, theirs = steps_of(solver, given.problem()), runs[name]["taken"]
            apart, certain = differences(ours, theirs), len(ours)
            if len(theirs) != certain or max(apart) > AGREED:
                certain = well_defined(solver, given, ours)
                apart = apart[:certain]
            compared, taken = compared + certain, taken + len(ours)
            ended = len(theirs) == MOST or theirs[-1]["gap"] <= GAP
            if len(apart) < certain or max(apart) > AGREED or not ended:
                told.append(f"{name} on problem {seed}: {max(apart):.1e} in {len(theirs)} steps of {len(ours)}")
    return told if compared > 0.8 * taken else [*told, f"{compared} of {taken} steps hang on no rounding"]


# what is marked twice would run twice
LATER = [pytest.param(first, marks=pytest.mark.product) for first in range(30, PROBLEMS, 30)]


@pytest.mark.parametrize("first", [pytest.param(0, marks=pytest.mark.browser), *LATER])
def test_each_step_is_that_of_python(page: Any, first: int) -> None:
    assert disagreements(page, range(first, first + 30)) == []


@pytest.mark.browser
def test_a_certified_bound_is_rounded_up(page: Any) -> None:
    ends = "{ one: [{ weights: [1], gap: 2.1e-4, solves: 3 }] }"
    told = page.evaluate(f'() => {{ {SOLVED_PATHS}; return toldPaths([{{ key: "one", label: "One" }}], {ends}) }}')
    assert told == "One: 3 solves. Each ends within 0.03\u00a0% of the lowest."


def test_the_module_is_small_and_stands_alone() -> None:
    text = MODULE.read_text()
    assert len(text.encode()) <= 30_000
    assert "import" not in text
    assert "document" not in text
