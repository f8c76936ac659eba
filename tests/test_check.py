"""`mklviz check`: what is shipped keeps its promises, and whoever breaks one is told which and how."""

import json
from pathlib import Path

import pytest
from _plugins import LOSS, REGULARIZER

from mklviz.check import KERNEL_PROMISES, LOSS_PROMISES, REGULARIZER_PROMISES, checked, plugins_in
from mklviz.cli.commands import main
from mklviz.kernels import kernel_families
from mklviz.problem import loss_families, regularizer_families

FRANK_WOLFE = '''
"""A step towards one corner of the simplex at a time."""
import numpy as np
from mklviz.contract import Solver
from mklviz.inner import SvmOracle, needs_hinge, refuse

class Mine(Solver):
    """Frank and Wolfe's method."""
    name_ = "mine"
    label = "Mine"
    paper = "Frank and Wolfe, 1956"

    def supports(self, problem):
        if problem.regularizer.name_ != "simplex":
            return "It moves between the corners of the simplex, so it needs weights that sum to one."
        return needs_hinge(problem, "It")

    def iterates(self, problem, start=None):
        refuse(self.refusal(problem))
        oracle = SvmOracle(problem, 1e-4)
        point = oracle.begin(start)
        yield oracle.iterate(point, step=0.0)
        t = 1
        while True:
            step = 2.0 / (t + 2.0)
            corner = np.eye(problem.m)[point.gradient.argmin()]
            point = oracle.solve(point.weights + step * (corner - point.weights))
            yield oracle.iterate(point, step)
            t += 1

    def narrate(self, before, after):
        return "It took a step towards a corner."
'''
FAMILY = '''
"""k(x, z) = (1 + tau x'z)."""
from dataclasses import dataclass
import numpy as np
from mklviz.kernels import KernelFamily

@dataclass(frozen=True)
class Affine(KernelFamily):
    """Affine kernels."""
    name_ = "affine"
    label = "affine"
    parameter = "slopes"
    slopes: tuple[float, ...] = (0.5, 2.0)

    def values(self):
        return self.slopes

    def base(self, left, right):
        return left @ right.T

    def profile(self, base, value):
        return 1.0 + value * base

    def describe(self, value):
        return f"affine {value:g}"
'''


def broken(path: Path, text: str) -> dict[str, str]:
    """The promises that the plug-in in a file of this text breaks, and how."""
    file = path / "mine.py"
    file.write_text(text)
    (plugin,) = plugins_in(str(file))
    return {outcome.promise: outcome.broken for outcome in checked(plugin) if outcome.broken}


KINDS = (
    (loss_families(), LOSS_PROMISES),
    (regularizer_families(), REGULARIZER_PROMISES),
    (kernel_families(), KERNEL_PROMISES),
)
SHIPPED = {
    f"{name}-{promise.__name__}": (promise, made)
    for families, promises in KINDS
    for name, made in families.items()
    for promise in promises
}


@pytest.mark.parametrize("case", SHIPPED)
def test_every_loss_regularizer_and_family_of_kernels_keeps_its_promises(case: str) -> None:
    promise, made = SHIPPED[case]
    assert promise(made) is None


@pytest.mark.full
@pytest.mark.parametrize("text", [FRANK_WOLFE, LOSS, REGULARIZER, FAMILY], ids=["solver", "loss", "price", "kernels"])
def test_a_sound_plug_in_breaks_no_promise(tmp_path: Path, text: str) -> None:
    assert broken(tmp_path, text) == {}


