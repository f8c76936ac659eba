"""What every solver promises, tried on every solver found: certified, feasible, repeatable, narrated, never nan."""

from __future__ import annotations

import dataclasses
import inspect
import io
import itertools
import re
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
import param
import pytest
from _conic import ACCURACY, optimum
from _formulations import conic_value
from _problems import FORMULATIONS, MAKERS, Array, blobs, dense, formulate, problem, random_grams, small_bank

from mklviz.context import interruptible
from mklviz.contract import Facts, Iterate, Solver
from mklviz.engine import available_solvers, make_solver, solve, solver_classes
from mklviz.engine.styles import style_of
from mklviz.errors import Interrupted, MklvizError, ProblemError, SolverError, UnknownName, UnsupportedProblem
from mklviz.kernels import Gaussian, KernelBank
from mklviz.problem import Hinge, Loss, Problem, Simplex
from mklviz.record import Trace

SOLVERS = list(solver_classes())
PROBLEMS = [
    "blobs, C = 1",
    "blobs, C = 100",
    "separable blobs, C = 1000",
    "every point twice, some with either label",
    "three of thirty positive",
    "many random Gram matrices",
    "sonar",
    "linear penalty, separable blobs",
    "linear penalty too high for any kernel",
    *FORMULATIONS,
]
STEPS = 40
CONIC = 1e-6  # accuracy of the conic solver where it works on powers and exponentials


@cache
def blobs_bank() -> KernelBank:
    return small_bank(blobs(40, 0.1)[0])


def on_blobs(kind: str, C: float) -> Problem:
    return formulate(kind, blobs_bank(), blobs(40, 0.1)[1], C)


@cache
def posed_as(name: str) -> Problem:
    """The problem of that name, or blobs in the formulation of that name."""
    return problem(name) if name in MAKERS else on_blobs(name, 10.0)


@cache
def best_value(name: str) -> tuple[float, float]:
    """The optimum of `posed_as(name)` from a conic solver, and how far it may be off."""
    value, accuracy = (optimum(name), ACCURACY) if name in MAKERS else (conic_value(posed_as(name)), CONIC)
    return value, accuracy * abs(value)


def supported(solver: str, name: str) -> bool:
    return not make_solver(solver).refusal(posed_as(name))


PAIRS = [pytest.param(s, p, id=f"{s}-{p}") for s in SOLVERS for p in PROBLEMS if supported(s, p)]
KINDS = {solver: [kind for kind in FORMULATIONS if supported(solver, kind)] for solver in SOLVERS}


def usual(solver: str, bank: KernelBank, labels: Array, C: float) -> Problem:
    """The first formulation that the solver takes: hinge on the simplex for most."""
    return formulate(KINDS[solver][0], bank, labels, C)


def usual_blobs(solver: str, C: float = 100.0) -> Problem:
    return on_blobs(KINDS[solver][0], C)


def steps(solver: Solver, posed: Problem, count: int = STEPS) -> list[Iterate]:
    return list(itertools.islice(solver.iterates(posed), count))


@cache
def walk(solver: str, name: str) -> tuple[Iterate, ...]:
    """The first steps on that problem, taken once for all tests that only look at them."""
    return tuple(steps(make_solver(solver), posed_as(name)))


def same(left: Iterate, right: Iterate) -> bool:
    """Equal bit for bit; nan equals nan."""
    numbers = [(left.objective, right.objective), (left.lower_bound, right.lower_bound), (left.step, right.step)]
    return (
        (left.facts.known(), left.end) == (right.facts.known(), right.end)
        and np.array_equal(left.weights, right.weights)
        and np.array_equal(left.dual, right.dual)
        and all(np.array_equal(a, b, equal_nan=True) for a, b in numbers)
        and left.svm_solves == right.svm_solves
        and (left.dual_bound, left.certificate is None) == (right.dual_bound, right.certificate is None)
        and (left.certificate is None or np.array_equal(left.certificate, right.certificate))
    )


