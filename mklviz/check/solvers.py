"""What every solver promises: certified, feasible, repeatable, narrated, and never nan.

Functions that take iterates serve callers that have them already; those of one argument, the class, are the promises.
"""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np
import param

from mklviz.check.problems import FORMULATIONS, blobs, formulate, near, require, require_named, small_bank
from mklviz.context import interruptible
from mklviz.contract import Facts, Iterate, Solver
from mklviz.engine import available_solvers, recommend, solve
from mklviz.engine.registry import DASHES
from mklviz.errors import ContractError, Interrupted, MklvizError, UnsupportedProblem
from mklviz.problem import Problem

STEPS = 40
FEW = 15  # where every step is taken twice


@cache
def on_blobs(name: str, C: float = 10.0) -> Problem:
    """Return forty points in one of the `FORMULATIONS`."""
    X, y = blobs(40, 0.1)
    return formulate(name, small_bank(X), y, C)


def taken(kind: type[Solver]) -> list[str]:
    """Return the names of the formulations that a solver takes."""
    return [name for name in FORMULATIONS if not kind().refusal(on_blobs(name))]


def steps(solver: Solver, problem: Problem, count: int = STEPS) -> list[Iterate]:
    """Return the first iterates."""
    return list(itertools.islice(solver.iterates(problem), count))


def walk(kind: type[Solver], name: str) -> tuple[Iterate, ...]:
    """Return the first iterates on a formulation, taken once for all that only look at them."""
    iterates: tuple[Iterate, ...] = _walk(kind, name)  # type: ignore[arg-type]  # mypy looks for the hash of an instance
    require(iterates, "iterates yields nothing, but the start is the first iterate.")
    return iterates


@cache
def _walk(kind: type[Solver], name: str) -> tuple[Iterate, ...]:
    return tuple(steps(kind(), on_blobs(name)))


@cache
def bracket(name: str) -> tuple[float, float]:
    """Return certified bounds of the optimum of a formulation, from a solver that is shipped."""
    problem = on_blobs(name)
    try:
        solver = recommend(problem)
    except UnsupportedProblem:
        solver = next(iter(available_solvers(problem)))
    trace = solve(problem, solver, gap=1e-7, max_iter=1000)
    return trace.best_bound.lower_bound, trace.best.objective


def certified(problem: Problem, iterates: Sequence[Iterate], least: float, most: float) -> None:
    """Require feasible weights and dual variables, and bounds that are the problem's and fit `least` and `most`."""
    for number, iterate in enumerate(iterates):
        try:
            _certified(problem, iterate, least, most)
        except MklvizError as error:
            raise type(error)(f"Iterate {number}: {error}") from None


def _certified(problem: Problem, iterate: Iterate, least: float, most: float) -> None:
    weights, dual, size = iterate.weights, iterate.dual, float(np.abs(iterate.dual).sum())
    shape = problem.loss.dual_shape(problem.y)
    require(weights.shape == (problem.m,), f"weights has the shape {weights.shape}, not ({problem.m},).")
    require(dual.shape == shape, f"dual has the shape {dual.shape}, not {shape}.")
    require(np.isfinite(weights).all() and np.isfinite(dual).all(), "weights or dual variables are nan or infinite.")
    require(weights.min() >= 0.0, f"a weight is negative, {weights.min():g}.")
    # some regularizers price the norms of the functions, which the objective below checks
    inside = not problem.regularizer.weighted or np.isfinite(problem.regularizer.value(weights))
    require(inside, f"the weights lie outside the domain of the {problem.regularizer.label}.")
    objective = problem.objective(weights, dual)  # sums in another order agree to 1e-9
    same_value = near(iterate.objective, objective, 1e-9)
    require(same_value, f"objective is {iterate.objective!r}, but problem.objective(weights, dual) is {objective!r}.")
    own = iterate.lower_bound if iterate.dual_bound is None else iterate.dual_bound
    bound = problem.lower_bound(dual)  # refuses a dual point that is not feasible
    require(near(own, bound, 1e-9, 1e-9 * size), f"its bound is {own!r}, but problem.lower_bound(dual) is {bound!r}.")
    if iterate.certificate is not None:  # which may prove more than the solver says
        proved = problem.lower_bound(iterate.certificate) + 1e-9 * size
        claimed = own <= iterate.lower_bound <= proved
        require(claimed, f"lower_bound is {iterate.lower_bound!r}, but its certificate proves {proved!r}.")
    require(iterate.lower_bound <= most, f"lower_bound {iterate.lower_bound!r} is above the optimum, {most!r}.")
    require(iterate.objective >= least, f"objective {iterate.objective!r} is below the optimum, {least!r}.")
    rounding = 1e-12 * (1.0 + size / abs(iterate.objective))  # in sums of the size of 1'a
    require(iterate.gap >= -rounding, f"its gap is negative, {iterate.gap:g}.")


