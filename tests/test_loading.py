"""What stays unloaded: a program starts at once and loads only what it needs."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache

import pytest
from _sources import ROOT, SCREEN, SOURCES, inside


@cache
def modules_after(program: str) -> frozenset[str]:
    """Return the modules loaded by a program run in a fresh interpreter."""
    script = f"{program}\nimport sys\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    return frozenset(done.stdout.splitlines())


def loaded_after(program: str) -> set[str]:
    """Return the top-level modules among them."""
    return {name.split(".")[0] for name in modules_after(program)}


def test_importing_mklviz_loads_next_to_nothing() -> None:
    assert loaded_after("import mklviz") & (SCREEN | {"numba", "scipy", "pandas", "sklearn", "numpy", "param"}) == set()


SOLVE = """
import numpy as np, mklviz as mv
X = np.random.default_rng(0).normal(size=(12, 2))
problem = mv.Problem(mv.paper_bank(X), np.where(X[:, 0] > 0, 1, -1), loss=mv.Hinge(C=1.0))
assert mv.solve(problem, "spg", gap=1e-2).status == "converged"
assert "iris" in mv.list_datasets()
"""
MODELLERS = {"cvxpy", "clarabel", "osqp", "quadprog", "sklearn", "MKLpy"}  # for tests and benchmarks alone


def test_a_solve_loads_no_screen_no_tables_and_no_program_solver_it_does_not_call() -> None:
    loaded = loaded_after(SOLVE)
    assert loaded & (SCREEN | MODELLERS | {"pandas", "highspy", "daqp"}) == set()
    assert {"numba", "scipy"} <= loaded


def test_a_solve_loads_no_part_of_scipy_that_its_problem_does_not_need() -> None:
    assert modules_after(SOLVE) & {"scipy.optimize", "scipy.special", "scipy.sparse", "scipy.stats"} == set()


def test_figures_know_neither_panel_nor_whoever_runs_a_solver() -> None:
    others = {"mklviz.views.race.race_figures", "mklviz.views.chart.svg_pictures"}  # who is handed a race
    charts = {name for name in SOURCES if inside(name, {"mklviz.views.chart"})}
    drawers = (charts | {name for name in SOURCES if re.search("[._](figures?|charts?)$", name)}) - others
    loaded = modules_after("; ".join(f"import {name}" for name in sorted(drawers)))
    assert {"mklviz.views.race.figures", "mklviz.views.geometry.map_chart"} <= loaded
    assert "panel" not in loaded
    sources = {name: SOURCES[name].read_text(encoding="utf-8") for name in drawers}
    assert [name for name in drawers if re.search("^(from|import) mklviz.engine", sources[name], re.MULTILINE)] == []


def test_a_logistic_problem_loads_its_functions_before_any_clock_runs() -> None:
    assert "scipy.special" in modules_after("import mklviz as mv; mv.Logistic(1.0)")
    assert "scipy.special" in modules_after("import mklviz as mv; mv.Entropy(1.0)")


def test_an_estimator_loads_no_screen() -> None:
    assert loaded_after("import mklviz as mv; mv.MKLClassifier()") & SCREEN == set()


def test_loading_data_needs_no_compiler() -> None:
    assert (
        loaded_after("import mklviz as mv; mv.load_dataset('iris')") & (SCREEN | {"numba", "scipy", "sklearn"}) == set()
    )


@pytest.mark.parametrize(
    ("words", "allowed"),
    [
        ("--help", set()),
        ("run --help", set()),
        ("completion bash", set()),
        ("datasets", {"numpy"}),
        ("datasets --json", {"numpy"}),
    ],
)
def test_help_and_lists_of_data_come_at_once(words: str, allowed: set[str]) -> None:
    program = f"import sys; from mklviz.cli.commands import main\ntry: main({words.split()!r})\nexcept SystemExit: pass"
    heavy = SCREEN | MODELLERS | {"numpy", "numba", "scipy", "pandas", "param", "highspy", "daqp"}
    assert loaded_after(program) & heavy == allowed
