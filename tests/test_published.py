"""Files for those who publish: what hosts, indexes and packagers read parses, and names what there is."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from test_requirements import asked_for, canonical

import mklviz as mv

ROOT = Path(__file__).resolve().parents[1]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
RECIPE = yaml.safe_load((ROOT / ".ci" / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
CONTAINER = (ROOT / ".ci" / "container" / "Containerfile").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def commands(workflow: Path) -> list[str]:
    """Return the lines that a workflow runs."""
    steps = [step for job in read(workflow)["jobs"].values() for step in job["steps"]]
    return [line for step in steps for line in step.get("run", "").splitlines()]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_names_files_that_there_are_and_may_do_no_more_than_it_needs(workflow: Path) -> None:
    known = read(workflow)
    assert known["permissions"] == {"contents": "read"}
    assert [name for name, job in known["jobs"].items() if "timeout-minutes" not in job] == []
    named = re.findall(r"(?<![\w/])(?:\.ci|tests|apps)[\w./-]*\w", "\n".join(commands(workflow)))
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_change_is_tested_on_three_systems_and_all_pythons_by_the_readme_s_command() -> None:
    tests = read(GITHUB / "workflows" / "tests.yml")
    matrix = tests["jobs"]["tested"]["strategy"]["matrix"]
    assert [system.split("-")[0] for system in matrix["os"]] == ["ubuntu", "macos", "windows"]
    assert matrix["python"] == PYTHONS
    readme = re.findall(r"^```bash\n(.*?)^```$", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)[1]
    for step in readme.strip().split(" && ")[1:]:
        assert step.replace(".venv-test/bin/", "") in commands(GITHUB / "workflows" / "tests.yml")
    others = tests["jobs"]["other-versions"]["strategy"]["matrix"]["include"]
    assert {each["versions"] for each in others} == {"newest", "oldest", "unreleased"}
    assert {each["python"] for each in others} == {PYTHONS[0], PYTHONS[-1]}


def test_bounds_that_are_lifted_weekly_are_those_of_the_project_but_for_their_ends() -> None:
    lines = (ROOT / ".ci" / "uncapped.txt").read_text(encoding="utf-8").splitlines()
    bounded = [line.partition(",")[0] for line in PROJECT["optional-dependencies"]["app"]]
    assert {line for line in lines if not line.startswith("#")} <= set(bounded)
    assert "--override .ci/uncapped.txt" in (GITHUB / "workflows" / "tests.yml").read_text(encoding="utf-8")


def test_a_release_is_published_without_a_password() -> None:
    release = read(GITHUB / "workflows" / "release.yml")["jobs"]["publish"]
    assert release["permissions"] == {"id-token": "write"}
    assert release["steps"][-1]["run"] == "uv publish --trusted-publishing always dist/*"
    assert "secrets." not in (GITHUB / "workflows" / "release.yml").read_text()


def test_forms_for_reports_can_be_filled_in() -> None:
    for form in (GITHUB / "ISSUE_TEMPLATE").glob("[bi]*.yml"):
        fields = [field for field in read(form)["body"] if field["type"] == "textarea"]
        assert fields
        assert all(field["attributes"]["label"] for field in fields)
        assert len({field["id"] for field in fields}) == len(fields)
    assert "(../CONTRIBUTING.md)" in (GITHUB / "pull_request_template.md").read_text()


def test_who_cites_finds_authors_and_version() -> None:
    cited = read(ROOT / "CITATION.cff")
    assert cited["authors"] == [{"name": "mklviz developers"}]
    assert (cited["version"], cited["license"]) == (mv.__version__, PROJECT["license"])
    assert {"cff-version", "message", "title"} <= set(cited)


def test_holes_are_reported_by_the_host_s_own_form_and_nobody_s_address() -> None:
    for name in ("SECURITY.md", "CODE_OF_CONDUCT.md"):
        text = (ROOT / name).read_text()
        assert "*Security*" in text
        assert "@" not in text


def test_the_recipe_asks_for_what_the_project_asks_for_and_tests_what_is_in_the_archive() -> None:
    assert RECIPE["context"]["version"] == mv.__version__
    steps = loaded("conda/steps.py")
    assert RECIPE["requirements"]["run"] == steps.requirements(), "write: python .ci/conda/steps.py requirements"
    names = {canonical(line.split()[0]) for line in steps.requirements()} - {"python"}
    assert asked_for({"app", "learn"}) | {"anywidget", "traitlets"} == names
    assert RECIPE["build"]["python"]["entry_points"] == [f"mklviz = {PROJECT['scripts']['mklviz']}"]
    for name in RECIPE["tests"][1]["files"]["source"]:
        assert (ROOT / name).exists()
    words = " ".join(RECIPE["tests"][1]["script"]).split()
    assert [word for word in words if word.startswith("tests/") and not (ROOT / word).is_file()] == []


def test_the_container_serves_by_a_user_who_is_not_root() -> None:
    steps = [line.split()[0] for line in CONTAINER.splitlines() if line and not line.startswith("#")]
    assert steps.index("USER") < steps.index("ENTRYPOINT")
    [installer] = re.findall(r"^RUN /opt/mklviz/sources/(\S+) ", CONTAINER, re.MULTILINE)
    for script in (installer, ".ci/container/try"):
        assert (ROOT / script).stat().st_mode & 0o100
    from mklviz.cli.commands import main

    words = re.search(r'^ENTRYPOINT \[".*/mklviz", "serve", (.*)\]$', CONTAINER, re.MULTILINE)
    assert words is not None
    with pytest.raises(SystemExit) as ended:
        main(["serve", *words[1].replace('"', "").split(", "), "--help"])
    assert ended.value.code == 0


def loaded(name: str) -> Any:
    """Return a module of `.ci`."""
    spec = importlib.util.spec_from_file_location("loaded", ROOT / ".ci" / name)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def addresses() -> Any:
    return loaded("addresses.py")


def test_what_an_index_shows_leads_into_the_repository(addresses: Any, tmp_path: Path) -> None:
    for name in ("pyproject.toml", "README.md"):
        (tmp_path / name).write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
    assert addresses.main(["https://host.example/owner/mklviz", "v0.1.0"], tmp_path) == 0
    urls = tomllib.loads((tmp_path / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    assert {"Repository", "Documentation", "Changelog", "Issues"} == set(urls)
    assert urls["Changelog"] == "https://host.example/owner/mklviz/blob/v0.1.0/CHANGELOG.md"
    before, after = ((folder / "README.md").read_text(encoding="utf-8") for folder in (ROOT, tmp_path))
    links = re.findall(r"\]\(([^)]+)\)", before)
    led = re.findall(r"\]\(([^)]+)\)", after)
    assert len(led) == len(links) > 5
    for link, there in zip(links, led, strict=True):
        kind = "raw" if link.endswith((".svg", ".png")) else "blob"
        assert there in (link, f"https://host.example/owner/mklviz/{kind}/v0.1.0/{link}")
        assert there.startswith(("https:", "http:", "#"))
    assert addresses.main([]) == 2


def test_the_benchmark_names_a_solver_of_each_kind_that_there_is() -> None:
    benchmark = ROOT / "benchmark_mkl"
    for folder, base in (("datasets", "Dataset"), ("solvers", "Solver"), (".", "Objective")):
        files = sorted((benchmark / folder).glob("*.py"))
        assert files
        for file in files:
            assert f"class {base}(Base{base}):" in file.read_text(encoding="utf-8")
    named = re.search(r'"method": \[(.*)\]', (benchmark / "solvers" / "of_mklviz.py").read_text(encoding="utf-8"))
    assert named is not None
    assert set(named[1].replace('"', "").split(", ")) <= set(mv.available_solvers())


def test_links_of_the_root_lead_to_pages_of_the_site(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / ".ci" / "docs"))
    import sources

    text = "See [a](README.md#set-up), [b](CHANGELOG.md), [c](apps/docs/runs.md) and [d](LICENSE)."
    assert sources.led(text) == "See a, [b](changelog.md), [c](runs.md) and d."
    assert set(sources.root_pages()) == {"changelog.md", "contributing.md"}


def test_every_picture_of_the_library_stands_on_its_page_and_has_a_dark_form() -> None:
    text = (ROOT / "apps" / "docs" / "plot.md").read_text(encoding="utf-8")
    shown = re.findall(r"^!\[mv\.plot\.\w+\]\(plots/(\w+)\.png\)$", text, re.MULTILINE)
    assert set(shown) == set(re.findall(r"^### (\w+)$", text, re.MULTILINE)) == set(mv.plot.__all__) - {"save"}
    for name in shown:
        for ending in ("", "-dark"):
            assert (ROOT / "apps" / "docs" / "plots" / f"{name}{ending}.png").stat().st_size < 150_000