def starts_and_counts(kind: type[Solver], problem: Problem, iterates: Sequence[Iterate]) -> None:
    """Require equal weights at first, SVMs that are counted, and numbers that are numbers."""
    first, regularizer = iterates[0].weights, problem.regularizer
    require(np.ptp(first) == 0.0, "the start does not give all kernels the same weight.")
    # where r binds their size, it is r's; elsewhere that of the problem
    known = first[0] > 0.0 if regularizer.unbounded else first[0] == regularizer.start(problem.m)[0]
    require(known, "the start's weights are not problem.regularizer.start(m).")
    solves = [iterate.svm_solves for iterate in iterates]
    require(all(type(count) is int for count in solves), "svm_solves is not a whole number.")
    # a solver without an SVM at the start says in its description what it counts instead
    require(solves[0] >= (0 if "``svm_solves``" in str(kind.__doc__) else 1), "the start's SVM is not counted.")
    require(solves == sorted(solves), "svm_solves falls from one iterate to the next.")
    for iterate in iterates:
        numbers = {"step": iterate.step, "objective": iterate.objective, "lower_bound": iterate.lower_bound}
        for name, number in numbers.items():
            require(isinstance(number, float), f"{name} is not a float, but {number!r:.80}.")
        require(iterate.facts.known(), "an iterate tells no facts, such as the svm_tolerance it was solved to.")
        for key, value in iterate.facts.known().items():
            require(isinstance(value, float | str), f"the fact {key} is {value!r:.80}, neither a float nor a text.")
    require(
        all(iterate.end is None for iterate in iterates[:-1]), "it goes on after an iterate that says why it ended."
    )


def explained(iterates: Sequence[Iterate]) -> None:
    """Require that facts may be missing, and that every field is explained, in the docstring or by a comment at it."""
    for kind in {type(iterate.facts) for iterate in iterates}:
        require(not kind().known(), f"{kind.__name__}() knows something: its defaults are nan and empty words.")
        bases = [base for base in kind.__mro__ if issubclass(base, Facts)]
        docs = "\n".join(inspect.getdoc(base) or "" for base in bases)
        entries = set(re.findall(r"\w+", " ".join(re.findall(r"^([\w, ]+) : ", docs, re.MULTILINE))))
        known = {field.name for field in fields(kind)}
        missing, more = sorted(known - entries.union(*map(_commented, bases))), sorted(entries - known)
        require(not missing, f"{kind.__name__} does not explain {', '.join(missing)}.")
        require(not more, f"the docstring of {kind.__name__} explains {', '.join(more)}, which it has not.")


def _commented(kind: type) -> set[str]:
    """Return the fields of a class with a comment beside them, or above them and others."""
    names, above = set(), False
    with suppress(OSError, TypeError):  # no file has it
        for line in inspect.getsource(kind).splitlines():
            field = re.match(r"    (\w+): ", line)
            if field and (above or "#" in line):
                names.add(field[1])
            above = line.strip().startswith("#") or (above and field is not None and "#" not in line)
    return names


