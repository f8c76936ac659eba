"""What stays unloaded: a program loads only what it needs, and without the screen's packages the library is whole."""

import re
import subprocess
import sys
import tomllib
from functools import cache

import pytest
from _sources import ROOT, SCREEN, SOURCES, inside

import mklviz as mv
from mklviz.views.host.environment import PACKAGES


@cache
def modules_after(program: str) -> frozenset[str]:
    """Return the modules loaded by a program run in a fresh interpreter."""
    script = f"{program}\nimport sys\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    return frozenset(done.stdout.splitlines())


def loaded_after(program: str) -> set[str]:
    """Return the top-level modules among them."""
    return {name.split(".")[0] for name in modules_after(program)}


COMPILED = {"numba", "scipy", "sklearn"}
LIGHT = {  # programs, and what they leave alone
    "import mklviz": SCREEN | COMPILED | {"pandas", "numpy", "param"},
    "import mklviz as mv; mv.load_dataset('iris')": SCREEN | COMPILED,
    # the server's front process only hands connections on
    "import mklviz.cli.commands, mklviz.server.front, mklviz.cli.arguments": SCREEN | COMPILED | {"numpy", "param"},
    "import mklviz as mv; mv.MKLClassifier()": SCREEN,
}


@pytest.mark.parametrize("program", [pytest.param(p, marks=[pytest.mark.full] * (LIGHT[p] == SCREEN)) for p in LIGHT])
def test_a_program_loads_nothing_that_it_does_not_need(program: str) -> None:
    assert loaded_after(program) & LIGHT[program] == set()


SOLVE = """
import numpy as np, mklviz as mv
X = np.random.default_rng(0).normal(size=(12, 2))
problem = mv.Problem(mv.paper_bank(X), np.where(X[:, 0] > 0, 1, -1), loss=mv.Hinge(C=1.0))
assert mv.solve(problem, "spg", gap=1e-2).status == "converged"
assert "iris" in mv.list_datasets()
"""
MODELLERS = {"cvxpy", "clarabel", "osqp", "sklearn", "MKLpy"}  # for tests and benchmarks alone


@pytest.mark.full
def test_a_solve_loads_no_more_than_it_calls_and_a_logistic_problem_its_functions_before_any_clock_runs() -> None:
    modules = modules_after(SOLVE)
    loaded = {name.split(".")[0] for name in modules}
    assert loaded & (SCREEN | MODELLERS | {"pandas", "daqp"}) == set()
    assert {"numba", "scipy"} <= loaded
    assert modules & {"scipy.optimize", "scipy.special", "scipy.sparse", "scipy.stats"} == set()  # for other problems
    assert "scipy.special" in modules_after("import mklviz as mv; mv.Logistic(1.0)")
    assert "scipy.special" in modules_after("import mklviz as mv; mv.Entropy(1.0)")


@pytest.mark.full
def test_figures_know_neither_panel_nor_whoever_runs_a_solver() -> None:
    others = {"mklviz.views.race.race_figures", "mklviz.views.chart.svg_pictures"}  # who is handed a race
    charts = {name for name in SOURCES if inside(name, {"mklviz.views.chart"})}
    drawers = (charts | {name for name in SOURCES if re.search("[._](figures?|charts?)$", name)}) - others
    loaded = modules_after("; ".join(f"import {name}" for name in sorted(drawers)))
    assert {"mklviz.views.race.figures", "mklviz.views.geometry.map_chart"} <= loaded
    assert "panel" not in loaded
    sources = {name: SOURCES[name].read_text(encoding="utf-8") for name in drawers}
    assert [name for name in drawers if re.search("^(from|import) mklviz.engine", sources[name], re.MULTILINE)] == []


def test_what_is_computed_of_a_race_needs_no_screen() -> None:
    """The numbers of maps, models and rules are of use without Panel and Bokeh; the tabs only draw them."""
    names = {name for name in SOURCES if inside(name, {"mklviz.analysis"})}
    modules = modules_after("; ".join(f"import {name}" for name in sorted(names)))
    assert names <= modules
    assert [name for name in modules if inside(name, SCREEN | {"mklviz.views"})] == []


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
    heavy = SCREEN | MODELLERS | {"numpy", "numba", "scipy", "pandas", "param", "daqp"}
    assert loaded_after(program) & heavy == allowed


