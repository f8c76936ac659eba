"""Write into the recipe what pyproject.toml asks for: python .ci/conda/requirements.py"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

RECIPE = Path(__file__).with_name("recipe.yaml")
PROJECT = RECIPE.parents[2] / "pyproject.toml"
EXTRAS = {"app": r"(?!mklviz\[)", "excel": "", "learn": "", "notebook": "anywidget|traitlets"}  # all of them, or some


def requirements() -> list[str]:
    """Return what the package needs to serve, to race in notebooks and to be an estimator."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    lines = [f"python{project['requires-python']}", *project["dependencies"]]
    for extra, some in EXTRAS.items():
        lines += [line for line in project["optional-dependencies"][extra] if re.match(some, line)]
    return [re.sub(r"(?<=\w)(?=[<>=])", " ", line, count=1) for line in lines]


if __name__ == "__main__":
    lines, text = "".join(f"    - {line}\n" for line in requirements()), RECIPE.read_text(encoding="utf-8")
    RECIPE.write_text(re.sub(r"(?<=\n  run:\n)(    - .*\n)+", lines, text), encoding="utf-8")