def in_a_file(found: Sequence[Iterate]) -> Trace:
    """Return these steps as they come back from a file."""
    trace, file = Trace(), io.BytesIO()
    for iterate in found:
        trace.append(iterate, 0.0)
    trace.save(file)
    file.seek(0)
    return Trace.load(file)


def test_the_methods_are_found() -> None:
    shipped = {"silp", "simplemkl", "level", "pgd", "spg", "newton", "closed-form", "smo-mkl", "spicymkl"}
    assert shipped <= set(SOLVERS)
    assert available_solvers() == SOLVERS


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_takes_one_of_the_formulations(solver: str) -> None:
    assert KINDS[solver]


# classes


def luminance(colour: str) -> float:
    assert len(colour) == 7
    assert colour[0] == "#"
    channels = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255.0
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one: str, other: str) -> float:
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", SOLVERS)
def test_class_attributes_are_filled(name: str) -> None:
    found = solver_classes()[name]
    assert found.name_ == name
    assert found.label
    assert len(found.paper) > 20
    style = style_of(found)
    assert contrast(style.colour, "#FFFFFF") >= 3.0
    assert contrast(style.colour_dark, "#121212") >= 3.0
    assert style.dash in {"solid", "dashed", "dotted", "dotdash", "dashdot"}
    assert found.__doc__
    assert make_solver(name).name == found.label


def test_no_two_solvers_look_alike() -> None:
    labels = [found.label for found in solver_classes().values()]
    styles = [style_of(found) for found in solver_classes().values()]
    drawn = [(style.marker, style.dash) for style in styles]
    for shown in (labels, drawn, [style.colour for style in styles], [style.colour_dark for style in styles]):
        assert len(set(shown)) == len(shown)


@pytest.mark.parametrize("name", SOLVERS)
def test_options_are_documented_and_bounded(name: str) -> None:
    solver = make_solver(name)
    for key, option in solver.param.objects("existing").items():
        if key == "name":
            continue
        assert option.doc, key
        if isinstance(option, param.Number) and not isinstance(option, param.Boolean):
            assert option.bounds is not None, key
    assert solver.options().keys() == {key for key in solver.param if key != "name"}


@pytest.mark.parametrize("name", SOLVERS)
def test_option_values_out_of_bounds_and_unknown_options_are_refused(name: str) -> None:
    with pytest.raises(MklvizError, match="has no option 'nothing'"):
        make_solver(name, nothing=1)
    with pytest.raises(MklvizError, match="cannot take seed=-1: it must be a whole number"):
        make_solver(name, seed=-1)


def test_unknown_solvers_are_refused_with_a_hint() -> None:
    with pytest.raises(UnknownName, match=r"no solver called 'levle'\. Did you mean level\?"):
        make_solver("levle")
    with pytest.raises(MklvizError, match="ready solver"):
        make_solver(make_solver("level"), seed=1)


# iterates


@pytest.mark.parametrize(("solver", "name"), PAIRS)
def test_iterates_are_certified_and_feasible(solver: str, name: str) -> None:
    posed, (best, slack) = posed_as(name), best_value(name)
    for iterate in walk(solver, name):
        size = float(np.abs(iterate.dual).sum())
        assert iterate.weights.shape == (posed.m,)
        assert iterate.dual.shape == posed.loss.dual_shape(posed.y)
        assert np.isfinite(iterate.weights).all()
        assert np.isfinite(iterate.dual).all()
        assert iterate.weights.min() >= 0.0
        # some regularizers price the norms of the functions, which the objective below checks
        assert not posed.regularizer.weighted or np.isfinite(posed.regularizer.value(iterate.weights))
        # the score belongs to the problem: sums in another order agree to 1e-9
        assert iterate.objective == pytest.approx(posed.objective(iterate.weights, iterate.dual), rel=1e-9)
        own = iterate.lower_bound if iterate.dual_bound is None else iterate.dual_bound
        bound = posed.lower_bound(iterate.dual)  # refuses a dual point that is not feasible
        assert own == pytest.approx(bound, rel=1e-9, abs=1e-9 * size)
        if iterate.certificate is not None:  # which may prove more than the solver says
            assert iterate.lower_bound >= own
            assert iterate.lower_bound <= posed.lower_bound(iterate.certificate) + 1e-9 * size
        assert iterate.lower_bound <= best + slack
        assert iterate.objective >= best - slack
        # rounding in sums of the size of 1'a
        assert iterate.gap >= -1e-12 * (1.0 + size / abs(iterate.objective))