GONE = f"import sys; sys.modules.update(dict.fromkeys({sorted(SCREEN)}))\n"  # as if none of them were installed
ASKED = 'install mklviz with its extra, as in pip install ".[app]"'


def run(program: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", GONE + program, *words], cwd=ROOT, capture_output=True, text=True)


@pytest.mark.full
def test_all_names_are_there_but_those_that_draw_which_say_what_to_install() -> None:
    done = run("""
import mklviz as mv
from mklviz.errors import MissingPackage
for name in mv.__all__:
    try:
        getattr(mv, name).anything
    except MissingPackage as error:
        print(name, error, sep=": ")
    except AttributeError:
        pass
""")
    assert done.returncode == 0, done.stderr
    said = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert set(said) == {"Explorer", "path_figure", "plot", "save_html", "save_lab"} <= set(mv.__all__)
    assert all(ASKED in sentence and "panel" in sentence for sentence in said.values())


@pytest.mark.full
def test_without_any_extra_names_are_listed_explained_and_imported_and_say_what_they_need_when_used() -> None:
    done = run("""
sys.modules["sklearn"] = None
import pydoc
import mklviz as mv
from mklviz.errors import MissingPackage
assert all(hasattr(mv, name) for name in mv.__all__)
assert "class MKLClassifier" in pydoc.plain(pydoc.render_doc(mv))
exec("from mklviz import *")
assert issubclass(MissingPackage, ImportError)
for use in (lambda: MKLClassifier("gauss:1"), lambda: plot.gap, lambda: Explorer(), lambda: MKLClassifierCV.fit):
    try:
        use()
    except MissingPackage as error:
        print(error)
""")
    assert done.returncode == 0, done.stderr
    estimator, picture, dashboard, search = done.stdout.splitlines()
    assert ASKED in picture == dashboard
    assert "stand on scikit-learn, which is not installed: pip install scikit-learn" in estimator == search


@pytest.mark.full
def test_solves_races_and_tables_need_no_screen() -> None:
    done = run("""
import mklviz as mv
train, test = mv.load_dataset("heart").split(train=0.2, seed=0)
bank = mv.KernelBank.build(train.X, [mv.Gaussian(widths=(1.0, 4.0))])
problem = mv.Problem(bank, train.y, mv.Hinge(C=10.0))
race = mv.race(problem, ["silp", "level"], gap=1e-2)
trace = race.traces["level"]
print(trace.status, len(trace.to_frame()) == len(trace), "<table" in trace._repr_html_())
""")
    assert done.stdout.split() == ["converged", "True", "True"], done.stderr


@pytest.mark.full
def test_commands_that_draw_say_so_before_they_do_anything() -> None:
    words = "serve", "race --data heart --html race.html", "run --data heart --svg run.svg", "bench screen"
    done = run("from mklviz.cli import main; sys.exit(*{main(each.split()) for each in sys.argv[1:]})", *words)
    assert (done.returncode, done.stdout) == (2, "")
    said = done.stderr.splitlines()
    assert len(said) == len(words)
    assert all(line.startswith("mklviz: The dashboard and its pictures stand on ") and ASKED in line for line in said)


def test_the_extra_holds_what_is_missed_and_the_readme_installs_it() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = {
        name: {re.split(r"[^\w-]", entry)[0].replace("-", "_") for entry in entries}
        for name, entries in {**project["optional-dependencies"], "": project["dependencies"]}.items()
    }
    # Bokeh brings Pillow, sweeps do without Dask, and tables without Excel
    assert {*PACKAGES, "pillow", "mklviz"} == named["app"] - named["dask"]
    assert named["dask"] < named["app"]
    assert named["app"] & named[""] == set()
    assert '-c .ci/constraints.txt ".[app]" && .venv/bin/mklviz serve' in (ROOT / "README.md").read_text()
