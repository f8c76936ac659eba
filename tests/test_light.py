"""Without the screen's packages the library is whole, and what needs them says what to install."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from _sources import ROOT, SCREEN

import mklviz as mv
from mklviz.views.host.environment import PACKAGES

GONE = f"import sys; sys.modules.update(dict.fromkeys({sorted(SCREEN)}))\n"  # as if none of them were installed
ASKED = 'install mklviz with its extra, as in pip install ".[app]"'


def run(program: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", GONE + program, *words], cwd=ROOT, capture_output=True, text=True)


def command(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return run("from mklviz.cli import main; sys.exit(main(sys.argv[1:]))", *words)


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


@pytest.mark.parametrize(
    "words",
    [
        ["serve"],
        ["race", "--data", "heart", "--html", "race.html"],
        ["run", "--data", "heart", "--svg", "run.svg"],
        ["bench", "screen"],
    ],
)
def test_commands_that_draw_say_so_before_they_do_anything(words: list[str]) -> None:
    done = command(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("mklviz: The dashboard and its pictures stand on ")
    assert ASKED in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_extra_holds_what_is_missed_and_the_readme_installs_it() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = {
        name: {re.split(r"[^\w-]", entry)[0].replace("-", "_") for entry in entries}
        for name, entries in {**project["optional-dependencies"], "": project["dependencies"]}.items()
    }
    assert set(PACKAGES) == named["app"] - named["dask"]  # sweeps do without, in one process
    assert named["dask"] < named["app"]
    assert named["app"] & named[""] == set()
    assert '-c .ci/constraints.txt ".[app]" && .venv/bin/mklviz serve' in (ROOT / "README.md").read_text()
