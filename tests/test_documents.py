"""What README, CONTRIBUTING, CHANGELOG and the CI script say is so."""

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator

import pytest
from _sources import ROOT, SOURCES
from test_architecture import tree

import mklviz as mv
from mklviz import contract, inner, reproduce
from mklviz.bench._suite import Suite
from mklviz.cli.commands import COMMANDS
from mklviz.contract import Facts, Solver
from mklviz.datasets import Dataset
from mklviz.engine import solver_classes
from mklviz.kernels import KernelFamily, ParametricKernel
from mklviz.problem import Loss, Regularizer
from mklviz.reproduce import PaperClaim
from mklviz.scenarios import Scenario
from mklviz.views.tabs import Tab

README, SCRIPT = (ROOT / "README.md").read_text(), (ROOT / ".ci" / "run").read_text()


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


def test_the_ci_script_looks_at_style_and_types_and_takes_the_test_command_from_the_readme_word_for_word() -> None:
    extract = re.search(r"^command=\$\((awk .* README\.md)\)$", SCRIPT, re.MULTILINE)
    found = subprocess.run(["bash", "-c", extract.group(1)], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout == blocks("bash")[1]
    places = [SCRIPT.index(step) for step in ("/ruff", "/mypy", 'bash -c "$command"', 'run_tests "')]
    assert places == sorted(places)


def test_the_ci_script_runs_what_the_readme_s_command_leaves_out() -> None:
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]["addopts"]
    left_out = re.fullmatch(r"not \((.+)\)", options[options.index("-m") + 1])
    kinds = " or ".join(re.findall(r'run_tests "([^"]+)"', SCRIPT)).split(" or ")
    chosen = [kind.removesuffix(" and not product") for kind in kinds]  # which is run before a release alone
    assert sorted([*chosen, "product"]) == sorted(left_out[1].split(" or "))


def are_files_of_tests(names: list[str]) -> bool:
    return bool(names) and all((ROOT / "tests" / f"test_{name}.py").exists() for name in names)


def test_the_ci_script_tests_what_computes_as_other_processors_round_and_its_coverage_with_the_compiler_off() -> None:
    assert ".ci/processors -n auto" in SCRIPT
    processors = (ROOT / ".ci" / "processors").read_text()
    groups = re.findall(r"^(?:inner|problem|solvers|learn)=\(([^)]+)\)", processors, re.MULTILINE)
    assert len(groups) == 4
    assert all(are_files_of_tests(group.split()) for group in groups)
    switched_off = r"^ *NUMBA_DISABLE_JIT=1 .* --cov .*\n +--cov-fail-under=(\d+) .*\n +tests/test_\{([\w,]+)\}\.py$"
    step = re.search(switched_off, SCRIPT, re.MULTILINE)
    assert 50 <= int(step[1]) <= 100
    assert are_files_of_tests(step[2].split(","))


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_and_pictures_lead_somewhere(name: str) -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", (ROOT / name).read_text())
    missing = [link for link in links if "://" not in link and not (ROOT / link).exists()]
    assert missing == []


def test_the_page_of_commands_has_them_all() -> None:
    page = (ROOT / "apps" / "docs" / "commands.md").read_text(encoding="utf-8")
    words = {line.split()[1] for line in re.split(r"\n| \| ", page) if line.startswith("mklviz ")}
    assert words == set(COMMANDS)


def test_the_changelog_has_what_is_unreleased_and_below_it_the_version_with_its_date() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    versions = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert versions[0] == "[Unreleased]"
    assert re.fullmatch(rf"\[{re.escape(mv.__version__)}\] - \d{{4}}-\d\d-\d\d", versions[1])
    headings = re.findall(r"^### (.+)$", text, re.MULTILINE)
    assert set(headings) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


BASES = (Dataset, KernelFamily, Loss, PaperClaim, ParametricKernel, Regularizer, Scenario, Solver, Suite, Tab)


def public_documents() -> set[str]:
    """Return the full names of public names, the contract and the bases of plug-ins, with their methods, and of facts.

    The contract asks every solver for an entry of each of its facts.
    """
    packages = (mv, mv.plot, contract, inner, reproduce)
    solver_classes()
    named = [getattr(package, name) for package in packages for name in package.__all__]
    facts = Facts.__subclasses__()
    things = [*BASES, *facts, *(kind for base in facts for kind in base.__subclasses__()), *named]
    classes = {base for thing in things if isinstance(thing, type) for base in thing.__mro__}
    methods = {
        f"{owner.__module__}.{owner.__qualname__}.{name}"
        for owner in classes
        for name in vars(owner)
        if not name.startswith("_")
    }
    return methods | {
        f"{thing.__module__}.{thing.__qualname__}" for thing in {*things, *classes} if hasattr(thing, "__qualname__")
    }


def documents(node: ast.AST, name: str) -> Iterator[tuple[str, str]]:
    """Yield the full name and the docstring of every class and function in a module."""
    for statement in getattr(node, "body", ()):
        if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{name}.{statement.name}", ast.get_docstring(statement) or ""
            yield from documents(statement, f"{name}.{statement.name}")


SECTION = re.compile(
    r"^(Parameters|Other Parameters|Returns|Yields|Raises|Warns|Attributes|Notes)\n-{3,}$", re.MULTILINE
)


def test_what_nobody_outside_reads_is_documented_by_a_sentence_and_types() -> None:
    public = public_documents()
    told = [named for module in SOURCES for named in documents(tree(module), module)]
    assert [name for name, text in told if SECTION.search(text) and name not in public] == []


def test_no_line_of_a_page_s_programs_is_a_bare_name_which_strict_type_checkers_refuse() -> None:
    for page in [ROOT / "README.md", *(ROOT / "apps/docs").rglob("*.md")]:
        for block in re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
            bare = [ast.unparse(node) for node in ast.walk(ast.parse(block)) if isinstance(node, ast.Expr)]
            assert not [text for text in bare if text.isidentifier()], page
