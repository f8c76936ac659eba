"""What every solver promises, tried on every solver found: certified, feasible, repeatable, narrated, never nan."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import param
import pytest
from _conic import ACCURACY, optimum
from _problems import blobs, dense, problem, random_grams, small_bank

from mklviz.contract import Iterate, Solver
from mklviz.engine import available_solvers, make_solver, solve, solver_classes
from mklviz.errors import Interrupted, MklvizError, ProblemError, SolverError, UnknownName, UnsupportedProblem
from mklviz.problem import Gaussian, Hinge, KernelBank, L1Penalty, Problem, Simplex

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
]
STEPS = 40


def supported(solver: str, name: str) -> bool:
    return not make_solver(solver).supports(problem(name))


PAIRS = [pytest.param(s, p, id=f"{s}-{p}") for s in SOLVERS for p in PROBLEMS if supported(s, p)]
ON_BLOBS = "blobs, C = 100"


def steps(solver: Solver, posed: Problem, count: int = STEPS) -> list[Iterate]:
    return list(itertools.islice(solver.iterates(posed), count))


def same(left: Iterate, right: Iterate) -> bool:
    """Equal bit for bit; nan equals nan."""
    facts = list(left.facts) == list(right.facts) and all(
        a == b or (a != a and b != b) for a, b in zip(left.facts.values(), right.facts.values(), strict=True)
    )
    numbers = [(left.objective, right.objective), (left.lower_bound, right.lower_bound), (left.step, right.step)]
    return (
        facts
        and np.array_equal(left.weights, right.weights)
        and np.array_equal(left.dual, right.dual)
        and all(np.array_equal(a, b, equal_nan=True) for a, b in numbers)
        and left.svm_solves == right.svm_solves
    )


def test_the_six_methods_are_found() -> None:
    assert {"silp", "simplemkl", "level", "pgd", "spg", "newton"} <= set(SOLVERS)
    assert available_solvers() == SOLVERS


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
    assert contrast(found.colour, "#FFFFFF") >= 3.0
    assert contrast(found.colour_dark, "#121212") >= 3.0
    assert found.dash in {"solid", "dashed", "dotted", "dotdash", "dashdot"}
    assert found.__doc__
    assert make_solver(name).name == found.label


@pytest.mark.parametrize("attribute", ["label", "colour", "colour_dark", "marker"])
def test_no_two_solvers_look_alike(attribute: str) -> None:
    shown = [getattr(found, attribute) for found in solver_classes().values()]
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
    with pytest.raises(MklvizError, match="cannot take these options"):
        make_solver(name, seed=-1)


def test_unknown_solvers_are_refused_with_a_hint() -> None:
    with pytest.raises(UnknownName, match=r"no solver called 'levle'\. Did you mean level\?"):
        make_solver("levle")
    with pytest.raises(MklvizError, match="ready solver"):
        make_solver(make_solver("level"), seed=1)


# iterates


@pytest.mark.parametrize(("solver", "name"), PAIRS)
def test_iterates_are_certified_and_feasible(solver: str, name: str) -> None:
    posed, best = problem(name), optimum(name)
    found = steps(make_solver(solver), posed)
    slack = ACCURACY * abs(best)
    for iterate in found:
        assert iterate.weights.shape == (posed.m,)
        assert iterate.dual.shape == (posed.n,)
        assert np.isfinite(iterate.weights).all()
        assert np.isfinite(iterate.dual).all()
        assert iterate.weights.min() >= 0.0
        assert np.isfinite(posed.regularizer.value(iterate.weights))
        # the score belongs to the problem: sums in another order agree to 1e-9
        assert iterate.objective == pytest.approx(posed.objective(iterate.weights, iterate.dual), rel=1e-9)
        bound = posed.lower_bound(iterate.dual)  # refuses a dual point that is not feasible
        assert iterate.lower_bound == pytest.approx(bound, rel=1e-9, abs=1e-9 * iterate.dual.sum())
        assert iterate.lower_bound <= best + slack
        assert iterate.objective >= best - slack
        # rounding in sums of the size of 1'a
        assert iterate.gap >= -1e-12 * (1.0 + iterate.dual.sum() / abs(iterate.objective))


@pytest.mark.parametrize(("solver", "name"), PAIRS)
def test_iterates_start_at_the_start_count_solves_and_tell_facts(solver: str, name: str) -> None:
    posed = problem(name)
    found = steps(make_solver(solver), posed)
    np.testing.assert_array_equal(found[0].weights, posed.regularizer.start(posed.m))
    solves = [iterate.svm_solves for iterate in found]
    assert solves[0] >= 1
    assert solves == sorted(solves)
    for iterate in found:
        assert type(iterate.svm_solves) is int
        for number in (iterate.step, iterate.objective, iterate.lower_bound):
            assert isinstance(number, float)
        assert iterate.facts
        for key, value in iterate.facts.items():
            assert isinstance(key, str)
            assert isinstance(value, (float, str)), key


@pytest.mark.parametrize(("solver", "name"), PAIRS)
def test_every_step_is_narrated_in_sentences(solver: str, name: str) -> None:
    made = make_solver(solver)
    found = steps(made, problem(name))
    for before, after in itertools.pairwise([None, *found]):
        said = made.narrate(before, after)
        assert said.endswith(".")
        assert said[0].isupper() or said[0].isdigit()
        assert "nan" not in said.split()
        assert 10 < len(said) < 400


@pytest.mark.parametrize("solver", SOLVERS)
def test_same_seed_same_trace_bit_for_bit(solver: str) -> None:
    first = steps(make_solver(solver, seed=3), problem(ON_BLOBS))
    again = steps(make_solver(solver, seed=3), problem(ON_BLOBS))
    assert len(first) == len(again)
    assert all(same(a, b) for a, b in zip(first, again, strict=True))


@pytest.mark.parametrize("solver", SOLVERS)
def test_observers_may_write_into_what_they_get(solver: str) -> None:
    clean = steps(make_solver(solver), problem(ON_BLOBS))
    for expected, iterate in zip(clean, make_solver(solver).iterates(problem(ON_BLOBS)), strict=False):
        assert same(iterate, expected)
        iterate.weights[:] = np.nan
        iterate.dual[:] = np.nan


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_kept_iterate_does_not_change_later(solver: str) -> None:
    generator = make_solver(solver).iterates(problem(ON_BLOBS))
    first = next(generator)
    weights, dual = first.weights.copy(), first.dual.copy()
    list(itertools.islice(generator, STEPS))
    np.testing.assert_array_equal(first.weights, weights)
    np.testing.assert_array_equal(first.dual, dual)


@pytest.mark.parametrize("solver", SOLVERS)
def test_two_generators_of_one_solver_do_not_meet(solver: str) -> None:
    made = make_solver(solver)
    alone = steps(make_solver(solver), problem(ON_BLOBS), 10)
    pairs = zip(made.iterates(problem(ON_BLOBS)), made.iterates(problem("blobs, C = 1")), strict=False)
    for expected, (one, _) in zip(alone, pairs, strict=False):
        assert same(one, expected)


@pytest.mark.parametrize("solver", SOLVERS)
def test_permuting_kernels_permutes_weights(solver: str) -> None:
    posed = problem("three random Gram matrices")
    order = np.array([2, 0, 1])
    permuted = Problem(KernelBank.from_grams(dense(posed.bank)[order]), posed.y, posed.loss, posed.regularizer)
    straight = solve(posed, solver, gap=1e-6, max_iter=1000).final
    turned = solve(permuted, solver, gap=1e-6, max_iter=1000).final
    # a gap of 1e-6 leaves weights uncertain by its square root at worst
    np.testing.assert_allclose(turned.weights, straight.weights[order], atol=2e-3)
    assert turned.objective == pytest.approx(straight.objective, rel=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_cancelling_leaves_a_long_step_in_its_middle(solver: str) -> None:
    made = make_solver(solver)
    calls = 0

    def checkpoint() -> None:
        nonlocal calls
        calls += 1
        if calls > 3:
            raise Interrupted

    made.checkpoint = checkpoint
    with pytest.raises(Interrupted):
        list(itertools.islice(made.iterates(problem("separable blobs, C = 1000")), 100))


# problems a solver does not take


class Other:
    """A loss that is none of the known ones."""

    name_ = "other"
    label = "other"
    C = 1.0

    def check_targets(self, y: np.ndarray) -> None:
        pass


@pytest.mark.parametrize("solver", SOLVERS)
def test_unsupported_problems_are_refused_in_one_sentence(solver: str) -> None:
    posed = problem("blobs, C = 1")
    odd = Problem(posed.bank, posed.y, Other())  # type: ignore[arg-type]
    priced = Problem(posed.bank, posed.y, Hinge(1.0), L1Penalty(1.0))
    for asked in (odd, priced):
        why = make_solver(solver).supports(asked)
        if not why:
            continue
        assert why.endswith(".")
        assert why[0].isupper()
        assert solver not in available_solvers(asked)
        with pytest.raises(UnsupportedProblem, match="^" + why[:20]):
            next(make_solver(solver).iterates(asked))
        with pytest.raises(UnsupportedProblem):
            solve(asked, solver)
    assert make_solver(solver).supports(odd)
    assert not make_solver(solver).supports(posed)


# hard problems: never nan, never a hang


def hard_problems() -> Iterator[tuple[str, Problem]]:
    X, y = blobs(16, 0.2, seed=20)
    bank = small_bank(X)
    for regularizer in (Simplex(), L1Penalty(1.0)):
        kind = regularizer.label
        yield f"C = 1e-6, {kind}", Problem(bank, y, Hinge(1e-6), regularizer)
        yield f"C = 1e6, {kind}", Problem(bank, y, Hinge(1e6), regularizer)
        yield (
            f"one kernel, {kind}",
            Problem(KernelBank.build(X, [Gaussian(widths=(1.0,))]), y, Hinge(10.0), regularizer),
        )
        twins = KernelBank.build(X, [Gaussian(widths=(1.0,) * 5)])
        yield f"identical kernels, {kind}", Problem(twins, y, Hinge(100.0), regularizer)
        lonely = np.where(np.arange(16) == 3, 1.0, -1.0)
        yield f"one positive label, {kind}", Problem(bank, lonely, Hinge(10.0), regularizer)
        pair = KernelBank.build(X[:2], [Gaussian(on="all+each")])
        yield f"two samples, {kind}", Problem(pair, y[:2], Hinge(1e3), regularizer)
        flat = KernelBank.build(np.ones((10, 2)), [Gaussian(on="all+each")])
        yield f"one point ten times, {kind}", Problem(flat, y[:10], Hinge(10.0), regularizer)
        grams = random_grams(3, 16)
        mixed = KernelBank.from_grams([1e-8 * grams[0], grams[1], 1e6 * grams[2], np.zeros((16, 16))])
        yield f"kernels of all sizes and a zero one, {kind}", Problem(mixed, y, Hinge(1.0), regularizer)
        clash = KernelBank.build(np.vstack([X, X]), [Gaussian(), Gaussian(on="each")])
        yield f"every label contradicted, {kind}", Problem(clash, np.concatenate([y, -y]), Hinge(1e3), regularizer)


HARD = dict(hard_problems())


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("solver", SOLVERS)
def test_hard_problems_end_without_nan(solver: str, name: str) -> None:
    posed = HARD[name]
    if make_solver(solver).supports(posed):
        assert isinstance(posed.regularizer, L1Penalty)
        return
    trace = solve(posed, solver, gap=1e-3, max_iter=300)
    assert trace.status in {"converged", "limit"}
    assert np.isfinite(trace.weights).all()
    assert np.isfinite(trace.dual).all()
    assert np.isfinite(trace.objective).all()
    assert np.isfinite(trace.lower_bound).all()
    assert trace.gap.min() >= -1e-9  # rounding, where C is huge and the optimum is not
    assert trace.objective.min() <= trace.objective[0] * (1 + 1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
def test_identical_kernels_make_one_kernel(solver: str) -> None:
    """The simplex over equal kernels is the plain SVM."""
    X, y = blobs(20, 0.1, seed=21)
    alone = Problem(KernelBank.build(X, [Gaussian(widths=(1.0,))]), y, Hinge(10.0))
    twins = Problem(KernelBank.build(X, [Gaussian(widths=(1.0,) * 6)]), y, Hinge(10.0))
    one, six = (solve(posed, solver, gap=1e-6).final.objective for posed in (alone, twins))
    assert six == pytest.approx(one, rel=2e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_solving_raises_what_went_wrong(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("by hand")

    monkeypatch.setattr("mklviz.solvers._svm.InnerSvm.solve", broken)
    with pytest.raises(SolverError, match="broke down: ZeroDivisionError: by hand"):
        solve(problem(ON_BLOBS), solver)


def test_solve_refuses_limits_that_mean_nothing() -> None:
    for options in ({"gap": 0.0}, {"gap": float("nan")}, {"max_iter": 0}, {"max_seconds": -1.0}):
        with pytest.raises(ProblemError, match="positive"):
            solve(problem(ON_BLOBS), "spg", **options)  # type: ignore[arg-type]
