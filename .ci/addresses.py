"""Write where the sources are into what an index shows, just before archive and wheel are built.

    python .ci/addresses.py https://HOST/OWNER/REPOSITORY v0.2.0

The sources themselves name no owner. The release asks its host who that is: pyproject.toml gets `[project.urls]`, and
links of the README that lead to files of the repository lead there from everywhere.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"(!?)(\[(?:[^\[\]]|\[[^\]]*\])*\])\((?![a-z]+:|#)([^)]+)\)")


def main(words: list[str], root: Path = ROOT) -> int:
    """Write the addresses into both files; return 0, or 2 where the words are at fault."""
    if len(words) != 2 or not words[0].startswith("https://"):
        print("Say repository and tag, such as: python .ci/addresses.py https://HOST/OWNER/REPOSITORY v0.2.0")
        return 2
    repository, tag = words[0].rstrip("/"), words[1]
    project, readme = root / "pyproject.toml", root / "README.md"
    project.write_text(with_urls(project.read_text(encoding="utf-8"), repository, tag), encoding="utf-8")
    readme.write_text(with_addresses(readme.read_text(encoding="utf-8"), repository, tag), encoding="utf-8")
    return 0


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
