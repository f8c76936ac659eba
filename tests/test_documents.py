"""What README, CONTRIBUTING, CHANGELOG and the CI script say is so."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _problems import problem as named_problem

import mklviz as mv
import mklviz.solvers
from mklviz.engine import KINDS, solver_classes

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    """Return the README's code blocks in `language`."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def test_there_are_two_setup_commands_of_one_line_each() -> None:
    serve, test = blocks("bash")
    for command, environment in ((serve, ".venv"), (test, ".venv-test")):
        assert command.count("\n") == 1
        steps = command.strip().split(" && ")
        assert steps[0] == f"python3 -m venv {environment}"
        assert steps[1].startswith(f"{environment}/bin/python -m pip install -c .ci/constraints.txt ")
    assert serve.strip().endswith("/bin/mklviz serve")
    assert test.strip().endswith("/bin/python -m pytest -n auto --dist loadfile")


def test_the_ci_script_takes_the_test_command_from_the_readme_word_for_word() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    extract = re.search(r"^command=\$\((awk .* README\.md)\)$", script, re.MULTILINE)
    assert extract is not None
    found = subprocess.run(["bash", "-c", extract.group(1)], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout == blocks("bash")[1]
    assert 'bash -c "$command"' in script


def test_the_ci_script_runs_what_the_readme_s_command_leaves_out() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]["addopts"]
    left_out = re.fullmatch(r"not \((.+)\)", options[options.index("-m") + 1])
    assert left_out is not None
    chosen = " or ".join(re.findall(r'run_tests "([^"]+)"', script))
    assert sorted(chosen.split(" or ")) == sorted(left_out[1].split(" or "))


def test_the_ci_script_looks_at_style_and_types_before_it_tests() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    places = [script.index(step) for step in ("/ruff", "/mypy", 'bash -c "$command"', 'run_tests "')]
    assert places == sorted(places)


def test_the_ci_script_asks_for_coverage_with_the_compiler_off() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    step = re.search(
        r"^NUMBA_DISABLE_JIT=1 .* --cov .*\n +--cov-fail-under=(\d+) .*\n +tests/test_\{([\w,]+)\}\.py$",
        script,
        re.MULTILINE,
    )
    assert step is not None
    assert 50 <= int(step[1]) <= 100
    assert [name for name in step[2].split(",") if not (ROOT / "tests" / f"test_{name}.py").exists()] == []


def test_the_ten_lines_run_as_they_stand() -> None:
    lines = blocks("python")[0]
    assert len([line for line in lines.splitlines() if line]) == 10
    done = subprocess.run([sys.executable, "-c", lines], cwd=ROOT, capture_output=True, text=True, check=True)
    solved, accuracy, verdicts = done.stdout.splitlines()
    assert solved.startswith("The duality gap, ")
    assert float(accuracy.split()[-1]) > 0.8  # nine of ten, on this data set
    assert verdicts == "oscillates and stable"  # what it is all about


def test_the_other_formulations_run_as_they_stand() -> None:
    done = subprocess.run(
        [sys.executable, "-c", blocks("python")[1]], cwd=ROOT, capture_output=True, text=True, check=True
    )
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


def test_the_estimators_run_as_they_stand() -> None:
    done = subprocess.run(
        [sys.executable, "-c", blocks("python")[2]], cwd=ROOT, capture_output=True, text=True, check=True
    )
    accuracy, chosen = done.stdout.splitlines()
    assert float(accuracy.split()[-1]) > 0.58  # the share of the larger class
    _, C, weights = chosen.split(" ", 2)
    assert float(C) in (1.0, 10.0, 100.0)
    assert sum(ast.literal_eval(weights).values()) == pytest.approx(1.0, abs=0.05)  # rounded to two digits


@pytest.fixture
def frank_wolfe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The README's solver, saved as the README says but in a folder that goes away again."""
    (tmp_path / "frank_wolfe.py").write_text(blocks("python")[3])
    monkeypatch.setattr(mklviz.solvers, "__path__", [*mklviz.solvers.__path__, str(tmp_path)])
    yield
    sys.modules.pop("mklviz.solvers.frank_wolfe", None)


@pytest.mark.usefixtures("frank_wolfe")
def test_the_readme_s_solver_is_found_and_solves() -> None:
    assert "frank-wolfe" in mv.available_solvers()
    problem = named_problem("noisy blobs, C = 10")
    trace = mv.solve(problem, "frank-wolfe", gap=0.02, max_iter=2000)
    assert trace.status == "converged"
    assert np.isclose(trace.weights.sum(axis=1), 1.0).all()
    assert trace.best.objective == pytest.approx(problem.objective(trace.best.weights, trace.best.dual))
    penalized = mv.Problem(problem.bank, problem.y, mv.Hinge(C=1.0), mv.L1Penalty(1.0))
    assert "frank-wolfe" not in mv.available_solvers(penalized)


@pytest.mark.full
def test_the_readme_s_solver_passes_the_tests_that_all_solvers_pass(tmp_path: Path) -> None:
    told = tmp_path / "frank_wolfe-1.0.dist-info"
    told.mkdir()
    (tmp_path / "frank_wolfe.py").write_text(blocks("python")[3])
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: frank-wolfe\nVersion: 1.0\n")
    (told / "entry_points.txt").write_text("[mklviz.solvers]\nfrank-wolfe = frank_wolfe\n")
    chosen = "frank-wolfe or look_alike or methods_are_found"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests/test_contract.py", "-k", chosen]
    path = os.pathsep.join([str(ROOT), str(tmp_path)])
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 20  # type: ignore[index]


def test_the_table_of_solvers_is_that_of_the_program() -> None:
    for kind in KINDS:
        assert f"| {kind.what} | {solver_classes()[kind.solver].label} | {kind.measured} |" in README


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_and_pictures_lead_somewhere(name: str) -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", (ROOT / name).read_text())
    missing = [link for link in links if "://" not in link and not (ROOT / link).exists()]
    assert missing == []


def test_every_command_of_the_readme_is_known() -> None:
    from mklviz.cli.commands import main

    words = {line.split()[1] for line in re.split(r"\n| \| ", blocks("text")[0]) if line.startswith("mklviz ")}
    lists = {"datasets", "losses", "regularizers", "solvers", "scenarios"}
    assert words == {"serve", "run", "race", "path", "check", "bench", "warmup", "completion"} | lists
    for word in words:
        with pytest.raises(SystemExit) as ended:
            main([word, "--help"])
        assert ended.value.code == 0


def test_constraints_are_names_and_exact_versions_of_everything_needed() -> None:
    lines = [line for line in (ROOT / ".ci" / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    pattern = r'[A-Za-z0-9._-]+==[0-9][0-9A-Za-z.]*(; python_version (<|>=) "3\.12")?'
    assert [line for line in lines if not re.fullmatch(pattern, line)] == []
    pinned = {_canonical(line.split("==")[0]) for line in lines}
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [
        *project["dependencies"],
        *(line for extra in project["optional-dependencies"].values() for line in extra),
    ]
    names = {_canonical(re.match(r"[A-Za-z0-9._-]+", line)[0]) for line in wanted} - {"mklviz"}  # type: ignore[index]
    assert names - pinned == set()


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_changelog_has_what_is_unreleased_and_below_it_the_version_with_its_date() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    versions = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert versions[0] == "[Unreleased]"
    assert re.fullmatch(rf"\[{re.escape(mv.__version__)}\] - \d{{4}}-\d\d-\d\d", versions[1])
    headings = re.findall(r"^### (.+)$", text, re.MULTILINE)
    assert set(headings) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
