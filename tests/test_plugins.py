"""Plug-ins are found in their folders and in installed packages, and one that is broken takes no other with it."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

import mklviz as mv
import mklviz.solvers
from mklviz import plugins
from mklviz.cli.commands import main
from mklviz.errors import UnknownName

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

Save = Callable[[ModuleType, str, str], None]


@pytest.fixture
def save(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Save]:
    """Save a file as if it were in a plug-in folder; it is gone after the test."""
    monkeypatch.setattr(plugins, "_reasons", {})
    saved: list[str] = []

    def add(package: ModuleType, name: str, text: str) -> None:
        folder = tmp_path / package.__name__
        if not folder.exists():
            folder.mkdir()
            monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
        (folder / f"{name}.py").write_text(text)
        saved.append(f"{package.__name__}.{name}")

    yield add
    for module in saved:
        sys.modules.pop(module, None)


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


BROKEN = {
    "a typing error": ("x = 1\ndef f(:\n    pass\n", "SyntaxError in line 2, invalid syntax."),
    "a name that is not there": ("x = 1\ny = nobody\n", "NameError in line 2, name 'nobody' is not defined."),
    "a library that is not there": ("\n\nimport nowhere_7\n", "ModuleNotFoundError in line 3, No module named"),
    "one that ends the program": ("raise SystemExit(3)\n", "SystemExit in line 1, 3."),
    "nothing in it": ("", "it defines no Solver with a name_."),
    "a solver without a name": (SOLVER.replace('name_ = "idle"', ""), "it defines no Solver with a name_."),
    "a name that is taken": (SOLVER.replace('"idle"', '"level"'), "its name 'level' is already that of mklviz."),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_solver_is_named_in_a_sentence_and_the_others_work(save: Save, case: str) -> None:
    text, reason = BROKEN[case]
    before = mv.available_solvers()
    save(mklviz.solvers, "zebra", text)
    assert mv.available_solvers() == before
    (sentence,) = plugins.left_out()
    assert sentence.startswith(f"solvers/zebra.py is left out: {reason}")
    with pytest.raises(UnknownName, match=r"no solver called 'zebra'.*solvers/zebra\.py is left out"):
        mv.make_solver("zebra")


def test_lists_on_the_command_line_tell_what_is_left_out(save: Save, capsys: pytest.CaptureFixture[str]) -> None:
    save(mklviz.solvers, "zebra", "def f(:\n")
    assert main(["solvers"]) == 0
    out, err = capsys.readouterr()
    assert "level " in out
    assert err == "mklviz: solvers/zebra.py is left out: SyntaxError in line 1, invalid syntax.\n"
    assert main(["run", "--solvers", "zebra"]) == 2
    assert capsys.readouterr().err.count("solvers/zebra.py is left out") == 1


def test_the_page_opens_and_tells_what_is_left_out(save: Save) -> None:
    from mklviz.views.sidebar.sidebar import Sidebar

    save(mklviz.solvers, "zebra", "def f(:\n")
    sidebar = Sidebar()
    assert sidebar.left_out.visible
    assert "solvers/zebra.py is left out" in sidebar.left_out.object
    assert sidebar.blocked == ""


def test_a_page_without_a_broken_plug_in_has_no_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    from mklviz.views.sidebar.sidebar import Sidebar

    monkeypatch.setattr(plugins, "_reasons", {})
    assert not Sidebar().left_out.visible


def test_a_scenario_whose_solver_is_broken_opens_with_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    from mklviz.engine import solver_classes
    from mklviz.views.sidebar.sidebar import Sidebar

    others = {name: found for name, found in solver_classes().items() if name != "silp"}
    monkeypatch.setattr("mklviz.views.sidebar.solver_panel.solver_classes", lambda: others)
    chosen = [choice.name for choice in Sidebar("silp-oscillates").recipe().solvers]
    assert "level" in chosen
    assert "silp" not in chosen


def test_a_solver_that_breaks_when_asked_about_a_problem_is_not_offered(save: Save) -> None:
    from _problems import problem

    from mklviz.engine import why_not

    save(mklviz.solvers, "zebra", SOLVER.replace('return ""', "return problem.nothing"))
    posed = problem("noisy blobs, C = 10")
    assert "idle" in mv.available_solvers()
    assert "idle" not in mv.available_solvers(posed)
    assert why_not(mv.make_solver("idle"), posed).startswith("Idle broke down when asked about this problem (Attri")


# losses and regularizers

LOSS = '''
"""Hinge loss of another name."""
from dataclasses import dataclass
from typing import ClassVar
from mklviz.problem.losses.hinge import Hinge

@dataclass(frozen=True)
class Zebra(Hinge):
    """Errors that cost what they cost with the hinge loss."""
    name_: ClassVar[str] = "zebra-loss"
    label: ClassVar[str] = "zebra"
'''
REGULARIZER = '''
"""Linear penalty of another name."""
from dataclasses import dataclass
from typing import ClassVar
from mklviz.problem.regularizers._linear import LinearPenalty

@dataclass(frozen=True)
class Stripe(LinearPenalty):
    """Weights that cost toll each."""
    name_: ClassVar[str] = "stripe-penalty"
    label: ClassVar[str] = "stripe penalty"
    price_name: ClassVar[str] = "toll"
    price_of_weight: ClassVar[bool] = True
    toll: float = 1.0

    @property
    def price(self):
        return self.toll
'''


def test_a_loss_and_a_regularizer_are_one_file_each(save: Save, capsys: pytest.CaptureFixture[str]) -> None:
    import mklviz.problem.losses as losses
    import mklviz.problem.regularizers as regularizers
    from mklviz.views.sidebar.formulations import offered_regularizers
    from mklviz.views.sidebar.problem_panel import ProblemPanel

    offered_regularizers.cache_clear()
    save(losses, "zebra_loss", LOSS)
    save(regularizers, "stripe_penalty", REGULARIZER)
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert "zebra-loss" in told
    assert "stripe-penalty" in told
    panel = ProblemPanel()
    offered_regularizers.cache_clear()
    assert panel.loss.options["zebra"] == "zebra-loss"
    assert panel.weights.options["stripe penalty"] == "stripe-penalty"
    words = ["run", "--data", "two_moons", "--kernels", "gauss:0.5,1@all", "--solvers", "spg", "--gap", "1e-2"]
    assert main([*words, "--loss", "zebra-loss", "--regularizer", "stripe-penalty:toll=2", "--C", "10"]) == 0
    assert "converged" in capsys.readouterr().out
    data = mv.load_dataset("two_moons", n=40)
    bank = mv.KernelBank.build(data.X, [mv.Gaussian(widths=(0.5, 1.0))])
    own = mv.Problem(bank, data.y, mv.Zebra(C=10.0), mv.Stripe(toll=2.0))
    twin = mv.Problem(bank, data.y, mv.Hinge(C=10.0), mv.L1Penalty(sigma=2.0))
    assert mv.lambda_max(own) == pytest.approx(mv.lambda_max(twin))


# packages

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


def test_an_installed_package_adds_plug_ins(tmp_path: Path) -> None:
    site = tmp_path / "site"
    offline = ["--quiet", "--no-deps", "--no-index", "--disable-pip-version-check", "--target", str(site)]
    subprocess.run([sys.executable, "-m", "pip", "install", *offline, str(wheel(tmp_path))], check=True)
    program = f"import sys; sys.path.append({str(site)!r})\n{USE}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    lines = done.stdout.splitlines()
    assert lines[:2] == ["4 True", "True zebra.constant Lazy"]
    assert lines[2:] == ["zebra.broken (package zebra) is left out: SyntaxError in line 1, invalid syntax."]