ROUGH = [solver for solver in SOLVERS if "svm_tolerance" in make_solver(solver).param]


@pytest.mark.parametrize("solver", ROUGH)
def test_bounds_hold_however_roughly_svms_are_solved(solver: str) -> None:
    """The value that a rough SVM reports lies below J(d): a gap from it looks smaller than it is."""
    made = make_solver(solver)
    made.svm_tolerance = made.param.svm_tolerance.bounds[1]
    posed, best = problem("blobs, C = 100"), optimum("blobs, C = 100")
    for iterate in steps(made, posed):
        assert iterate.objective >= best * (1 - ACCURACY)
        assert iterate.lower_bound <= best * (1 + ACCURACY)


@pytest.mark.parametrize(("solver", "name"), PAIRS)
def test_iterates_start_at_the_start_count_solves_and_tell_facts(solver: str, name: str) -> None:
    posed = posed_as(name)
    found = walk(solver, name)
    first = found[0].weights
    np.testing.assert_array_equal(first, np.full(posed.m, first[0]))
    # where r binds their size, it is r's; elsewhere that of the problem
    assert first[0] > 0.0 if posed.regularizer.unbounded else first[0] == posed.regularizer.start(posed.m)[0]
    solves = [iterate.svm_solves for iterate in found]
    # who solves no SVM at the start says in its description what it counts instead
    assert solves[0] >= (0 if "``svm_solves``" in str(type(make_solver(solver)).__doc__) else 1)
    assert solves == sorted(solves)
    for iterate in found:
        assert type(iterate.svm_solves) is int
        for number in (iterate.step, iterate.objective, iterate.lower_bound):
            assert isinstance(number, float)
        assert iterate.facts.known()
        for key, value in iterate.facts.known().items():
            assert isinstance(value, (float, str)), key
    assert all(iterate.end is None for iterate in found[:-1])


@pytest.mark.parametrize("solver", SOLVERS)
def test_facts_are_values_whose_every_field_is_explained_and_may_be_missing(solver: str) -> None:
    for iterate in walk(solver, KINDS[solver][0]):
        kind = type(iterate.facts)
        assert not kind().known()
        said = "\n".join(inspect.getdoc(base) or "" for base in kind.__mro__ if issubclass(base, Facts))
        explained = re.findall(r"\w+", " ".join(re.findall(r"^([\w, ]+) : ", said, re.MULTILINE)))
        assert {each.name for each in dataclasses.fields(kind)} == set(explained)
        with pytest.raises(dataclasses.FrozenInstanceError):
            iterate.facts.svm_tolerance = 0.0


@pytest.mark.parametrize(("solver", "name"), PAIRS)
def test_every_step_is_narrated_in_sentences_the_same_from_a_file(solver: str, name: str) -> None:
    made, found = make_solver(solver), walk(solver, name)
    for (before, after), saved in zip(
        itertools.pairwise([None, *found]), itertools.pairwise([None, *in_a_file(found)]), strict=True
    ):
        said = made.narrate(before, after)
        assert said == made.narrate(*saved)
        assert said.endswith(".")
        assert said[0].isupper() or said[0].isdigit()
        assert "nan" not in said.split()
        assert 10 < len(said) < 400


@pytest.mark.parametrize("solver", SOLVERS)
def test_same_seed_same_trace_bit_for_bit(solver: str) -> None:
    for kind in KINDS[solver]:
        first = steps(make_solver(solver, seed=3), on_blobs(kind, 100.0))
        again = steps(make_solver(solver, seed=3), on_blobs(kind, 100.0))
        assert len(first) == len(again), kind
        assert all(same(a, b) for a, b in zip(first, again, strict=True)), kind


