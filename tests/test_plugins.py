"""Plug-ins are found in their folders and in installed packages, and one that is broken takes no other with it."""

import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from _plugins import LOSS, REGULARIZER, Save

import mklviz as mv
import mklviz.problem.losses as losses
import mklviz.problem.regularizers as regularizers
import mklviz.scenarios as scenarios
import mklviz.solvers as solvers
import mklviz.views.tabs as tabs
from mklviz import plugins
from mklviz.cli.commands import main
from mklviz.errors import UnknownName
from mklviz.inner import choice
from mklviz.kernels import KernelFamily
from mklviz.problem import regularizer_families
from mklviz.problem.regularizers._regularizer import Penalty

ROOT = Path(__file__).resolve().parents[1]

SOLVER = '''
"""A method that stays where it is."""
from mklviz.contract import Solver
from mklviz.inner import SvmOracle

class Idle(Solver):
    """It never moves."""
    name_ = "idle"
    label = "Idle"
    paper = "Nobody, Nowhere"

    def supports(self, problem):
        return ""

    def iterates(self, problem, start=None):
        oracle = SvmOracle(problem, 1e-4)
        while True:
            yield oracle.iterate(oracle.solve(problem.regularizer.start(problem.m)), step=0.0)

    def narrate(self, before, after):
        return "It stayed."
'''


