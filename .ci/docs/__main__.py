"""Build the site: python .ci/docs [FOLDER], build/site unless another is named. A warning is an error."""

from __future__ import annotations

import sys
from pathlib import Path

import sources
from sphinx.cmd.build import build_main

HERE = Path(__file__).resolve().parent


def main(folder: str = str(HERE.parents[1] / "build" / "site")) -> int:
    """Put the pages together beside the site, and build it from them."""
    parts = Path(f"{folder}-parts").absolute()
    sources.gather(parts / "pages", parts / "ready")
    strict = ["-W", "--keep-going", "-E", "-q"]
    places = ["-c", str(HERE), "-d", str(parts / "doctrees"), "-D", f"html_extra_path={parts / 'ready'}"]
    return build_main([*strict, *places, str(parts / "pages"), folder])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
