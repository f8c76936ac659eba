"""The script that looks whether the sources are ready to be released."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
CHANGELOG = (
    "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-11-22\n\n### Added\n\n- A thing.\n\n## [0.1.0] - 2026-01-01\n"
)


@pytest.fixture(scope="module")
def release() -> Any:
    spec = importlib.util.spec_from_file_location("release", ROOT / ".ci" / "release.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def ready(tmp_path: Path) -> Path:
    """Sources that are ready to be released as 0.2.0."""
    (tmp_path / "mklviz").mkdir()
    (tmp_path / "mklviz" / "_version.py").write_text('__version__ = "0.2.0"\n')
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "mklviz"\nversion = "0.2.0"\n')
    (tmp_path / "CITATION.cff").write_text("version: 0.2.0\n")
    (tmp_path / ".ci" / "conda").mkdir(parents=True)
    (tmp_path / ".ci" / "conda" / "recipe.yaml").write_text("context:\n  version: 0.2.0\n")
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "Everything")
    git(tmp_path, "tag", "v0.1.0")
    return tmp_path


def faults(release: Any, root: Path, version: str = "0.2.0") -> list[str]:
    found = (release.version_faults, release.changelog_faults, release.git_faults)
    return [fault for look in found for fault in look(root, version)]


def test_sources_that_are_ready_have_no_fault(release: Any, ready: Path) -> None:
    assert faults(release, ready) == []


def test_a_version_left_behind_is_named_with_its_place(release: Any, ready: Path) -> None:
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


def test_uncommitted_files_and_a_version_that_is_not_new_are_named(release: Any, ready: Path) -> None:
    (ready / "stray").touch()
    assert faults(release, ready) == ["There are uncommitted files; commit or remove them."]
    (ready / "stray").unlink()
    git(ready, "tag", "v0.10.0")
    assert faults(release, ready) == ["There is a tag v0.10.0; a new version must be higher."]


def test_a_release_that_is_not_ready_builds_nothing(release: Any, ready: Path, capsys: Any) -> None:
    (ready / "stray").touch()
    assert release.main(["0.2.0"], ready) == 1
    assert "Not ready: 1 to be put right." in capsys.readouterr().out
    assert not (ready / "dist").exists()


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