@pytest.mark.full
def test_nothing_that_is_shipped_is_left_out() -> None:
    program = """
from mklviz.datasets import list_datasets
from mklviz.engine import available_solvers
from mklviz.kernels import kernel_families
from mklviz.plugins import left_out
from mklviz.problem import loss_families, regularizer_families
from mklviz.scenarios import scenarios
found = list_datasets(), available_solvers(), kernel_families(), loss_families(), regularizer_families(), scenarios()
print(all(found), left_out())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.split() == ["True", "()"]


def test_a_solver_that_breaks_when_asked_about_a_problem_is_not_offered(save: Save) -> None:
    from _problems import problem

    from mklviz.engine import why_not

    save(solvers, "zebra", SOLVER.replace('return ""', "return problem.nothing"))
    posed = problem("noisy blobs, C = 10")
    assert "idle" in mv.available_solvers()
    assert "idle" not in mv.available_solvers(posed)
    assert why_not(mv.make_solver("idle"), posed).startswith("Idle broke down when asked about this problem (Attri")


def test_a_regularizer_without_its_formulas_is_unfit_and_so_is_a_kernel_family_without_a_profile() -> None:
    class Ridge(Penalty):
        name_ = "ridge"

        def value(self, weights: Any) -> float:
            return float(weights @ weights)

        def gradient(self, weights: Any) -> Any:
            return 2.0 * weights

    assert plugins.unfit(Ridge, {}) == "Ridge does not define block, conjugate, prox, weights_from, weights_from_norms."
    for made in regularizer_families().values():
        assert plugins.unfit(made, {}) == ""

    class Flat(KernelFamily):
        name_, parameter, widths = "flat", "widths", (1.0, 2.0)

        def base(self, left: Any, right: Any) -> Any:
            return np.ones((len(left), len(right)))

    with pytest.raises(NotImplementedError):
        Flat().profile(np.ones((2, 2)), 1.0)


SCENARIO = """
from mklviz.recipe import DataChoice, Recipe
from mklviz.scenarios import Scenario
SCENARIO = Scenario(name="zebra", title="Stripes", look_for="Nothing.", recipe=Recipe(data=DataChoice("sonar")))
"""

TAB = '''
"""NOTE: a tab that says one thing."""
import panel as pn
from mklviz.views.tabs import Tab

class Note(Tab):
    """A sentence."""
    title, order = "Note", 90

    def __init__(self):
        super().__init__()
        self.text = pn.pane.Str("Nothing to see.")

    def follow(self, session):
        self.text.object = f"Step {session.last_step}."

    def __panel__(self):
        return self.text
'''
BROKEN: dict[str, tuple[ModuleType, str, str]] = {
    "a typing error": (solvers, "x = 1\ndef f(:\n    pass\n", "SyntaxError in line 2, invalid syntax."),
    "a name that is not there": (solvers, "x = 1\ny = nobody\n", "NameError in line 2, name 'nobody' is not defined."),
    "a library that is not there": (solvers, "\n\nimport nowhere_7\n", "ModuleNotFoundError in line 3, No module"),
    "one that ends the program": (solvers, "raise SystemExit(3)\n", "SystemExit in line 1, 3."),
    "nothing in it": (solvers, "", "it defines no Solver with a name_."),
    "no name": (solvers, SOLVER.replace('name_ = "idle"', ""), "it defines no Solver with a name_."),
    "a solver's name": (solvers, SOLVER.replace('"idle"', '"level"'), "its name 'level' is already that of mklviz."),
    "no scenario": (scenarios, "", "it defines no SCENARIO."),
    "something else of that name": (scenarios, "SCENARIO = 3\n", "its SCENARIO is 3, not a Scenario."),
    "no such data": (scenarios, SCENARIO.replace("sonar", "nowhere"), "there is no data set 'nowhere'."),
    "a scenario's name": (scenarios, SCENARIO.replace("zebra", "three-groups"), "the name 'three-groups' is already"),
    "no tab": (tabs, "", "it defines no Tab."),
    "no title": (tabs, TAB.replace("title, order = ", "order, other = "), "Note does not define title."),
}
NAMES_OF: dict[ModuleType, Callable[[], Any]] = {
    solvers: mv.available_solvers,
    scenarios: lambda: [*scenarios.scenarios()],
    tabs: tabs.tab_classes,
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_plug_in_is_named_in_a_sentence_and_the_others_work(save: Save, case: str) -> None:
    package, text, reason = BROKEN[case]
    before = NAMES_OF[package]()
    save(package, "zebra", text)
    assert NAMES_OF[package]() == before
    (sentence,) = plugins.left_out()
    file = f"{package.__name__.rpartition('.')[2]}/zebra.py"
    assert sentence.startswith(f"{file} is left out: {reason}")
    if package is solvers:
        with pytest.raises(UnknownName, match=r"no solver called 'zebra'.*solvers/zebra\.py is left out"):
            mv.make_solver("zebra")


@pytest.mark.full
def test_broken_plug_ins_are_named_on_the_page_which_has_the_others(save: Save) -> None:
    from mklviz.views.explorer.explorer import Explorer

    known, titles = NAMES_OF[scenarios](), [tab.title for tab in NAMES_OF[tabs]()]
    for package in (scenarios, tabs):
        save(package, "zebra", "def f(:\n")
    explorer = Explorer()
    said = explorer.sidebar.left_out
    assert said.visible
    assert all(f"{name}/zebra.py is left out" in said.object for name in ("scenarios", "tabs"))
    assert list(explorer.sidebar.scenario.choice.offered.values()) == known
    assert explorer.sidebar.blocked == ""
    assert explorer.shell.strip._names[: len(titles)] == titles


@pytest.mark.parametrize("where", ["supports", "__init__", "follow"])
def test_a_tab_that_breaks_down_says_so_in_its_place(save: Save, no_log: None, where: str) -> None:
    from mklviz.views.explorer.shell import Shell
    from mklviz.views.session.session import Session

    begin = "    @classmethod\n    def supports(cls, session):\n        return ''\n\n    def __init__(self):"
    text = TAB.replace("    def __init__(self):", begin)
    line = next(line for line in text.splitlines() if f"def {where}(" in line)
    save(tabs, "zebra", text.replace(line, f"{line}\n        1 / 0"))
    shell = Shell(Session())
    shell.strip.active = len(shell.strip) - 1
    (said,) = shell.boxes[tabs.tab_classes()[-1]].objects
    assert "The tab Note broke down and stays empty (ZeroDivisionError: division by zero)." in said.object
    shell.tick(0.0)
    shell.strip.active = 0
    assert list(shell.tabs) == [tabs.tab_classes()[0]]


NAMES = """
[mklviz.solvers]
idle = zebra.idle
broken = zebra.broken
[mklviz.kernels]
constant = zebra.constant
[mklviz.datasets]
stripes = zebra.stripes
[mklviz.scenarios]
lazy = zebra.lazy
[mklviz.losses]
zebra-loss = zebra.loss
[mklviz.regularizers]
stripe-penalty = zebra.penalty
[mklviz.tabs]
note = zebra.note
"""
PARTS = {
    "__init__": "",
    "idle": SOLVER,
    "broken": "def f(:\n",
    "constant": """