def narrated(solver: Solver, iterates: Sequence[Iterate]) -> None:
    """Require one or two sentences for every step."""
    for before, after in zip([None, *iterates], iterates, strict=False):
        words = solver.narrate(before, after)
        require(isinstance(words, str), f"narrate returns {words!r:.80}, no text.")
        sentence = words.endswith(".") and (words[0].isupper() or words[0].isdigit()) and 10 < len(words) < 400
        require(sentence, f"narrate says {words!r:.80}, which is no sentence of at most 400 letters.")
        require("nan" not in words.split(), f"narrate says nan: {words!r:.200}.")


def same(left: Iterate, right: Iterate) -> bool:
    """Return whether two iterates are equal bit for bit; nan equals nan."""
    names = (field.name for field in fields(Iterate) if field.name not in ("facts", "end"))
    told = (left.facts.known(), left.end) == (right.facts.known(), right.end)
    return told and all(_equal(getattr(left, name), getattr(right, name)) for name in names)


def _equal(left: Any, right: Any) -> bool:
    return left is right or (left is not None and right is not None and np.array_equal(left, right, equal_nan=True))


def refuses_in_a_sentence(solver: Solver, problem: Problem) -> None:
    """Require "" or one sentence, and that iterates raises `UnsupportedProblem` with it."""
    why = solver.refusal(problem)
    require(isinstance(why, str), f"supports returns {why!r:.80}, neither an empty text nor a sentence.")
    if not why:
        return
    sentence = why.endswith(".") and ". " not in why and why[0].isupper()
    require(sentence, f"supports says {why!r:.200}, which is not one sentence.")
    try:
        next(solver.iterates(problem), None)
    except UnsupportedProblem as error:
        require(str(error) == why, f"supports says {why!r:.200}, but iterates raises {error}")
    else:
        require(
            False, f"supports says {why!r:.200}, but iterates goes ahead: it begins with refuse(self.refusal(problem))."
        )


def options_are_explained(kind: type[Solver]) -> None:
    """Every option has a sentence of help, and numbers have bounds."""
    solver = kind()
    for key, option in solver.param.objects("existing").items():
        if key == "name":
            continue
        require(option.doc, f"the option {key} has no doc.")
        bounded = not isinstance(option, param.Number) or isinstance(option, param.Boolean) or option.bounds is not None
        require(bounded, f"the option {key} has no bounds, such as bounds=(0.0, 1.0).")


def can_be_left(kind: type[Solver], problem: Problem) -> None:
    """Require that a cancelled step ends."""
    calls = 0

    def checkpoint() -> None:
        nonlocal calls
        calls += 1
        if calls > 3:
            raise Interrupted

    try:
        with interruptible(checkpoint):
            steps(kind(), problem, 100)
    except Interrupted:
        return
    raise ContractError("a hundred steps could not be interrupted: long computations call mklviz.context.checkpoint().")


# the promises


def has_names(kind: type[Solver]) -> None:
    """The class says what it is: name_, label, paper and a docstring."""
    require_named(kind, ("name_", "label", "paper"))
    require(kind().name == kind.label, "the solver made is not called by its label: __init__ calls super().__init__.")
    dashes = ("", *DASHES)
    require(kind.dash in dashes, f"dash is {kind.dash!r:.80}, which is none of {', '.join(DASHES)}.")
    for colour in (kind.colour, kind.colour_dark):
        hexadecimal = not colour or re.fullmatch(r"#[0-9A-Fa-f]{6}", colour)
        require(hexadecimal, f"a colour is {colour!r:.80}, not one such as #0072B2.")


def takes_a_formulation(kind: type[Solver]) -> None:
    """It takes at least one of the formulations tried."""
    require(taken(kind), f"none of these problems is taken: {'; '.join(FORMULATIONS)}.")


def refusals_are_sentences(kind: type[Solver]) -> None:
    """Problems it does not take are refused in one sentence, by supports and by iterates alike."""
    for name in FORMULATIONS:
        with _on(name):
            refuses_in_a_sentence(kind(), on_blobs(name))


