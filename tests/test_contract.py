"""What every solver promises, tried on every solver found: certified, feasible, repeatable, narrated, never nan.

A promise of `mklviz.check` returns nothing, and raises where it is broken.
"""

import io
import itertools
import re
from collections.abc import Callable, Sequence
from functools import cache

import pytest
from _conic import ACCURACY, conic_value, optimum
from _problems import FORMULATIONS, MAKERS, Array, blobs, formulate, problem, recorded

from mklviz.check import SOLVER_PROMISES
from mklviz.check.plugin import ends_without_nan, order_does_not_matter
from mklviz.check.problems import hard_inputs
from mklviz.check.solvers import bounds_are_certified, certified, narrated, on_blobs, refuses_in_a_sentence, steps
from mklviz.check.solvers import walk as first_steps
from mklviz.contract import Iterate, Solver
from mklviz.engine import available_solvers, make_solver, solve, solver_classes
from mklviz.engine.registry import style_of
from mklviz.errors import MklvizError, UnknownName, UnsupportedProblem
from mklviz.kernels import Gaussian, KernelBank
from mklviz.problem import Hinge, Loss, Problem, Simplex
from mklviz.record import Trace
from mklviz.views.look.palette import contrast

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
CONIC = 1e-6  # accuracy of the conic solver where it works on powers and exponentials


@cache
def posed_as(name: str) -> Problem:
    """The problem of that name, or blobs in the formulation of that name."""
    return problem(name) if name in MAKERS else on_blobs(name)


@cache
def best_value(name: str) -> tuple[float, float]:
    """The optimum of `posed_as(name)` from a conic solver, and how far it may be off."""
    value, accuracy = (optimum(name), ACCURACY) if name in MAKERS else (conic_value(posed_as(name)), CONIC)
    return value, accuracy * abs(value)


def supported(solver: str, name: str) -> bool:
    return not make_solver(solver).refusal(posed_as(name))


PAIRS = [pytest.param(s, p, id=f"{s}-{p}") for s in SOLVERS for p in PROBLEMS if supported(s, p)]
KINDS = {solver: [kind for kind in FORMULATIONS if supported(solver, kind)] for solver in SOLVERS}


@cache
def walk(solver: str, name: str) -> tuple[Iterate, ...]:
    """The first steps on that problem, taken once for all tests that only look at them."""
    if name in FORMULATIONS:
        return first_steps(solver_classes()[solver], name)
    return tuple(steps(make_solver(solver), posed_as(name)))


def in_a_file(found: Sequence[Iterate]) -> Trace:
    """Return these steps as they come back from a file."""
    file = io.BytesIO()
    recorded(*found).save(file)
    file.seek(0)
    return Trace.load(file)


def test_the_methods_are_found_and_unknown_ones_refused_with_a_hint() -> None:
    shipped = {"silp", "simplemkl", "level", "pgd", "spg", "newton", "closed-form", "smo-mkl", "spicymkl"}
    assert shipped <= set(SOLVERS)
    assert available_solvers() == SOLVERS
    with pytest.raises(UnknownName, match=r"no solver called 'levle'; did you mean level\?") as refused:
        make_solver("levle")
    assert isinstance(refused.value, KeyError)
    assert isinstance(refused.value, ValueError)
    with pytest.raises(MklvizError, match="ready solver"):
        make_solver(make_solver("level"), seed=1)


# classes


# what is certified is compared with a conic solver below
PROMISES = [*(each for each in SOLVER_PROMISES if each is not bounds_are_certified), order_does_not_matter]


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.__name__)
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_keeps_what_plug_ins_promise(solver: str, promise: Callable[[type[Solver]], None]) -> None:
    assert promise(solver_classes()[solver]) is None


@pytest.mark.parametrize("name", SOLVERS)
def test_class_attributes_are_filled(name: str) -> None:
    found = solver_classes()[name]
    assert found.name_ == name
    assert len(found.paper) > 20
    style = style_of(found)
    assert contrast(style.colour, "#FFFFFF") >= 3.0
    assert contrast(style.colour_dark, "#121212") >= 3.0
    assert style.dash in {"solid", "dashed", "dotted", "dotdash", "dashdot"}


