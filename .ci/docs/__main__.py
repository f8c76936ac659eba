"""Build the site: python .ci/docs [FOLDER], build/site unless another is named. A warning is an error."""

from __future__ import annotations

import sys
from pathlib import Path

import sources
from sphinx.cmd.build import build_main

HERE = Path(__file__).resolve().parent
BUILD = HERE.parents[1] / "build"


def main(folder: str = str(BUILD / "site")) -> int:
    """Put the pages together and build the site from them."""
    pages, beside = BUILD / "docs", BUILD / "beside"
    sources.gather(pages, beside)
    strict = ["-W", "--keep-going", "-E", "-q", "-d", str(BUILD / "doctrees")]
    return build_main([*strict, "-c", str(HERE), "-D", f"html_extra_path={beside}", str(pages), folder])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
