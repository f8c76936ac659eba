"""The plug-ins in a file or module, and how they keep their promises, those on hard problems among them.

What a solver proves where quadratic forms cancel is recomputed exactly, by fractions on the kernels as they are stored.

Kernels of rank one and of sizes from 1e-6 to 1e8, C up to 1e5 and a price per unit of weight: dual variables are large
and nearly orthogonal to a kernel's range, and a plain sum of s_k = beta'K_k beta has no digit right.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from mklviz.check.losses import LOSS_PROMISES
from mklviz.check.problems import formulate, hard_inputs, random_grams, require
from mklviz.check.regularizers import KERNEL_PROMISES, REGULARIZER_PROMISES
from mklviz.check.solvers import SOLVER_PROMISES, taken
from mklviz.contract import Solver
from mklviz.engine import solve, solver_classes
from mklviz.errors import ContractError, MklvizError
from mklviz.kernels import KernelBank, KernelFamily, kernel_families
from mklviz.plugins import classes_in, unfit, what_is_wrong
from mklviz.problem import (
    BlockL1,
    EpsilonInsensitive,
    Hinge,
    L1Penalty,
    Loss,
    Problem,
    Regularizer,
    Squared,
    loss_families,
    regularizer_families,
)
from mklviz.problem.proving import relative_gap
from mklviz.typing import Array

GOAL = 1e-3
SAMPLES = 12
STEPS = 60
LOSSES: tuple[Loss, ...] = (Hinge(), EpsilonInsensitive(epsilon=0.1), Squared())


def exact_form(gram: Array, v: Array) -> Fraction:
    """Return v'K v, of the lower triangle of K."""
    exact, lower = np.vectorize(Fraction, otypes=[object]), np.tril(gram)
    form: Fraction = exact(v) @ exact(lower + np.tril(lower, -1).T) @ exact(v)
    return form


def exact_bound(problem: Problem, grams: Sequence[Array], dual: Array) -> float:
    """Return the lower bound that dual variables prove with a linear price; of a negative form the size counts."""
    signed = problem.loss.signed(dual, problem.y)
    largest = max(abs(exact_form(gram, signed)) for gram in grams)
    price = 2.0 * float(problem.regularizer.gradient(np.zeros(problem.m))[0])
    share = min(1.0, float(np.sqrt(price / float(largest)))) if largest else 1.0
    return problem.loss.dual_value(share * dual, problem.y)


def rank_one() -> Iterator[tuple[str, Problem, list[Array]]]:
    """Yield what they are, problems on two kernels of rank one, and the kernels."""
    rng = np.random.default_rng(0)
    for number, (scale, C) in enumerate([(1e-6, 1e5), (1.0, 1e3), (1e5, 1e4), (1e6, 1e3), (1e8, 1e5)]):
        for price in (0.01, 1.0):
            x, z = rng.normal(size=(2, SAMPLES))
            grams = [scale * np.outer(x, x), np.outer(z, z)]
            y = np.where(x + rng.normal(size=SAMPLES) > 0.0, 1.0, -1.0)
            y[:2] = 1.0, -1.0
            loss = replace(LOSSES[number % len(LOSSES)], C=C)
            y = 0.3 * y + x if loss.regression else y
            for regularizer in (L1Penalty(price), BlockL1(price)):
                posed = Problem(KernelBank.from_grams(grams), y, loss, regularizer)
                yield f"{loss.label}, kernel x {scale:g}, C = {C:g}, {regularizer.label} {price:g}", posed, grams


def proves_what_it_says(kind: type[Solver]) -> None:
    """Its bounds hold in exact arithmetic, where kernels are large and prices small, or it does not claim them."""
    for name, problem, grams in rank_one():
        if kind().refusal(problem):
            continue
        trace = solve(problem, kind(), gap=GOAL, max_iter=STEPS)
        proved, best = exact_bound(problem, grams, trace.best_dual), trace.best.objective
        bound, scale = trace.best_bound.lower_bound, abs(best)
        slack = 1e-2 * GOAL * scale  # rounding may take a thousandth
        require(bound <= proved + slack, f"{name}: its bound is {bound!r}, but its dual variables prove {proved!r}.")
        short = trace.status != "converged" or best - proved <= GOAL * scale + slack
        require(short, f"{name}: it says converged, but the gap is {relative_gap(best, proved):.2g}.")


# -- hard problems


def ends_without_nan(solver: Solver, problem: Problem) -> None:
    """Require a certified end, or the limit of steps, with numbers all the way."""
    trace = solve(problem, solver, gap=1e-3, max_iter=300)
    require(trace.status in ("converged", "precision", "limit"), f"it ended as {trace.status}: {trace.reason}")
    for name in ("weights", "dual", "objective", "lower_bound"):
        require(np.isfinite(getattr(trace, name)).all(), f"{name} is nan or infinite in one of the steps.")
    # rounding, where C is huge and the optimum is not
    require(trace.gap.min() >= -1e-9, f"the gap is negative, {trace.gap.min():g}.")
    first = trace.objective[0]
    risen = trace.objective.min() > first + 1e-12 * abs(first)
    require(not risen, "no iterate is as good as the start.")


