"""Look whether the sources are ready to be released, and build what is released.

    python .ci/release.py 0.2.0
    python .ci/release.py https://HOST/OWNER/REPOSITORY v0.2.0

The first checks the version in all its places, the changelog, the tags and that nothing is uncommitted; then it builds
archive and wheel into dist/, and lets twine look at them where it is installed. It uploads nothing and tags nothing.

The second writes where the sources are into what an index shows, just before archive and wheel are built: the sources
themselves name no owner. The release asks its host who that is: pyproject.toml gets `[project.urls]`, and links of the
README that lead to files of the repository lead there from everywhere.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERSION = re.compile(r"\d+\.\d+\.\d+")
LINK = re.compile(r"(!?)(\[(?:[^\[\]]|\[[^\]]*\])*\])\((?![a-z]+:|#)([^)]+)\)")
PLACES = {  # of the version, each with the line that states it
    "pyproject.toml": r'^version = "(.*)"$',
    "mklviz/_version.py": r'^__version__ = "(.*)"$',
    "CITATION.cff": r"^version: (.*)$",
    ".ci/conda/recipe.yaml": r"^  version: (\d.*)$",
}
BY_HAND = """Ready. What is left to do by hand:
  .ci/run                                        all that is checked, on a clean copy
  .venv-test/bin/python -m pytest -m product     the tests that take too long for every change
  .venv-test/bin/mklviz reproduce --quick        all claims of the papers, on small data
  .ci/pythons                                    the same under the other Pythons, in tested and in newest versions
  git tag -a v{version} -m "mklviz {version}"
  git push origin v{version}               which the workflow of releases builds, tries and publishes
Then give pyproject.toml and mklviz/_version.py the next version."""


def main(words: list[str], root: Path = ROOT) -> int:
    """Say everything that is wrong, or build; return how many things are wrong. Or write addresses."""
    if len(words) == 2 and words[0].startswith("https://"):
        for name, written in (("pyproject.toml", with_urls), ("README.md", with_addresses)):
            text = (root / name).read_text(encoding="utf-8")
            (root / name).write_text(written(text, words[0].rstrip("/"), words[1]), encoding="utf-8")
        return 0
    if len(words) != 1 or not VERSION.fullmatch(words[0]):
        print("Say which version is released, such as: python .ci/release.py 0.2.0")
        return 2
    [version] = words
    wrong = [*version_faults(root, version), *changelog_faults(root, version), *git_faults(root, version)]
    wrong = wrong or build_faults(root, version)
    for fault in wrong:
        print(f"- {fault}")
    print(f"Not ready: {len(wrong)} to be put right." if wrong else BY_HAND.format(version=version))
    return len(wrong)


def version_faults(root: Path, version: str) -> Iterator[str]:
    """Say where another version stands."""
    for file, line in PLACES.items():
        match = re.search(line, (root / file).read_text(encoding="utf-8"), re.MULTILINE)
        stated = match[1] if match else "none"
        if stated != version:
            yield f"{file} has version {stated}; write {version}."


def changelog_faults(root: Path, version: str) -> Iterator[str]:
    """Say what the changelog lacks: a dated heading, words below it, and nothing left under Unreleased."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    sections = dict(zip(headings, re.split(r"^## .+\n", text, flags=re.MULTILINE)[1:], strict=True))
    if headings[:1] != ["[Unreleased]"]:
        yield "CHANGELOG.md does not begin with ## [Unreleased]."
    elif re.search(r"^- ", sections["[Unreleased]"], re.MULTILINE):
        yield f"CHANGELOG.md has lines under Unreleased; move them under ## [{version}] - YYYY-MM-DD."
    dated = [heading for heading in headings if re.fullmatch(rf"\[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d", heading)]
    if dated != headings[1:2]:
        yield f"CHANGELOG.md has no ## [{version}] - YYYY-MM-DD right below Unreleased."
    for heading in dated:
        lines = re.findall(r"^- .+$", sections[heading], re.MULTILINE)
        if not lines:
            yield f"CHANGELOG.md says nothing of {version}."
        begun = [line[:60] for line in lines]
        for begin in sorted({begin for begin in begun if begun.count(begin) > 1}):
            yield f"CHANGELOG.md has two lines that begin alike: {begin}"


def git_faults(root: Path, version: str) -> Iterator[str]:
    """Say what is uncommitted, and whether the version was released before."""
    if _git(root, "status", "--porcelain"):
        yield "There are uncommitted files; commit or remove them."
    tags = [tag[1:] for tag in _git(root, "tag", "--list", "v*").split() if VERSION.fullmatch(tag[1:])]
    if tags and max(map(_numbers, tags)) >= _numbers(version):
        yield f"There is a tag v{max(tags, key=_numbers)}; a new version must be higher."


def build_faults(root: Path, version: str) -> list[str]:
    """Build archive and wheel into dist/ and say what is wrong with them."""
    dist = root / "dist"
    done = subprocess.run(
        [sys.executable, "-m", "build", "--outdir", str(dist), str(root)], capture_output=True, text=True
    )
    if done.returncode:
        return [f"The build failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"]
    made = [dist / f"mklviz-{version}.tar.gz", dist / f"mklviz-{version}-py3-none-any.whl"]
    missing = [f"{file.name} was not built." for file in made if not file.is_file()]
    if missing or importlib.util.find_spec("twine") is None:
        return missing
    looked = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", *map(str, made)], capture_output=True, text=True
    )
    return [f"twine says:\n{looked.stdout}{looked.stderr}"] if looked.returncode else []


def _git(root: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True).stdout.strip()


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def with_urls(project: str, repository: str, tag: str) -> str:
    """Return the text of pyproject.toml with `[project.urls]` of a tag, before the table of its scripts."""
    urls = {
        "Repository": repository,
        "Documentation": f"{repository}/blob/{tag}/apps/docs/index.md",
        "Changelog": f"{repository}/blob/{tag}/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }
    table = "".join(f'{name} = "{address}"\n' for name, address in urls.items())
    return project.replace("[project.scripts]\n", f"[project.urls]\n{table}\n[project.scripts]\n", 1)


def with_addresses(readme: str, repository: str, tag: str) -> str:
    """Return a README whose links to files, pictures among them, lead into the repository at a tag."""

    def led(link: re.Match[str]) -> str:
        kind = "raw" if link[1] else "blob"
        return f"{link[1]}{link[2]}({repository}/{kind}/{tag}/{link[3]})"

    return LINK.sub(led, readme)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
