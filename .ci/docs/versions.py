"""Put the versions of the site beside each other: python .ci/docs/versions.py FOLDER

Each folder in FOLDER is the site of a version, such as 0.2.0, or of the main branch. Every one of them learns of the
others, for its menu, and FOLDER/index.html leads to the newest release, or to main where there is none. A host shows
FOLDER/404.html for an address that leads nowhere.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from packaging.version import Version

MAIN = "main"
NOT_FOUND = Path(__file__).with_name("not_found.html")


def link(folder: Path) -> list[str]:
    """Write the menu of versions into each site, and return their names, the newest first and main at the end."""
    sites = [site.parent.name for site in folder.glob("*/index.html")]
    releases = sorted((Version(name) for name in sites if name != MAIN), reverse=True)
    names = [*map(str, releases), *([MAIN] if MAIN in sites else [])]
    newest = next((f"{release}" for release in releases if not release.is_prerelease), names[-1])
    for name in names:
        menu = folder / name / "_static" / "versions.js"
        menu.write_text(f"window.versions = {json.dumps(names)};\n", encoding="utf-8")
    first = f'<!doctype html><title>mklviz</title><meta http-equiv="refresh" content="0; url={newest}/index.html">'
    (folder / "index.html").write_text(first, encoding="utf-8")
    missing = NOT_FOUND.read_text(encoding="utf-8").replace("VERSIONS", json.dumps(names))
    (folder / "404.html").write_text(missing, encoding="utf-8")
    return names


if __name__ == "__main__":
    print(*link(Path(sys.argv[1])), sep="\n")