def turns_with_the_kernels(kind: type[Solver], grams: np.ndarray, posed: Problem) -> None:
    """Require that kernels in another order than in `grams` (3, n, n) get the same weights in that order."""
    order = np.array([2, 0, 1])
    permuted = Problem(KernelBank.from_grams(grams[order]), posed.y, posed.loss, posed.regularizer)
    straight, turned = (solve(each, kind(), gap=1e-6, max_iter=1000) for each in (posed, permuted))
    gap = max(straight.gap[-1], turned.gap[-1], 1e-6)
    one, other = straight.best, turned.best
    apart = abs(one.objective - other.objective)
    close = apart <= 10 * gap * abs(one.objective)
    require(close, f"the objectives differ, {one.objective!r} and {other.objective!r}.")
    # a gap leaves weights uncertain by its square root at worst
    differ = float(np.abs(other.weights - one.weights[order]).max())
    require(differ <= 2 * np.sqrt(gap), f"the weights differ by {differ:.2g}, where the gap is {gap:.2g}.")


def hard_problems_end(kind: type[Solver]) -> None:
    """Hard problems end, without nan: huge and tiny C, one kernel, equal points, contradictions."""
    for formulation in taken(kind):
        for name, bank, labels, C in hard_inputs():
            try:
                ends_without_nan(kind(), formulate(formulation, bank, labels, C))
            except Exception as error:
                text = f"On the problem “{formulation}, {name}”: {error}"
                require(False, text)


def order_does_not_matter(kind: type[Solver]) -> None:
    """Kernels in another order get the same weights, in that order."""
    grams = np.array(random_grams(3, 30, seed=3))
    labels = np.where(np.random.default_rng(3).random(30) < 0.5, 1.0, -1.0)
    bank = KernelBank.from_grams(grams)
    turns_with_the_kernels(kind, grams, formulate(taken(kind)[0], bank, labels, 30.0))


HARD_PROMISES = (hard_problems_end, order_does_not_matter, proves_what_it_says)


# -- the plug-ins

Promise = Callable[[type[Any]], None]


@dataclass(frozen=True)
class CheckResult:
    """A promise in words, and "" or how it is broken."""

    promise: str
    broken: str


@dataclass(frozen=True)
class Plugin:
    """A class that is checked."""

    kind: str  # "solver", "loss", "regularizer" or "kernel family"
    made: type[Any]


_BASES: dict[str, tuple[type[Any], tuple[Promise, ...], Callable[[], dict[str, Any]]]] = {
    "solver": (Solver, (*SOLVER_PROMISES, *HARD_PROMISES), solver_classes),
    "loss": (Loss, LOSS_PROMISES, loss_families),
    "regularizer": (Regularizer, REGULARIZER_PROMISES, regularizer_families),
    "kernel family": (KernelFamily, KERNEL_PROMISES, kernel_families),
}


def plugins_in(where: str) -> list[Plugin]:
    """Return the plug-ins that a file, such as my_solver.py, or a module, such as my_package.idle, defines."""
    module = _loaded(where)
    every = [Plugin(kind, made) for kind, (base, _, _) in _BASES.items() for made in classes_in(module, base)]
    named = [plugin for plugin in every if getattr(plugin.made, "name_", "")] or every  # others are shared parts
    if not named:
        bases = ", ".join(base.__name__ for base, _, _ in _BASES.values())
        raise ContractError(f"{where} defines nothing to check: a class derived from one of {bases}.")
    return named


def _loaded(where: str) -> ModuleType:
    file = Path(where)
    if file.suffix == ".py" and not file.is_file():
        raise ContractError(f"There is no file {where}.")
    if file.suffix != ".py" and file.is_file():
        raise ContractError(f"{where} is no Python file, such as my_solver.py, and no module, such as my_package.idle.")
    try:
        return _from_file(file) if file.suffix == ".py" else importlib.import_module(where)
    except (Exception, SystemExit) as error:
        raise ContractError(f"{where} cannot be imported: {what_is_wrong(error, __file__)}") from None


def _from_file(file: Path) -> ModuleType:
    """Import a file under a name of its own."""
    name = f"_mklviz_checks_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError("it is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


def checked(plugin: Plugin) -> Iterator[CheckResult]:
    """Yield the promises of a plug-in's kind, and how they are kept; stop if it cannot be constructed."""
    _, promises, registry = _BASES[plugin.kind]
    why = unfit(plugin.made, {}) or _name_taken(plugin.made, registry())
    yield CheckResult("It can be made without arguments, under a name of its own.", why)
    if why:
        return
    for promise in promises:
        yield CheckResult((inspect.getdoc(promise) or "").splitlines()[0], _how_broken(promise, plugin.made))


def _name_taken(made: type[Any], others: dict[str, type[Any]]) -> str:
    name = str(getattr(made, "name_", ""))
    if not name:
        return f"{made.__name__} has no name_, such as name_ = 'my-method'."
    other = others.get(name)
    if other is None or other is made or inspect.getfile(other) == inspect.getfile(made):
        return ""
    return f"Its name {name!r} is already that of {other.__module__}."


def _how_broken(promise: Promise, made: type[Any]) -> str:
    try:
        promise(made)
    except MklvizError as error:
        return str(error)
    except Exception as error:  # an error of the plug-in, or of the values it returns
        text = f"{type(error).__name__}{f', {error}' if str(error) else ''}"
        return f"{text}{_place(error, inspect.getfile(made))}".rstrip(".") + "."
    return ""


def _place(error: Exception, file: str) -> str:
    """Return in which line of the plug-in's file an error came up, "" where it was elsewhere."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f", in line {lines[-1]} of {Path(file).name}" if lines else ""
