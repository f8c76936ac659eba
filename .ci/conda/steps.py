"""Do what the recipe says, with pip's packages in an environment that goes away again.

python .ci/conda/steps.py dist/mklviz-0.2.0.tar.gz
python .ci/conda/steps.py requirements  # writes into the recipe what pyproject.toml asks for
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
from pathlib import Path
from typing import Any

import yaml

RECIPE = Path(__file__).with_name("recipe.yaml")
PROJECT = RECIPE.parents[2] / "pyproject.toml"
NOT_OF_PIP = {"python", "pip"}
EXTRAS = {"app": "", "learn": "", "notebook": "anywidget|traitlets"}  # all of them, or some


def main(words: list[str]) -> int:
    """Build from the archive and test what was built; return 0 where all went well."""
    text = RECIPE.read_text(encoding="utf-8")
    if words == ["requirements"]:
        lines = "".join(f"    - {line}\n" for line in requirements())
        RECIPE.write_text(re.sub(r"(?<=\n  run:\n)(    - .*\n)+", lines, text), encoding="utf-8")
        return 0
    recipe = yaml.safe_load(text)
    with tempfile.TemporaryDirectory() as folder:
        sources, tests = Path(folder, "sources"), Path(folder, "tests")
        with tarfile.open(words[0]) as archive:
            archive.extractall(sources, filter="data")
        [unpacked] = sources.iterdir()
        venv.create(Path(folder, "env"), with_pip=True)
        bin_folder = Path(folder, "env", "Scripts" if os.name == "nt" else "bin")
        environment = {**os.environ, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}
        environment.pop("PYTHONPATH", None)

        def run(command: str, where: Path) -> None:
            print(f"+ {command}", flush=True)
            subprocess.run(command, shell=True, cwd=where, env=environment, check=True)

        install(recipe["requirements"]["host"] + recipe["requirements"]["run"], run, unpacked)
        run(recipe["build"]["script"], unpacked)
        tests.mkdir()
        for test in recipe["tests"]:
            try_out(test, run, unpacked, tests)
    return 0


def requirements() -> list[str]:
    """Return what the package needs to serve, to race in notebooks and to be an estimator."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    lines = [f"python{project['requires-python']}", *project["dependencies"]]
    for extra, some in EXTRAS.items():
        lines += [line for line in project["optional-dependencies"][extra] if re.match(some, line)]
    return [re.sub(r"(?<=\w)(?=[<>=])", " ", line, count=1) for line in lines]


def install(needed: list[str], run: Any, where: Path) -> None:
    """Install what the recipe names, in versions that it allows."""
    packages = [f'"{name.replace(" ", "")}"' for name in needed if name.split()[0] not in NOT_OF_PIP]
    run(f"python -m pip install -q {' '.join(packages)}", where)


def try_out(test: dict[str, Any], run: Any, unpacked: Path, where: Path) -> None:
    """Do one of the recipe's tests, far from the sources but for the files that it names."""
    for name in test.get("python", {}).get("imports", []):
        run(f'python -c "import {name}"', where)
    if test.get("python", {}).get("pip_check"):
        run("python -m pip check", where)
    for name in test.get("files", {}).get("source", []):
        copy = shutil.copytree if name.endswith("/") else shutil.copy
        copy(unpacked / name, where / name)
    if "script" in test:
        install(test["requirements"]["run"], run, where)
    for command in test.get("script", []):
        run(command, where)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