def bounds_are_certified(kind: type[Solver]) -> None:
    """Every iterate is feasible, and its bounds are those that the problem computes."""
    for name in taken(kind):
        least, most = bracket(name)
        slack = 1e-9 * abs(most)
        with _on(name):
            certified(on_blobs(name), walk(kind, name), least - slack, most + slack)


def start_is_usual(kind: type[Solver]) -> None:
    """It starts at equal weights, counts its SVMs and tells facts."""
    for name in taken(kind):
        with _on(name):
            starts_and_counts(kind, on_blobs(name), walk(kind, name))


def facts_are_explained(kind: type[Solver]) -> None:
    """Every fact of a step is explained, and may be missing."""
    for name in taken(kind):
        explained(walk(kind, name))


def steps_are_narrated(kind: type[Solver]) -> None:
    """Every step is narrated in one or two sentences."""
    for name in taken(kind):
        with _on(name):
            narrated(kind(), walk(kind, name))


def seeds_are_kept(kind: type[Solver]) -> None:
    """The same seed gives the same iterates, bit for bit."""
    for name in taken(kind):
        first, again = (steps(kind(seed=3), on_blobs(name, 100.0), FEW) for _ in range(2))
        equal = len(first) == len(again) and all(map(same, first, again))
        require(equal, f"{name}: two walks with the same seed differ.")


def observers_may_write(kind: type[Solver]) -> None:
    """It hands over copies: writing into an iterate changes nothing."""
    for name in taken(kind):
        clean, problem = steps(kind(), on_blobs(name, 100.0), FEW), on_blobs(name, 100.0)
        for number, (expected, iterate) in enumerate(zip(clean, kind().iterates(problem), strict=False)):
            untouched = same(iterate, expected)
            require(untouched, f"{name}: writing into an iterate changed the one after it, number {number}.")
            for array in (iterate.weights, iterate.dual, iterate.certificate):
                if array is not None:
                    array[:] = np.nan


def iterates_stay(kind: type[Solver]) -> None:
    """An iterate does not change later."""
    generator = kind().iterates(on_blobs(taken(kind)[0], 100.0))
    first = next(generator, None)
    if first is None:
        raise ContractError("iterates yields nothing, but the start is the first iterate.")
    weights, dual = first.weights.copy(), first.dual.copy()
    list(itertools.islice(generator, STEPS))
    unchanged = np.array_equal(first.weights, weights) and np.array_equal(first.dual, dual)
    require(unchanged, "the first iterate changed while others followed: hand over copies.")


def generators_do_not_meet(kind: type[Solver]) -> None:
    """One solver can work on two problems at the same time."""
    made, name = kind(), taken(kind)[0]
    alone = steps(kind(), on_blobs(name, 100.0), 10)
    pairs = zip(made.iterates(on_blobs(name, 100.0)), made.iterates(on_blobs(name, 1.0)), strict=False)
    for expected, (one, _) in zip(alone, pairs, strict=False):
        require(same(one, expected), "its iterates differ while it works on another problem: keep state in iterates.")


def steps_can_be_left(kind: type[Solver]) -> None:
    """A long computation can be stopped in its middle."""
    X, y = blobs(30, seed=1)
    can_be_left(kind, formulate(taken(kind)[0], small_bank(X), y, 1000.0))


@contextmanager
def _on(name: str) -> Iterator[None]:
    """Say on which problem a check fails."""
    try:
        yield
    except MklvizError as error:
        raise type(error)(f"On the problem “{name}”: {error}") from None


SOLVER_PROMISES: tuple[Callable[[type[Solver]], None], ...] = (
    has_names,
    options_are_explained,
    takes_a_formulation,
    refusals_are_sentences,
    bounds_are_certified,
    start_is_usual,
    facts_are_explained,
    steps_are_narrated,
    seeds_are_kept,
    observers_may_write,
    iterates_stay,
    generators_do_not_meet,
    steps_can_be_left,
)