from dataclasses import dataclass
from mklviz.kernels import Gaussian
@dataclass(frozen=True)
class Constant(Gaussian):
    name_ = "constant"
""",
    "stripes": """
import numpy as np
from mklviz.datasets import Dataset
def load(n=8):
    return Dataset("stripes", np.eye(n), np.resize([1.0, -1.0], n))
""",
    "lazy": """
from mklviz.recipe import DataChoice, Recipe, SolverChoice
from mklviz.scenarios import Scenario
race = Recipe(data=DataChoice("stripes"), solvers=(SolverChoice("idle"),))
SCENARIO = Scenario(name="lazy", title="Lazy", look_for="Nothing.", recipe=race)
""",
    "loss": LOSS,
    "penalty": REGULARIZER,
    "note": TAB,
}
USE = """
import sys
import mklviz as mv
from mklviz.kernels import kernel_families
from mklviz.plugins import left_out
from mklviz.scenarios import scenarios
data = mv.load_dataset("stripes")
problem = mv.Problem(mv.paper_bank(data.X), data.y)
print(len(mv.solve(problem, "idle", max_iter=3)), "idle" in mv.available_solvers(problem))
print("constant" in kernel_families(), mv.Constant.__module__, scenarios()["lazy"].title)
own = mv.Problem(problem.bank, data.y, mv.Zebra(C=1.0), mv.Stripe())
print(mv.solve(own, "spg", gap=1e-2).status, mv.Recipe.from_words("loss=zebra-loss").problem.loss.label)
from mklviz.views.session.session import Session
from mklviz.views.explorer.shell import Shell
shell = Shell(Session())
shell.strip.active = len(shell.strip) - 1
print(*[f"{type(tab).__module__} {tab.text.object}" for tab in shell.tabs.values() if hasattr(tab, "text")])
print(*left_out())
"""


def wheel(folder: Path) -> Path:
    """Write a wheel as a build would, which takes a zip archive and no build tool."""
    told = "zebra-1.0.dist-info"
    files = {f"zebra/{name}.py": text for name, text in PARTS.items()} | {
        f"{told}/METADATA": "Metadata-Version: 2.1\nName: zebra\nVersion: 1.0\n",
        f"{told}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{told}/entry_points.txt": NAMES,
    }
    files[f"{told}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{told}/RECORD"])
    path = folder / "zebra-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


@pytest.mark.full
def test_an_installed_package_adds_plug_ins(tmp_path: Path) -> None:
    site = tmp_path / "site"
    offline = ["--quiet", "--no-deps", "--no-index", "--disable-pip-version-check", "--target", str(site)]
    subprocess.run([sys.executable, "-m", "pip", "install", *offline, str(wheel(tmp_path))], check=True)
    program = f"import sys; sys.path.append({str(site)!r})\n{USE}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    lines = done.stdout.splitlines()
    assert lines[:2] == ["4 True", "True zebra.constant Lazy"]
    assert lines[2:4] == ["converged zebra", "zebra.note Step -1."]
    assert lines[4:] == ["zebra.broken (package zebra) is left out: SyntaxError in line 1, invalid syntax."]


@pytest.fixture
def own(save: Save) -> Iterator[None]:
    """Both files in their folders, and gone after the test, also from where their names are kept."""
    from mklviz.views.sidebar.problem_panel import offered_regularizers

    known = dict(choice.METHODS["matrix"])
    offered_regularizers.cache_clear()
    save(losses, "zebra_loss", LOSS)
    save(regularizers, "stripe_penalty", REGULARIZER)
    yield
    offered_regularizers.cache_clear()
    choice.METHODS["matrix"].clear()
    choice.METHODS["matrix"].update(known)


def posed(loss: str, regularizer: str) -> mv.Problem:
    data = mv.load_dataset("two_moons", n=40)
    bank = mv.KernelBank.build(data.X, [mv.Gaussian(widths=(0.5, 1.0, 2.0))])
    formulation = {"hinge": lambda: mv.Hinge(10.0, bias=False), "zebra": lambda: mv.Zebra(10.0)}
    norm = {"stripe": lambda: mv.Stripe(toll=2.0), "power": lambda: mv.PowerPenalty(2.0, 2.0), "simplex": mv.Simplex}
    return mv.Problem(bank, data.y, formulation[loss](), norm[regularizer]())


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize("solver", ["level", "simplemkl", "spg", "pgd", "closed-form"])
def test_a_loss_is_solved_by_the_inner_solver_it_registers(solver: str) -> None:
    problem = posed("zebra", "simplex")
    trace = mv.solve(problem, solver, gap=1e-4)
    assert trace.status == "converged"
    best = trace.best
    # the gap is the problem's own, so it proves the optimum whoever solved
    assert problem.gap(best.weights, best.dual) <= 2e-4
    assert best.objective == pytest.approx(mv.solve(problem, "spg", gap=1e-6).best.objective, rel=2e-4)


@pytest.mark.usefixtures("own")
def test_a_solver_made_for_another_loss_says_so() -> None:
    why = mv.make_solver("newton").supports(posed("zebra", "simplex"))
    assert "needs the hinge loss, not the zebra loss" in why
    assert "spicymkl" not in mv.available_solvers(posed("zebra", "simplex"))


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize("solver", ["spg", "pgd", "closed-form"])
def test_a_regularizer_of_one_file_is_solved_like_its_twin(solver: str) -> None:
    own, twin = (mv.solve(posed("hinge", norm), solver, gap=1e-5).best for norm in ("stripe", "power"))
    assert own.objective == pytest.approx(twin.objective, rel=2e-5)
    np.testing.assert_allclose(own.weights, twin.weights, rtol=2e-2)  # the square root of the gap


@pytest.mark.usefixtures("own")
def test_both_are_in_the_lists_the_help_the_words_of_a_recipe_and_the_sidebar(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from mklviz.views.sidebar.problem_panel import ProblemPanel

    monkeypatch.setenv("COLUMNS", "1000")
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    told = capsys.readouterr().out
    assert "zebra-loss" in told
    assert "stripe-penalty" in told
    assert main(["losses"]) == main(["regularizers"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "zebra-loss Squared hinge loss, which has no kinks. zebra-loss:C=1.0" in told
    assert "stripe-penalty Weights that cost half their square, times toll. stripe-penalty:toll=1.0" in told
    recipe = mv.Recipe.from_words("data=two_moons; loss=zebra-loss; regularizer=stripe-penalty:toll=2; C=10")
    assert recipe.problem.loss == mv.Zebra(10.0)
    assert mv.Recipe.from_words(recipe.to_words()) == recipe == mv.Recipe.from_json(recipe.to_json())
    words = ["run", "--data", "two_moons", "--kernels", "gauss:0.5,1@all", "--solvers", "spg", "--gap", "1e-2"]
    assert main([*words, "--loss", "zebra-loss", "--regularizer", "stripe-penalty:toll=2", "--C", "10"]) == 0
    assert "converged" in capsys.readouterr().out

    panel = ProblemPanel()
    assert panel.loss.options["zebra"] == "zebra-loss"
    assert panel.weights.options["stripe penalty"] == "stripe-penalty"
