"""The examples of every public name, and the programs of README and the first pages, run as they stand."""

import doctest
import inspect
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


def test_the_solver_of_the_page_is_found_and_solves(save: Save) -> None:
    save(mklviz.solvers, "frank_wolfe", FRANK_WOLFE)  # as the page says, but in a folder that goes away again
    assert "frank-wolfe" in mv.available_solvers()
    problem = named_problem("noisy blobs, C = 10")
    trace = mv.solve(problem, "frank-wolfe", gap=0.02, max_iter=2000)
    assert trace.status == "converged"
    assert np.isclose(trace.weights.sum(axis=1), 1.0).all()
    assert trace.best.objective == pytest.approx(problem.objective(trace.best.weights, trace.best.dual))
    penalized = mv.Problem(problem.bank, problem.y, mv.Hinge(C=1.0), mv.L1Penalty(1.0))
    assert "frank-wolfe" not in mv.available_solvers(penalized)


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
