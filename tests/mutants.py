"""Do the tests notice? One operator, comparison, max or min is turned round at a time, drawn at random.

    python tests/mutants.py --count 40 --seed 0

Each mutant stands in a copy of the tree, against the quick tests of the files nearest to its module: those called
like it, those that import or name it, then those that import it over the fewest steps; all quick tests for each mutant
would take hours. A mutant that breaks a test, or keeps the tests busy for ever, is caught. Survivors are printed with
their line; some of them change nothing that matters, and the others want a test (DeMillo, Lipton, Sayward, Hints on
test data selection, Computer 11, 1978). It needs the tests, so it stands beside them.
"""

import argparse
import ast
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

__all__ = ["Mutant", "draw", "main", "mutants_of", "nearest_tests"]

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("solvers", "mklviz/inner", "mklviz/engine", "mklviz/record", "mklviz/recipe", "mklviz/views", "datasets")
TURNED: dict[type[ast.AST], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "/",
    ast.Div: "*",
    ast.Lt: ">=",
    ast.GtE: "<",
    ast.Gt: "<=",
    ast.LtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
}
SWAPPED = {"max": "min", "min": "max", "maximum": "minimum", "minimum": "maximum"}
FILES = 12  # of tests for one mutant
PATIENCE = 600  # seconds of CPU time after which a mutant counts as one that never ends


@dataclass(frozen=True)
class Mutant:
    """One change: `old` at `start` of the file's text becomes `new`."""

    file: str
    start: int
    old: str
    new: str

    def apply(self, text: str) -> str:
        assert text.startswith(self.old, self.start)
        return text[: self.start] + self.new + text[self.start + len(self.old) :]

    def describe(self, text: str) -> str:
        line = text.count("\n", 0, self.start)
        return f"{self.file}:{line + 1}: {self.old} -> {self.new}    {text.splitlines()[line].strip()}"


def mutants_of(file: str, text: str) -> list[Mutant]:
    """Return every change that can be made to a module."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.BinOp) and type(node.op) in TURNED and not _of_words(node):
            found.append(_between(file, text, node.left, node.right, node.op))
        if isinstance(node, ast.Compare) and type(node.ops[0]) in TURNED:
            found.append(_between(file, text, node.left, node.comparators[0], node.ops[0]))
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in SWAPPED:
                found.append(Mutant(file, _place(text, node.func, end=True) - len(name), name, SWAPPED[name]))
    return sorted(filter(None, found), key=lambda mutant: mutant.start)


def _of_words(node: ast.BinOp) -> bool:
    """Whether texts are joined, whose difference would break at once."""
    return any(
        isinstance(side, ast.JoinedStr) or (isinstance(side, ast.Constant) and isinstance(side.value, str))
        for side in (node.left, node.right)
    )


def _place(text: str, node: ast.expr, end: bool = False) -> int:
    """Return where a node begins, or ends, in the text; columns are counted in bytes."""
    line, column = (node.end_lineno, node.end_col_offset) if end else (node.lineno, node.col_offset)
    assert line is not None
    lines = text.splitlines(keepends=True)
    return sum(map(len, lines[: line - 1])) + len(lines[line - 1].encode()[:column].decode())


def _between(file: str, text: str, left: ast.expr, right: ast.expr, operator: ast.AST) -> Mutant | None:
    begin, end = _place(text, left, end=True), _place(text, right)
    symbol = re.search(r"[-+*/<>=!]+", text[begin:end])
    return Mutant(file, begin + symbol.start(), symbol[0], TURNED[type(operator)]) if symbol else None


def draw(count: int, seed: int) -> list[Mutant]:
    """Return `count` mutants of the rooms, each place with the same chance."""
    places = _all_mutants()
    chosen = np.random.default_rng(seed).choice(len(places), count, replace=False)
    return [places[place] for place in chosen]


@cache
def _all_mutants() -> list[Mutant]:
    files = [path.relative_to(ROOT).as_posix() for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]
    return [mutant for file in files for mutant in mutants_of(file, (ROOT / file).read_text(encoding="utf-8"))]


def module_of(file: str) -> str:
    """Return the name that a file is imported by."""
    parts = Path(file).with_suffix("").parts
    return ".".join(part for part in (parts if parts[0] == "mklviz" else ("mklviz", *parts)) if part != "__init__")


@cache
def _imported(path: Path) -> set[str]:
    """Return the modules of mklviz that a file names in its imports, and what it takes from them."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name for name in found if name.startswith("mklviz")}


def nearest_tests(file: str) -> list[str]:
    """Return the test files nearest to a module, the nearest first."""
    sources = {
        module_of(path.relative_to(ROOT).as_posix()): path
        for top in ("mklviz", "solvers", "datasets", "apps")
        for path in (ROOT / top).rglob("*.py")
    }
    importers: dict[str, set[str]] = {}
    for name, path in sources.items():
        for used in _imported(path):
            importers.setdefault(used, set()).add(name)
    distance, ring = {module_of(file): 0}, {module_of(file)}
    while ring := {user for used in ring for user in importers.get(used, ())} - set(distance):
        distance |= dict.fromkeys(ring, max(distance.values()) + 1)
    words = {Path(file).stem.strip("_"), Path(file).stem.strip("_").replace("_", "-")}
    ranked = []
    for path in sorted((ROOT / "tests").glob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        near = min((distance.get(name, 99) for name in _imported(path)), default=99)
        named = sum(len(re.findall(rf"\b{re.escape(word)}", text + path.stem)) for word in words)
        every = "solver_classes" in text and file.startswith("solvers/")
        if near < 99 or named or every:
            own = path.stem.removeprefix("test_") in words
            ranked.append((not own, near > 0, not every, -min(named, 20), near, path.relative_to(ROOT).as_posix()))
    return [name for *_, name in sorted(ranked)[:FILES]]


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE))


def judge(mutant: Mutant, tree: Path) -> str:
    """Run the nearest tests in a `tree` that holds the mutant; return how that ended."""
    path = tree / mutant.file
    text = path.read_text(encoding="utf-8")
    path.write_text(mutant.apply(text), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(tree), "NUMBA_CACHE_DIR": str(tree / ".numba")}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *nearest_tests(mutant.file)]
    try:
        done = subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, text=True, preexec_fn=_limit, check=False
        )
    finally:
        path.write_text(text, encoding="utf-8")
    if done.returncode == 0:
        return "survived"
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return f"caught by {failed[1]}" if failed else "never ended" if done.returncode < 0 else "caught while collecting"


def main(words: list[str] | None = None) -> None:
    """Try the mutants and print what became of each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(words)
    survivors = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        unwanted = shutil.ignore_patterns(".git", ".venv*", "__pycache__", "test-artifacts")
        shutil.copytree(ROOT, tree, symlinks=True, ignore=unwanted)
        for number, mutant in enumerate(draw(asked.count, asked.seed), 1):
            verdict = judge(mutant, tree)
            survivors += verdict == "survived"
            text = (ROOT / mutant.file).read_text(encoding="utf-8")
            print(f"{number:3} {verdict}\n    {mutant.describe(text)}", flush=True)
    print(f"{asked.count - survivors} of {asked.count} mutants were caught.")


if __name__ == "__main__":
    main()
