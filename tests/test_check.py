"""`mklviz check`: what is shipped keeps its promises, and whoever breaks one is told which and how."""

import json
from pathlib import Path

import pytest
from _plugins import LOSS, REGULARIZER
from test_examples import program

from mklviz.check import KERNEL_PROMISES, LOSS_PROMISES, REGULARIZER_PROMISES, checked, plugins_in
from mklviz.cli.commands import main
from mklviz.kernels import kernel_families
from mklviz.problem import loss_families, regularizer_families

FRANK_WOLFE = program("apps/docs/howto/own-solver.md")
FAMILY = program("apps/docs/howto/own-kernel.md").partition("\n\ntrain, _")[0]  # the class, without its use


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


STEP = "yield oracle.iterate(point, step, FrankWolfeFacts(corner=problem.bank.names[steepest]))"
SAYS = 'return f"A step of {after.step:.2g} towards the kernel with the steepest slope, {corner}."'
OTHER = "i = oracle.iterate(point, step); yield type(i)(i.weights, i.dual, {}, step, i.svm_solves, i.facts{})"
LINE = FRANK_WOLFE.splitlines().index("            t += 1") + 1
RATIONAL = "return 1.0 / (1.0 + base / value**2)"
# by file and by what is broken: what stands there and what instead, the promise, and what is said
BROKEN = {
    FRANK_WOLFE: {
        "a bound that nothing proves": (
            *(STEP, OTHER.format("i.objective, 0.999 * i.objective", "")),
            *("Every iterate is feasible", "On the problem “hinge, simplex”: Iterate 1: its bound is "),
        ),
        "an objective of its own": (
            *(STEP, OTHER.format("1.01 * i.objective, i.lower_bound", ", i.certificate, i.dual_bound")),
            *("Every iterate is feasible", "but problem.objective(weights, dual) is"),
        ),
        "chance without the seed": (
            *("corner = np.eye(problem.m)[steepest]", "corner = np.random.default_rng().dirichlet(np.ones(problem.m))"),
            *("The same seed gives the same iterates", "two walks with the same seed differ"),
        ),
        "no sentence": (SAYS, 'return "step"', "Every step is narrated", "narrate says 'step', which is no sentence"),
        "a refusal that is none": (
            *("refuse(self.refusal(problem))", "pass"),
            *("Problems it does not take are refused in one sentence", "but iterates goes ahead"),
        ),
        "a favourite among the kernels": (
            *("point = oracle.begin(start)", "point = oracle.solve(np.eye(problem.m)[0])"),
            *("It starts at equal weights", "does not give all kernels the same weight"),
        ),
        "a mistake": (
            *("t += 1", "t += nobody", "Every iterate is feasible"),
            f"NameError, name 'nobody' is not defined, in line {LINE} of mine.py.",
        ),
        "no step at all": (
            *("refuse(self.refusal(problem))", "return", "It starts at equal weights", "iterates yields nothing"),
        ),
        "nothing told": (SAYS, "return None", "Every step is narrated", "narrate returns None, no text."),
        "no word on what it supports": (
            *('return needs_hinge(problem, "Frank-Wolfe")', "return None"),
            *("Problems it does not take are refused in one sentence", "supports returns None"),
        ),
        "a name that is taken": (
            *('name_ = "frank-wolfe"', 'name_ = "level"', "It can be made without arguments"),
            "Its name 'level' is already that of mklviz.solvers.level.",
        ),
    },
    LOSS: {
        "a conjugate of another loss": (
            *("- 0.5 * float(dual @ dual) / self.C", "- 0.4 * float(dual @ dual) / self.C"),
            *("dual_value is minus the conjugate", "should be zero"),
        ),
        "a loss that is not convex": (
            "0.5 * self.C * float((np.maximum(1.0 - y * decisions, 0.0) ** 2).sum())",
            "self.C * float(np.sqrt(np.maximum(1.0 - y * decisions, 0.0)).sum())",
            *("The loss is never negative, and convex.", "it is not convex"),
        ),
    },
    REGULARIZER: {
        "a gradient of another price": (
            *("return self.toll * weights", "return 2 * self.toll * weights"),
            *("The gradient agrees with differences of the value.", "differences give the slope"),
        ),
        "a proximal point that is none": (
            *("np.maximum(weights, 0.0) / (1.0 + step * self.toll)", "np.maximum(weights, 0.0)"),
            *("No point of the domain is better than the proximal point.", "but another point gives"),
        ),
        "a conjugate of another price": (
            *("return 0.5 * float((np.maximum(slopes", "return 0.6 * float((np.maximum(slopes"),
            *("r(d) + r*(u) is never below d'u", "weights_from(s) attains"),
        ),
        "a block form of another price": (
            *("return 1.5 * self.toll", "return 1.4 * self.toll"),
            *("weights_from_norms attains the block form", "but block says"),
        ),
    },
    FAMILY: {
        "a kernel that is none": (RATIONAL, "return 1.0 - base", "Every matrix is finite", "has an eigenvalue -"),
        "a base that is used up": (
            *(RATIONAL, "base /= value**2; return 1.0 / (1.0 + base)"),
            *("All values share one base", "profile writes into the base"),
        ),
        "two kernels of one name": (
            *('f"rational {value:g}"', '"rational"', "The class says what it is, and its kernels", "the same name"),
        ),
    },
}
CASES = {case: (text, *found) for text, cases in BROKEN.items() for case, found in cases.items()}


@pytest.mark.parametrize("case", CASES)
def test_a_plug_in_that_breaks_a_promise_is_told_which_and_how(tmp_path: Path, case: str) -> None:
    text, right, wrong, promise, said = CASES[case]
    assert text.count(right) == 1
    found = broken(tmp_path, text.replace(right, wrong))
    assert said in next(how for kept, how in found.items() if kept.startswith(promise))


def test_the_command_says_for_each_promise_of_a_file_or_module_how_it_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(FAMILY)
    assert main(["check", str(file)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "6 of 6 promises are kept."
    file.write_text(FAMILY.replace('f"rational {value:g}"', '"rational"'))
    assert main(["check", str(file)]) == 1
    out = capsys.readouterr().out
    assert "  broken  The class says what it is, and its kernels have names that differ.\n" in out
    assert out.endswith("5 of 6 promises are kept.\n")
    assert main(["check", str(file), "--json"]) == 1
    (plugin,) = json.loads(capsys.readouterr().out)["plugins"]
    assert (plugin["kind"], plugin["name"]) == ("kernel family", "rational")
    assert [promise["kept"] for promise in plugin["promises"]] == [True, False, True, True, True, True]
    assert main(["check", "mklviz.kernels.families.inner_products"]) == 0
    assert "kernel family linear\n" in capsys.readouterr().out


def test_a_class_without_a_name_is_a_part_of_others_and_checked_only_where_there_is_no_other(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(FAMILY + "\nclass Shared(KernelFamily):\n    pass\n")
    assert [plugin.made.__name__ for plugin in plugins_in(str(file))] == ["Rational"]
    nameless = FAMILY.replace('name_: ClassVar[str] = "rational"', "pass")
    assert "has no name_" in next(iter(broken(tmp_path, nameless).values()))


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
