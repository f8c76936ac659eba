"""Files for those who publish: what hosts, indexes and packagers read, what is asked for, and what is ready."""

import importlib.util
import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
import yaml
from _sources import ROOT, SOURCES, inside
from test_architecture import imports

import mklviz as mv

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
RECIPE = yaml.safe_load((ROOT / ".ci" / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
CONTAINER = (ROOT / ".ci" / "container" / "Containerfile").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = {  # of the modules that need more than the light installation
    "mklviz.views.chart.pixels": {"pictures"},
    "mklviz.views.notebook.live_fit": {"learn", "notebook"},
    "mklviz.views": {"app", "notebook"},
    "mklviz.server": {"app"},
    "mklviz.analysis.decisions": {"app"},
    "mklviz.learn": {"learn"},
    "mklviz.bench": {"bench"},
    "mklviz.sweeps.dask_cluster": {"dask"},
    "mklviz.sweeps.local_cluster": {"dask"},
    "mklviz.kernels.storage.cluster": {"dask"},
    "mklviz.kernels.storage.shards": {"dask"},
    "mklviz.kernels.storage.disk": {"parquet"},
    "mklviz.datasets.covertype": {"learn"},
    "mklviz.datasets._read_binary": {"excel", "parquet"},
}
distributions = cache(packages_distributions)  # which reads what every installed package says of its files


def loaded(name: str) -> Any:
    """Return a module of `.ci`."""
    spec = importlib.util.spec_from_file_location("loaded", ROOT / ".ci" / name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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


def test_a_release_is_published_without_a_password_and_bounds_that_are_lifted_weekly_are_those_of_the_project() -> None:
    release = read(GITHUB / "workflows" / "release.yml")["jobs"]["publish"]
    assert release["permissions"] == {"id-token": "write"}
    assert release["steps"][-1]["run"] == "uv publish --trusted-publishing always dist/*"
    assert "secrets." not in (GITHUB / "workflows" / "release.yml").read_text()
    lines = (ROOT / ".ci" / "uncapped.txt").read_text(encoding="utf-8").splitlines()
    bounded = [line.partition(",")[0] for line in PROJECT["optional-dependencies"]["app"]]
    assert {line for line in lines if not line.startswith("#")} <= set(bounded)
    assert "--override .ci/uncapped.txt" in (GITHUB / "workflows" / "tests.yml").read_text(encoding="utf-8")


def test_forms_for_reports_can_be_filled_in_holes_are_reported_by_one_and_nobody_s_address_is_there() -> None:
    for form in (GITHUB / "ISSUE_TEMPLATE").glob("[bi]*.yml"):
        fields = [field for field in read(form)["body"] if field["type"] == "textarea"]
        assert len({field["id"] for field in fields}) == len(fields) > 0
        assert all(field["attributes"]["label"] for field in fields)
    assert "(../CONTRIBUTING.md)" in (GITHUB / "pull_request_template.md").read_text()
    for name in ("SECURITY.md", "CODE_OF_CONDUCT.md"):
        text = (ROOT / name).read_text()
        assert ("*Security*" in text, "@" in text) == (True, False)


def test_who_cites_finds_authors_and_version() -> None:
    cited = read(ROOT / "CITATION.cff")
    assert cited["authors"] == [{"name": "mklviz developers"}]
    assert (cited["version"], cited["license"]) == (mv.__version__, PROJECT["license"])
    assert {"cff-version", "message", "title"} <= set(cited)


def test_the_recipe_asks_for_what_the_project_asks_for_and_tests_what_is_in_the_archive() -> None:
    assert RECIPE["context"]["version"] == mv.__version__
    needed = loaded("conda/requirements.py").requirements()
    assert RECIPE["requirements"]["run"] == needed, "write: python .ci/conda/requirements.py"
    names = {canonical(line.split()[0]) for line in needed} - {"python"}
    assert asked_for(frozenset({"app", "learn"})) | {"anywidget", "traitlets"} == names
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
    with pytest.raises(SystemExit) as ended:
        main(["serve", *words[1].replace('"', "").split(", "), "--help"])
    assert ended.value.code == 0


@pytest.fixture(scope="module")
def release() -> Any:
    return loaded("release.py")


def test_what_an_index_shows_leads_into_the_repository(release: Any, tmp_path: Path) -> None:
    for name in ("pyproject.toml", "README.md"):
        (tmp_path / name).write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
    assert release.main(["https://host.example/owner/mklviz", "v0.1.0"], tmp_path) == 0
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


def test_the_benchmark_names_a_solver_of_each_kind_that_there_is() -> None:
    benchmark = ROOT / "benchmark_mkl"
    for folder, base in (("datasets", "Dataset"), ("solvers", "Solver"), (".", "Objective")):
        files = sorted((benchmark / folder).glob("*.py"))
        assert files
        for file in files:
            assert f"class {base}(Base{base}):" in file.read_text(encoding="utf-8")
    named = re.search(r'"method": \[(.*)\]', (benchmark / "solvers" / "of_mklviz.py").read_text(encoding="utf-8"))
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


# -- what modules import is asked for by name: another package may bring it no more


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@cache
def asked_for(extras: frozenset[str]) -> set[str]:
    """Return the names that the light installation asks for, and some extras with those that they include."""
    names, lines = set(), list(PROJECT["dependencies"])
    for extra in extras:
        lines += PROJECT["optional-dependencies"][extra]
    for line in lines:
        name, included = re.fullmatch(r"([\w.-]+)(?:\[([\w,]+)\])?.*", line).groups()  # type: ignore[union-attr]
        names |= asked_for(frozenset(included.split(","))) if name == "mklviz" else {canonical(name)}
    return names


@pytest.mark.full
def test_every_package_that_is_imported_is_asked_for() -> None:
    missing = {}
    for name in SOURCES:
        extras = next((extras for room, extras in EXTRAS.items() if inside(name, {room})), set())
        tops = {imported.split(".")[0] for imported in imports(name)} - sys.stdlib_module_names - {"mklviz"}
        missing[name] = {canonical(distributions().get(top, [top])[0]) for top in tops} - asked_for(frozenset(extras))
    assert {name: packages for name, packages in missing.items() if packages} == {}


def pins(name: str) -> list[str]:
    """Return the lines of a file of exact versions, which must be such."""
    lines = [line for line in (ROOT / ".ci" / name).read_text().splitlines() if not line.startswith("#")]
    pattern = r'[A-Za-z0-9._-]+==[0-9][0-9A-Za-z.]*(; python_version (<|>=) "3\.12")?'
    assert [line for line in lines if not re.fullmatch(pattern, line)] == []
    return [line.split("==")[0] for line in lines]


def test_constraints_are_names_and_exact_versions_of_everything_needed() -> None:
    pinned = {canonical(name) for name in pins("constraints.txt")}
    assert asked_for(frozenset(PROJECT["optional-dependencies"])) - pinned == set()


def test_marimo_is_pinned_in_an_environment_of_its_own_before_its_browser_test() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    others = (ROOT / ".ci" / "constraints.txt").read_text() + (ROOT / "pyproject.toml").read_text()
    assert [name for name in pins("marimo.txt") if re.search(rf"\b{name}\b[=>]", others)] == []
    steps = ('venv "$work/marimo"', ".ci/marimo.txt", 'export MKLVIZ_MARIMO="$work/marimo', 'run_tests "browser')
    places = [script.index(step) for step in steps]
    assert places == sorted(places)


# -- whether the sources are ready to be released

CHANGELOG = (
    "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-11-22\n\n### Added\n\n- A thing.\n\n## [0.1.0] - 2026-01-01\n"
)


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def ready(tmp_path: Path) -> Path:
    """Sources that are ready to be released as 0.2.0."""
    files = {
        "mklviz/_version.py": '__version__ = "0.2.0"\n',
        "pyproject.toml": '[project]\nname = "mklviz"\nversion = "0.2.0"\n',
        "CITATION.cff": "version: 0.2.0\n",
        ".ci/conda/recipe.yaml": "context:\n  version: 0.2.0\n",
        "CHANGELOG.md": CHANGELOG,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "Everything"], ["tag", "v0.1.0"]):
        git(tmp_path, *words)
    return tmp_path


def faults(release: Any, root: Path, version: str = "0.2.0") -> list[str]:
    found = (release.version_faults, release.changelog_faults, release.git_faults)
    return [fault for look in found for fault in look(root, version)]


def test_what_is_not_ready_to_be_released_is_named_and_builds_nothing(release: Any, ready: Path, capsys: Any) -> None:
    assert faults(release, ready) == []
    (ready / "stray").touch()
    assert faults(release, ready) == ["There are uncommitted files; commit or remove them."]
    assert release.main(["0.2.0"], ready) == 1
    assert "Not ready: 1 to be put right." in capsys.readouterr().out
    assert not (ready / "dist").exists()
    (ready / "stray").unlink()
    git(ready, "tag", "v0.10.0")
    assert faults(release, ready) == ["There is a tag v0.10.0; a new version must be higher."]
    (ready / "pyproject.toml").write_text('[project]\nname = "mklviz"\nversion = "0.1.0"\n')
    assert "pyproject.toml has version 0.1.0; write 0.2.0." in faults(release, ready)
    assert [fault for fault in faults(release, ready, "0.3.0") if fault.startswith("mklviz/_version.py has")]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("## [Unreleased]\n", "## [Unreleased]\n\n- Not yet moved.\n", "has lines under Unreleased"),
        ("## [Unreleased]\n\n", "", "does not begin with"),
        ("## [0.2.0] - 2026-11-22", "## [0.2.0]", "right below Unreleased"),
        ("- A thing.\n", "", "says nothing of 0.2.0"),
        ("- A thing.\n", "- A thing.\n- A thing.\n", "begin alike: - A thing."),
    ],
)
def test_what_the_changelog_lacks_is_said(release: Any, ready: Path, old: str, new: str, said: str) -> None:
    (ready / "CHANGELOG.md").write_text(CHANGELOG.replace(old, new))
    assert [fault for fault in release.changelog_faults(ready, "0.2.0") if said in fault]


def test_without_a_version_it_says_how_it_is_called(release: Any, capsys: Any) -> None:
    for words in ([], ["next"], ["0.2.0", "0.3.0"]):
        assert release.main(words) == 2
        assert "python .ci/release.py 0.2.0" in capsys.readouterr().out


@pytest.mark.packaging
def test_what_is_ready_is_built_and_told_what_is_left(release: Any, ready: Path, capsys: Any) -> None:
    (ready / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["setuptools>=77"]\nbuild-backend = "setuptools.build_meta"\n'
        '[project]\nname = "mklviz"\nversion = "0.2.0"\n[tool.setuptools]\npackages = ["mklviz"]\n'
    )
    (ready / ".gitignore").write_text("dist/\n*.egg-info/\nbuild/\n")
    git(ready, "add", ".")
    git(ready, "commit", "--quiet", "-m", "A build")
    assert release.main(["0.2.0"], ready) == 0, capsys.readouterr().out
    assert "git tag -a v0.2.0" in capsys.readouterr().out
    assert len(list((ready / "dist").iterdir())) == 2