@pytest.mark.parametrize("solver", SOLVERS)
def test_observers_may_write_into_what_they_get(solver: str) -> None:
    for kind in KINDS[solver]:
        clean = steps(make_solver(solver), on_blobs(kind, 100.0))
        for expected, iterate in zip(clean, make_solver(solver).iterates(on_blobs(kind, 100.0)), strict=False):
            assert same(iterate, expected), kind
            iterate.weights[:] = np.nan
            iterate.dual[:] = np.nan
            if iterate.certificate is not None:
                iterate.certificate[:] = np.nan


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_kept_iterate_does_not_change_later(solver: str) -> None:
    generator = make_solver(solver).iterates(usual_blobs(solver))
    first = next(generator)
    weights, dual = first.weights.copy(), first.dual.copy()
    list(itertools.islice(generator, STEPS))
    np.testing.assert_array_equal(first.weights, weights)
    np.testing.assert_array_equal(first.dual, dual)


@pytest.mark.parametrize("solver", SOLVERS)
def test_two_generators_of_one_solver_do_not_meet(solver: str) -> None:
    made = make_solver(solver)
    alone = steps(make_solver(solver), usual_blobs(solver), 10)
    pairs = zip(made.iterates(usual_blobs(solver)), made.iterates(usual_blobs(solver, 1.0)), strict=False)
    for expected, (one, _) in zip(alone, pairs, strict=False):
        assert same(one, expected)