def test_no_two_solvers_look_alike() -> None:
    labels = [found.label for found in solver_classes().values()]
    styles = [style_of(found) for found in solver_classes().values()]
    drawn = [(style.marker, style.dash) for style in styles]
    for shown in (labels, drawn, [style.colour for style in styles], [style.colour_dark for style in styles]):
        assert len(set(shown)) == len(shown)


@pytest.mark.parametrize("name", SOLVERS)
def test_option_values_out_of_bounds_and_unknown_options_are_refused(name: str) -> None:
    solver = make_solver(name)
    assert solver.options().keys() == {key for key in solver.param if key != "name"}
    with pytest.raises(MklvizError, match="has no option 'nothing'"):
        make_solver(name, nothing=1)
    with pytest.raises(MklvizError, match="cannot take seed=-1: it must be a whole number"):
        make_solver(name, seed=-1)


# iterates


@pytest.mark.each_value
@pytest.mark.parametrize(("solver", "name"), PAIRS)
def test_iterates_are_certified_and_feasible(solver: str, name: str) -> None:
    best, slack = best_value(name)
    certified(posed_as(name), walk(solver, name), best - slack, best + slack)


ROUGH = [s for s in SOLVERS if "svm_tolerance" in make_solver(s).param and supported(s, "blobs, C = 100")]


@pytest.mark.parametrize("solver", ROUGH)
def test_bounds_hold_however_roughly_svms_are_solved(solver: str) -> None:
    """The value that a rough SVM reports lies below J(d): a gap from it looks smaller than it is."""
    made = make_solver(solver)
    made.svm_tolerance = made.param.svm_tolerance.bounds[1]
    posed, best = problem("blobs, C = 100"), optimum("blobs, C = 100")
    for iterate in steps(made, posed):
        assert iterate.objective >= best * (1 - ACCURACY)
        assert iterate.lower_bound <= best * (1 + ACCURACY)


@pytest.mark.each_value("release")
@pytest.mark.parametrize(("solver", "name"), PAIRS)
def test_every_step_is_narrated_in_sentences_the_same_from_a_file(solver: str, name: str) -> None:
    made, found = make_solver(solver), walk(solver, name)
    narrated(made, found)
    for (before, after), saved in zip(
        itertools.pairwise([None, *found]), itertools.pairwise([None, *in_a_file(found)]), strict=True
    ):
        assert made.narrate(before, after) == made.narrate(*saved)


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
    posed = on_blobs(KINDS[solver][0], 1.0)
    odd = Problem(posed.bank, posed.y, Other())
    for asked in (odd, *(on_blobs(kind, 1.0) for kind in FORMULATIONS)):
        why = make_solver(solver).refusal(asked)
        assert (solver in available_solvers(asked)) == (not why)
        if why:
            refuses_in_a_sentence(make_solver(solver), asked)
            with pytest.raises(UnsupportedProblem, match=f"^{re.escape(why)}$"):
                solve(asked, solver)
    assert make_solver(solver).refusal(odd)
    assert not make_solver(solver).refusal(posed)


# hard problems: never nan, never a hang


HARD = {name: (bank, y, C) for name, bank, y, C in hard_inputs()}


@pytest.mark.each_value
@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize(("solver", "kind"), [(solver, kind) for solver in SOLVERS for kind in KINDS[solver]])
def test_hard_problems_end_without_nan(solver: str, kind: str, name: str) -> None:
    assert ends_without_nan(make_solver(solver), formulate(kind, *HARD[name])) is None


@pytest.mark.parametrize("solver", SOLVERS)
def test_identical_kernels_end_at_the_optimum(solver: str) -> None:
    """The simplex over equal kernels is the plain SVM; other prices may tell one kernel from six."""
    X, y = blobs(20, 0.1, seed=21)
    banks = (KernelBank.build(X, [Gaussian(widths=(1.0,) * k)]) for k in (1, 6))
    alone, twins = (formulate(KINDS[solver][0], bank, y, 10.0) for bank in banks)
    one, six = (solve(posed, solver, gap=1e-6) for posed in (alone, twins))
    gap = max(one.gap[-1], six.gap[-1], 1e-6)
    assert gap <= 1e-2
    # stochastic methods stop at their limit of steps: then as exact as the certificate says
    assert six.best.objective == pytest.approx(conic_value(twins), rel=gap + 2e-6)
    if isinstance(twins.regularizer, Simplex):
        assert six.best.objective == pytest.approx(one.best.objective, rel=gap + 1e-6)
