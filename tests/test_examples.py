"""The examples of every public name, and the programs of README and the first pages, run as they stand."""

import ast
import doctest
import inspect
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _plugins import Save
from _problems import problem as named_problem
from _sources import ROOT

import mklviz as mv
import mklviz.solvers


def program(page: str) -> str:
    """Return the first block of Python on a page."""
    return re.findall(r"^```python\n(.*?)^```$", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)[0]


FRANK_WOLFE = program("apps/docs/howto/own-solver.md")


def test_the_ten_lines_run_as_they_stand() -> None:
    lines = program("README.md")
    assert len([line for line in lines.splitlines() if line]) == 10
    done = subprocess.run([sys.executable, "-c", lines], cwd=ROOT, capture_output=True, text=True, check=True)
    solved, accuracy, verdicts = done.stdout.splitlines()
    assert solved.startswith("The duality gap, ")
    assert float(accuracy.split()[-1]) > 0.8  # nine of ten, on this data set
    assert verdicts == "oscillates and stable"  # what it is all about


@pytest.mark.full
def test_the_other_formulations_run_as_they_stand() -> None:
    code = program("apps/docs/formulations.md")
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    accuracy, reason, parameters, active = done.stdout.split("\n", 3)
    assert float(accuracy.split()[-1]) > 0.9  # three classes that are almost linearly separable
    assert reason.startswith("The projected gradient, ")
    weights = ast.literal_eval(parameters)
    assert next(iter(weights)) == "constant"
    assert len(weights) == 5
    assert min(weights.values()) >= 0.0 < max(weights.values())
    counts = [int(count) for count in re.findall(r"\d+", active)]
    assert len(counts) == 20
    assert counts[0] <= 1 < counts[-1]  # no kernel at lambda_max, several at a thousandth of it


@pytest.mark.full
def test_the_estimators_run_as_they_stand() -> None:
    code = program("apps/docs/howto/scikit-learn.md")
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    accuracy, chosen = done.stdout.splitlines()
    assert float(accuracy.split()[-1]) > 0.58  # the share of the larger class
    _, C, weights = chosen.split(" ", 2)
    assert float(C) in (1.0, 10.0, 100.0)
    assert sum(ast.literal_eval(weights).values()) == pytest.approx(1.0, abs=0.05)  # rounded to two digits


@pytest.fixture
def frank_wolfe(save: Save) -> None:
    """The solver of its page, saved as the page says but in a folder that goes away again."""
    save(mklviz.solvers, "frank_wolfe", FRANK_WOLFE)


@pytest.mark.usefixtures("frank_wolfe")
def test_the_solver_of_the_page_is_found_and_solves() -> None:
    assert "frank-wolfe" in mv.available_solvers()
    problem = named_problem("noisy blobs, C = 10")
    trace = mv.solve(problem, "frank-wolfe", gap=0.02, max_iter=2000)
    assert trace.status == "converged"
    assert np.isclose(trace.weights.sum(axis=1), 1.0).all()
    assert trace.best.objective == pytest.approx(problem.objective(trace.best.weights, trace.best.dual))
    penalized = mv.Problem(problem.bank, problem.y, mv.Hinge(C=1.0), mv.L1Penalty(1.0))
    assert "frank-wolfe" not in mv.available_solvers(penalized)


@pytest.mark.full
def test_the_solver_of_the_page_passes_the_tests_that_all_solvers_pass(tmp_path: Path) -> None:
    told = tmp_path / "frank_wolfe-1.0.dist-info"
    told.mkdir()
    (tmp_path / "frank_wolfe.py").write_text(FRANK_WOLFE)
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: frank-wolfe\nVersion: 1.0\n")
    (told / "entry_points.txt").write_text("[mklviz.solvers]\nfrank-wolfe = frank_wolfe\n")
    chosen = "frank-wolfe or look_alike or methods_are_found"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests/test_contract.py", "-k", chosen]
    path = os.pathsep.join([str(ROOT), str(tmp_path)])
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 15  # type: ignore[index]


CALLBACKS = find_spec("sklearn.callback") is not None
STARTING = {"Processes", "SweepTable", "save_lab", "sweep"}  # whose examples start processes


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.full] * (n in STARTING)) for n in mv.__all__])
def test_the_example_of_a_public_name_says_what_it_prints(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "LiveRace" and not CALLBACKS:
        pytest.skip("scikit-learn has callbacks from 1.9 on")
    monkeypatch.chdir(tmp_path)
    thing: Any = getattr(mv, name)
    known = dict(vars(thing if inspect.ismodule(thing) else inspect.getmodule(thing)))
    example = doctest.DocTestParser().get_doctest(
        inspect.getdoc(thing) or "", known | {"mv": mv, "np": np}, name, None, 0
    )
    said: list[str] = []
    assert example.examples
    assert doctest.DocTestRunner().run(example, out=said.append).failed == 0, "".join(said)