@pytest.mark.parametrize("solver", SOLVERS)
def test_permuting_kernels_permutes_weights(solver: str) -> None:
    plain = problem("three random Gram matrices")
    posed = usual(solver, plain.bank, plain.y, 30.0)
    order = np.array([2, 0, 1])
    permuted = Problem(KernelBank.from_grams(dense(posed.bank)[order]), posed.y, posed.loss, posed.regularizer)
    straight = solve(posed, solver, gap=1e-6, max_iter=1000).best
    turned = solve(permuted, solver, gap=1e-6, max_iter=1000).best
    # a gap of 1e-6 leaves weights uncertain by its square root at worst
    np.testing.assert_allclose(turned.weights, straight.weights[order], atol=2e-3)
    assert turned.objective == pytest.approx(straight.objective, rel=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_cancelling_leaves_a_long_step_in_its_middle(solver: str) -> None:
    made, (X, y) = make_solver(solver), blobs(30, seed=1)
    calls = 0

    def checkpoint() -> None:
        nonlocal calls
        calls += 1
        if calls > 3:
            raise Interrupted

    with pytest.raises(Interrupted), interruptible(checkpoint):
        list(itertools.islice(made.iterates(usual(solver, small_bank(X), y, 1000.0)), 100))


# problems a solver does not take


class Other(Loss):
    """A loss that is none of the known ones, although it is worth what the hinge loss is."""

    name_ = "other"
    label = "other"

    def check_targets(self, y: Array) -> None:
        Hinge().check_targets(y)

    def value(self, decisions: Array, y: Array) -> float:
        return Hinge(self.C).value(decisions, y)

    def best_bias(self, scores: Array, y: Array) -> float:
        return Hinge(self.C).best_bias(scores, y)

    def dual_value(self, dual: Array, y: Array) -> float:
        return Hinge(self.C).dual_value(dual, y)


@pytest.mark.parametrize("solver", SOLVERS)
def test_unsupported_problems_are_refused_in_one_sentence(solver: str) -> None:
    posed = usual_blobs(solver, 1.0)
    odd = Problem(posed.bank, posed.y, Other())
    for asked in (odd, *(on_blobs(kind, 1.0) for kind in FORMULATIONS)):
        why = make_solver(solver).refusal(asked)
        assert (solver in available_solvers(asked)) == (not why)
        if not why:
            continue
        assert why.endswith(".")
        assert ". " not in why
        assert why[0].isupper()
        with pytest.raises(UnsupportedProblem, match=f"^{re.escape(why)}$"):
            next(make_solver(solver).iterates(asked))
        with pytest.raises(UnsupportedProblem, match=f"^{re.escape(why)}$"):
            solve(asked, solver)
    assert make_solver(solver).refusal(odd)
    assert not make_solver(solver).refusal(posed)


# hard problems: never nan, never a hang


def hard_inputs() -> Iterator[tuple[str, KernelBank, Array, float]]:
    X, y = blobs(16, 0.2, seed=20)
    bank = small_bank(X)
    yield "C = 1e-6", bank, y, 1e-6
    yield "C = 1e6", bank, y, 1e6
    yield "one kernel", KernelBank.build(X, [Gaussian(widths=(1.0,))]), y, 10.0
    yield "identical kernels", KernelBank.build(X, [Gaussian(widths=(1.0,) * 5)]), y, 100.0
    yield "one positive label", bank, np.where(np.arange(16) == 3, 1.0, -1.0), 10.0
    yield "two samples", KernelBank.build(X[:2], [Gaussian(on="all+each")]), y[:2], 1e3
    yield "one point ten times", KernelBank.build(np.ones((10, 2)), [Gaussian(on="all+each")]), y[:10], 10.0
    grams = random_grams(3, 16)
    mixed = KernelBank.from_grams([1e-8 * grams[0], grams[1], 1e6 * grams[2], np.zeros((16, 16))])
    yield "kernels of all sizes and a zero one", mixed, y, 1.0
    clash = KernelBank.build(np.vstack([X, X]), [Gaussian(), Gaussian(on="each")])
    yield "every label contradicted", clash, np.concatenate([y, -y]), 1e3


HARD = {name: (bank, y, C) for name, bank, y, C in hard_inputs()}


@pytest.mark.pairwise
@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize(("solver", "kind"), [(solver, kind) for solver in SOLVERS for kind in KINDS[solver]])
def test_hard_problems_end_without_nan(solver: str, kind: str, name: str) -> None:
    posed = formulate(kind, *HARD[name])
    trace = solve(posed, solver, gap=1e-3, max_iter=300)
    assert trace.status in {"converged", "precision", "limit"}
    assert np.isfinite(trace.weights).all()
    assert np.isfinite(trace.dual).all()
    assert np.isfinite(trace.objective).all()
    assert np.isfinite(trace.lower_bound).all()
    assert trace.gap.min() >= -1e-9  # rounding, where C is huge and the optimum is not
    assert trace.objective.min() <= trace.objective[0] * (1 + 1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
def test_identical_kernels_end_at_the_optimum(solver: str) -> None:
    """The simplex over equal kernels is the plain SVM; other prices may tell one kernel from six."""
    X, y = blobs(20, 0.1, seed=21)
    alone, twins = (usual(solver, KernelBank.build(X, [Gaussian(widths=(1.0,) * k)]), y, 10.0) for k in (1, 6))
    one, six = (solve(posed, solver, gap=1e-6) for posed in (alone, twins))
    gap = max(one.gap[-1], six.gap[-1], 1e-6)
    assert gap <= 1e-2
    # stochastic methods stop at their limit of steps: then as exact as the certificate says
    assert six.best.objective == pytest.approx(conic_value(twins), rel=gap + 2e-6)
    if isinstance(twins.regularizer, Simplex):
        assert six.best.objective == pytest.approx(one.best.objective, rel=gap + 1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_solving_raises_what_went_wrong(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    certified = 0
    bound = Problem.lower_bound

    def breaks_after_the_start(*args: object, **options: object) -> float:
        nonlocal certified
        certified += 1
        if certified > 1:
            raise ZeroDivisionError("by hand")
        return bound(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Problem, "lower_bound", breaks_after_the_start)
    with pytest.raises(SolverError, match="broke down: ZeroDivisionError: by hand"):
        solve(usual_blobs(solver), solver)


def test_solve_refuses_limits_that_mean_nothing() -> None:
    for options in ({"gap": 0.0}, {"gap": float("nan")}, {"max_iter": 0}, {"max_seconds": -1.0}):
        with pytest.raises(ProblemError, match="positive"):
            solve(problem("blobs, C = 1"), "spg", **options)  # type: ignore[arg-type]