BROKEN = {
    "a bound that nothing proves": (
        FRANK_WOLFE,
        "yield oracle.iterate(point, step)",
        "i = oracle.iterate(point, step); yield type(i)(i.weights, i.dual, i.objective, 0.999 * i.objective, step,"
        " i.svm_solves, i.facts)",
        "Every iterate is feasible, and its bounds are those that the problem computes.",
        "On the problem “hinge, simplex”: Iterate 1: its bound is ",
    ),
    "an objective of its own": (
        FRANK_WOLFE,
        "yield oracle.iterate(point, step)",
        "i = oracle.iterate(point, step); yield type(i)(i.weights, i.dual, 1.01 * i.objective, i.lower_bound, step,"
        " i.svm_solves, i.facts, i.certificate, i.dual_bound)",
        "Every iterate is feasible, and its bounds are those that the problem computes.",
        "but problem.objective(weights, dual) is",
    ),
    "chance without the seed": (
        FRANK_WOLFE,
        "corner = np.eye(problem.m)[point.gradient.argmin()]",
        "corner = np.random.default_rng().dirichlet(np.ones(problem.m))",
        "The same seed gives the same iterates, bit for bit.",
        "two walks with the same seed differ",
    ),
    "no sentence": (
        FRANK_WOLFE,
        '"It took a step towards a corner."',
        '"step"',
        "Every step is narrated in one or two sentences.",
        "narrate says 'step', which is no sentence",
    ),
    "a refusal that is none": (
        FRANK_WOLFE,
        "refuse(self.refusal(problem))",
        "pass",
        "Problems it does not take are refused in one sentence, by supports and by iterates alike.",
        "but iterates goes ahead",
    ),
    "a favourite among the kernels": (
        FRANK_WOLFE,
        "point = oracle.begin(start)",
        "point = oracle.solve(np.eye(problem.m)[0])",
        "It starts at equal weights, counts its SVMs and tells facts.",
        "does not give all kernels the same weight",
    ),
    "a mistake": (
        FRANK_WOLFE,
        "t += 1",
        "t += nobody",
        "Every iterate is feasible, and its bounds are those that the problem computes.",
        "NameError, name 'nobody' is not defined, in line 29 of mine.py.",
    ),
    "no step at all": (
        FRANK_WOLFE,
        "refuse(self.refusal(problem))",
        "return",
        "It starts at equal weights, counts its SVMs and tells facts.",
        "iterates yields nothing",
    ),
    "nothing told": (
        FRANK_WOLFE,
        'return "It took a step towards a corner."',
        "return None",
        "Every step is narrated in one or two sentences.",
        "narrate returns None, no text.",
    ),
    "no word on what it supports": (
        FRANK_WOLFE,
        'return needs_hinge(problem, "It")',
        "return None",
        "Problems it does not take are refused in one sentence, by supports and by iterates alike.",
        "supports returns None",
    ),
    "a name that is taken": (
        FRANK_WOLFE,
        'name_ = "mine"',
        'name_ = "level"',
        "It can be made without arguments, under a name of its own.",
        "Its name 'level' is already that of mklviz.solvers.level.",
    ),
    "a conjugate of another loss": (
        LOSS,
        "- 0.5 * float(dual @ dual) / self.C",
        "- 0.4 * float(dual @ dual) / self.C",
        "dual_value is minus the conjugate",
        "should be zero",
    ),
    "a loss that is not convex": (
        LOSS,
        "0.5 * self.C * float((np.maximum(1.0 - y * decisions, 0.0) ** 2).sum())",
        "self.C * float(np.sqrt(np.maximum(1.0 - y * decisions, 0.0)).sum())",
        "The loss is never negative, and convex.",
        "it is not convex",
    ),
    "a gradient of another price": (
        REGULARIZER,
        "return self.toll * weights",
        "return 2 * self.toll * weights",
        "The gradient agrees with differences of the value.",
        "differences give the slope",
    ),
    "a proximal point that is none": (
        REGULARIZER,
        "np.maximum(weights, 0.0) / (1.0 + step * self.toll)",
        "np.maximum(weights, 0.0)",
        "No point of the domain is better than the proximal point.",
        "but another point gives",
    ),
    "a conjugate of another price": (
        REGULARIZER,
        "return 0.5 * float((np.maximum(slopes, 0.0) ** 2).sum()) / self.toll",
        "return 0.6 * float((np.maximum(slopes, 0.0) ** 2).sum()) / self.toll",
        "r(d) + r*(u) is never below d'u",
        "weights_from(s) attains",
    ),
    "a block form of another price": (
        REGULARIZER,
        "return 1.5 * self.toll * float(best @ best)",
        "return 1.4 * self.toll * float(best @ best)",
        "weights_from_norms attains the block form",
        "but block says",
    ),
    "a kernel that is none": (
        FAMILY,
        "return 1.0 + value * base",
        "return 1.0 - value * base",
        "Every matrix is finite, symmetric and positive semidefinite.",
        "has an eigenvalue -",
    ),
    "a base that is used up": (
        FAMILY,
        "return 1.0 + value * base",
        "base *= value; return 1.0 + base",
        "All values share one base",
        "profile writes into the base",
    ),
    "two kernels of one name": (
        FAMILY,
        'f"affine {value:g}"',
        '"affine"',
        "The class says what it is, and its kernels have names that differ.",
        "the same name",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_plug_in_that_breaks_a_promise_is_told_which_and_how(tmp_path: Path, case: str) -> None:
    text, right, wrong, promise, said = BROKEN[case]
    assert text.count(right) == 1
    found = broken(tmp_path, text.replace(right, wrong))
    assert said in next(how for kept, how in found.items() if kept.startswith(promise))


def test_the_command_says_for_each_promise_how_it_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.py"
    file.write_text(FAMILY)
    assert main(["check", str(file)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "6 of 6 promises are kept."
    file.write_text(FAMILY.replace('f"affine {value:g}"', '"affine"'))
    assert main(["check", str(file)]) == 1
    out = capsys.readouterr().out
    assert "  broken  The class says what it is, and its kernels have names that differ.\n" in out
    assert out.endswith("5 of 6 promises are kept.\n")
    assert main(["check", str(file), "--json"]) == 1
    (plugin,) = json.loads(capsys.readouterr().out)["plugins"]
    assert (plugin["kind"], plugin["name"]) == ("kernel family", "affine")
    assert [promise["kept"] for promise in plugin["promises"]] == [True, False, True, True, True, True]


def test_a_class_without_a_name_is_a_part_of_others_and_checked_only_where_there_is_no_other(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(FAMILY + "\nclass Shared(KernelFamily):\n    pass\n")
    assert [plugin.made.__name__ for plugin in plugins_in(str(file))] == ["Affine"]
    assert "has no name_" in next(iter(broken(tmp_path, FAMILY.replace('name_ = "affine"', "pass")).values()))


def test_a_module_can_be_checked_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "mklviz.kernels.families.inner_products"]) == 0
    assert "kernel family linear\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def f(:\n", "cannot be imported: SyntaxError in line 1"),
        ("\nimport no_such_module\n", "cannot be imported: ModuleNotFoundError in line 2"),
        ("x = 1\n", "defines nothing to check: a class derived from one of Solver"),
        (None, "There is no file"),
    ],
)
def test_a_file_with_nothing_to_check_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None, said: str
) -> None:
    file = tmp_path / "mine.py"
    if text is not None:
        file.write_text(text)
    assert main(["check", str(file)]) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""
