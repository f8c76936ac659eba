"""The house rules that a test can see: who imports whom, what is packaged, what is public."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import pkgutil
import sys
import tomllib
from collections import Counter
from dataclasses import is_dataclass
from functools import cache
from pathlib import Path
from typing import get_args

import pytest
from _plugins import LOSS, REGULARIZER
from _sources import ROOT, SCREEN, SOURCES, inside

import mklviz
from mklviz.analysis.weight_map import WeightMap
from mklviz.engine import solver_classes, stop
from mklviz.kernels import kernel_families
from mklviz.problem import loss_families, regularizer_families


@cache
def tree(name: str) -> ast.Module:
    return ast.parse(SOURCES[name].read_text(encoding="utf-8"))


@cache
def nodes(name: str) -> tuple[ast.AST, ...]:
    """Return every node of a module, listed once for all who look."""
    return tuple(ast.walk(tree(name)))


@cache
def imports(name: str, typing: bool = False) -> frozenset[str]:
    """Return what a module imports, anywhere in it, as absolute names; what is for `typing` alone only if asked."""
    typing_only: set[ast.AST] = set()
    for node in nodes(name):
        if typing or not isinstance(node, ast.If):
            continue
        if ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}:
            typing_only |= {inner for statement in node.body for inner in ast.walk(statement)}
    package = name if SOURCES[name].name == "__init__.py" else name.rpartition(".")[0]
    found: set[str] = set()
    for node in nodes(name):
        if node in typing_only:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            named = {f"{origin}.{alias.name}" for alias in node.names}
            found |= named & set(SOURCES) | ({origin} if named - set(SOURCES) else set())
    return frozenset(found)


def offenders(of: str, forbidden: set[str]) -> list[str]:
    return [
        f"{name} imports {imported}"
        for name in SOURCES
        if inside(name, {of})
        for imported in sorted(imports(name))
        if inside(imported, forbidden)
    ]


def circles(arrows: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return the arrows that are part of a circle, or lead from one circle to another."""
    left = arrows
    while True:
        reached = {name for to in left.values() for name in to}
        remaining = {name: to & set(left) for name, to in left.items() if name in reached and to & set(left)}
        if remaining == left:
            return left
        left = remaining


def entry_of(module: str, package: str) -> str:
    """Return the file or folder of a package in which a module stands."""
    return ".".join(module.split(".")[: package.count(".") + 2])


def arrows_within(package: str) -> dict[str, set[str]]:
    """Return which other files and folders of a package each of its files and folders imports from."""
    arrows: dict[str, set[str]] = {}
    for name in SOURCES:
        if name.startswith(f"{package}."):
            needed = {imported for imported in imports(name, typing=True) if imported.startswith(f"{package}.")}
            entry = entry_of(name, package)
            arrows.setdefault(entry, set()).update({entry_of(imported, package) for imported in needed} - {entry})
    return arrows


def test_no_files_and_no_folders_import_one_another_in_a_circle_not_even_for_their_types() -> None:
    assert circles({name: set(imports(name, typing=True)) - {name} for name in SOURCES}) == {}
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}) == {"b": {"c"}, "c": {"b"}}
    packages = [name for name, path in SOURCES.items() if path.name == "__init__.py"]
    assert {package: left for package in packages if (left := circles(arrows_within(package)))} == {}


def test_the_modules_are_found() -> None:
    assert {"mklviz.kernels.bank", "mklviz.solvers.spg", "mklviz.datasets.letter", "mklviz.engine.run"} <= set(SOURCES)
    assert "mklviz.contract" in imports("mklviz.solvers.spg")


FOR_ALL = ("mklviz.language", "mklviz.quoting", "mklviz.streams", "mklviz.limits", "mklviz.plugins")
NUMBERS = ("mklviz.numbers", "mklviz.unpacking")  # they know numpy: what counts as a number, and arrays in archives
FETCHED = {  # imported when the data are asked for, and only then
    "mklviz.datasets.covertype": {"sklearn"},
    "mklviz.datasets._formats.matlab": {"scipy"},
    "mklviz.datasets._formats.matrix": {"scipy"},
    "mklviz.datasets._formats.npz": {"scipy"},
    "mklviz.datasets._read_binary": {"openpyxl", "pyarrow"},
}


def test_data_sets_stand_on_numpy_and_tables_in_files_on_pandas() -> None:
    for name in SOURCES:
        if inside(name, {"mklviz.datasets", *NUMBERS}):
            allowed = sys.stdlib_module_names | {"numpy", "pandas", "mklviz"} | FETCHED.get(name, set())
            for imported in imports(name):
                assert imported.split(".")[0] in allowed, f"{name} imports {imported}"
                if imported.startswith("mklviz"):
                    assert inside(imported, {"mklviz.datasets", *NUMBERS, *FOR_ALL}), f"{name} imports {imported}"


@pytest.mark.parametrize("module", FOR_ALL)
def test_what_everybody_may_import_stands_on_the_standard_library_alone(module: str) -> None:
    assert {name.split(".")[0] for name in imports(module)} <= sys.stdlib_module_names


ROOMS = (
    *("host", "look", "form", "chart", "session", "history", "sidebar", "geometry", "pictures", "model", "sweeps"),
    *("race", "links"),
)
FLOORS = (
    *("mklviz._version", "mklviz.typing", "mklviz.numbers", "mklviz.unpacking", "mklviz.quoting", "mklviz.streams"),
    *("mklviz.limits", "mklviz.plugins", "mklviz.glossary", "mklviz.language", "mklviz.lazy", "mklviz.compiled"),
    *("mklviz.errors", "mklviz.datasets", "mklviz.context", "mklviz.kernels", "mklviz.problem", "mklviz.contract"),
    *("mklviz.inner", "mklviz.record", "mklviz.solvers", "mklviz.engine", "mklviz.check", "mklviz.recipe"),
    *("mklviz.scenarios", "mklviz.sweeps", "mklviz.analysis", "mklviz.reproduce", "mklviz.learn"),
    *(f"mklviz.views.{room}" for room in (*ROOMS, "lessons", "export", "notebook", "tabs", "explorer", "start")),
    *("mklviz.views", "mklviz.plot", "mklviz.bench", "mklviz.apps", "mklviz.server", "mklviz.cli", "mklviz.__main__"),
    "mklviz",
)


def floor_of(module: str) -> str:
    """Return the room that a module stands in, or the package whose names it gives: those stand above their rooms."""
    return max((floor for floor in FLOORS if inside(module, {floor})), key=len)


def test_every_room_has_a_floor() -> None:
    rooms = arrows_within("mklviz").keys() | arrows_within("mklviz.views").keys() | {"mklviz"}
    assert len(FLOORS) == len(rooms)
    assert set(FLOORS) == rooms


def test_nobody_imports_from_a_higher_floor_not_even_for_types() -> None:
    upward = [
        f"{name} imports {imported}"
        for name in SOURCES
        for imported in sorted(imports(name, typing=True))
        if inside(imported, {"mklviz"}) and FLOORS.index(floor_of(imported)) > FLOORS.index(floor_of(name))
    ]
    assert upward == []


@pytest.mark.parametrize("text", [LOSS, REGULARIZER], ids=["loss", "regularizer"])
def test_a_new_formulation_is_one_file_that_imports_from_no_higher_floor(text: str) -> None:
    """The loss among them brings what solves its problem at fixed weights."""
    needed = [node.module or "" for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    own = [name for name in needed if inside(name, {"mklviz"})]
    assert own
    assert [name for name in own if FLOORS.index(floor_of(name)) > FLOORS.index("mklviz.problem")] == []


CLOCKS = {"threading", "multiprocessing", "concurrent", "asyncio", "time", "logging"}
FOREIGN = {  # to whom
    **dict.fromkeys(("kernels", "problem", "contract", "inner", "solvers"), SCREEN | CLOCKS),
    **dict.fromkeys(("context", "record", "engine", "recipe", "datasets", "analysis"), SCREEN),
}


@pytest.mark.parametrize("package", FOREIGN)
def test_problems_and_solvers_know_no_screen_and_no_threads_and_what_runs_them_no_screen(package: str) -> None:
    assert offenders(f"mklviz.{package}", FOREIGN[package]) == []


@pytest.mark.parametrize("package", ["mklviz.solvers", "mklviz.kernels.families", "mklviz.problem.regularizers"])
def test_plugins_share_only_modules_with_an_underscore(package: str) -> None:
    depth = package.count(".") + 1
    for name in SOURCES:
        if name.startswith(package + ".") and not name.split(".")[depth].startswith("_"):
            others = [
                imported
                for imported in imports(name)
                if imported.startswith(package + ".")
                and imported in SOURCES
                and not imported.split(".")[depth].startswith("_")
            ]
            assert others == [], name


def test_nobody_holds_a_lock_while_a_property_is_computed() -> None:
    """A step that is left in the middle would keep it, and with it the others that were to work meanwhile."""
    for name in SOURCES:
        for node in nodes(name):
            if isinstance(node, ast.ImportFrom) and node.module == "functools":
                assert "cached_property" not in {imported.name for imported in node.names}, name


WRITTEN_FOR_ONE_FORMULATION = {  # and read its own parameters
    *("mklviz.solvers.ufo", "mklviz.solvers._ufo", "mklviz.solvers.obscure", "mklviz.solvers.smo_mkl"),
    "mklviz.solvers.smkl",
}


def kinds_nobody_asks_for() -> set[str]:
    """Return the names of the classes that have others beside them: plug-ins, banks, stop rules and maps."""
    families = (loss_families, regularizer_families, kernel_families, solver_classes)
    plugins = [kind for registered in families for kind in registered().values()]
    rules = [kind for kind in vars(stop).values() if is_dataclass(kind) and kind.__module__ == stop.__name__]
    banks = {"KernelBank", "ProductBank", "ParametricBank", "NystromBank", "NystromPart"}
    return {kind.__name__ for kind in (*plugins, *rules, *get_args(WeightMap))} | banks


def test_nobody_asks_which_of_several_classes_it_is() -> None:
    kinds = kinds_nobody_asks_for()
    asked = []
    for name in set(SOURCES) - WRITTEN_FOR_ONE_FORMULATION:
        for node in nodes(name):
            kind = node.cls if isinstance(node, ast.MatchClass) else None
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
                kind = node.args[1]
            parts = ast.walk(kind) if kind is not None else ()
            named = {getattr(part, "id", getattr(part, "attr", "")) for part in parts}
            asked += [f"{name}, line {node.lineno}: {which}" for which in sorted(named & kinds)]
    assert asked == []  # another one of the kind would be left out: ask what it can do


def test_a_class_name_is_unique_in_the_house() -> None:
    """An underscore before it does not make it another one."""
    classes = [(node.name, name) for name in SOURCES for node in nodes(name) if isinstance(node, ast.ClassDef)]
    counts = Counter(name.lstrip("_") for name, _ in classes)
    assert sorted(found for found in classes if counts[found[0].lstrip("_")] > 1) == []


def test_generators_of_random_numbers_have_a_seed() -> None:
    for name in SOURCES:
        if inside(name, {"mklviz.views"}):  # a button there draws a seed, and shows it
            continue
        for node in nodes(name):
            if isinstance(node, ast.Call) and not node.args:
                assert not ast.unparse(node.func).endswith("default_rng"), f"{name} makes a generator without a seed"


# packaging


def test_every_folder_with_code_is_packaged_and_versions_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    setup = project["tool"]["setuptools"]
    present = {name if path.name == "__init__.py" else name.rpartition(".")[0] for name, path in SOURCES.items()}
    assert set(setup["packages"]) == present
    assert setup["packages"] == sorted(setup["packages"])
    for package in present:
        assert SOURCES[package].name == "__init__.py", f"{package} has no __init__.py"
    assert project["project"]["version"] == mklviz.__version__


# public names


PUBLIC = ["mklviz", *(name for name, path in SOURCES.items() if "__all__" in path.read_text(encoding="utf-8"))]
PUBLIC = sorted(set(PUBLIC) - {"mklviz.__main__"})


ROOMS = sorted({".".join(name.split(".")[:2]) for name in PUBLIC})


@pytest.mark.parametrize("room", ROOMS)  # a test for each of some 400 modules takes seconds by itself
def test_public_names_exist_and_are_documented(room: str) -> None:
    for name in (found for found in PUBLIC if found == room or (inside(found, {room}) and room != "mklviz")):
        module = importlib.import_module(name)
        assert len(set(module.__all__)) == len(module.__all__), name
        for public in module.__all__:
            thing = getattr(module, public)
            assert thing is not None, f"{name}.{public}"
            if inspect.isclass(thing) or inspect.isfunction(thing):
                assert inspect.getdoc(thing), f"{name}.{public}"


def test_no_name_of_a_package_is_also_a_module_of_it_which_type_checkers_would_take_instead() -> None:
    packages = [name for name in PUBLIC if SOURCES[name].name == "__init__.py"]
    both = [f"{name}.{public}" for name in packages for public in importlib.import_module(name).__all__]
    assert [name for name in both if name in SOURCES and not inspect.ismodule(_found(name))] == []


def _found(name: str) -> object:
    package, _, public = name.rpartition(".")
    return getattr(importlib.import_module(package), public)


def test_every_module_opens_with_what_it_is() -> None:
    assert [name for name in SOURCES if name != "mklviz.__main__" and not ast.get_docstring(tree(name))] == []


def test_names_of_mklviz_are_those_it_gives() -> None:
    assert set(dir(mklviz)) == {*mklviz.__all__, "__version__"}
    for name in mklviz.__all__:
        assert getattr(mklviz, name) is not None
    for families in (kernel_families, loss_families):
        for family in families().values():
            assert getattr(mklviz, family.__name__) is family
    assert mklviz.Gaussian is importlib.import_module("mklviz.kernels").Gaussian
    with pytest.raises(AttributeError, match="has no attribute 'nobody'"):
        mklviz.nobody  # noqa: B018
    with pytest.raises(AttributeError, match="has no attribute 'Nobody'"):
        mklviz.Nobody  # noqa: B018


def test_editors_and_runs_from_the_root_see_one_package() -> None:
    for folder in ("solvers", "datasets", "apps"):
        assert (ROOT / "mklviz" / folder).resolve() == ROOT / folder
    names = {info.name for info in pkgutil.iter_modules(mklviz.__path__)}
    assert {"problem", "engine", "solvers", "datasets"} <= names


@cache
def nodes_of_tests() -> dict[str, tuple[ast.AST, ...]]:
    """Return every node of each file here."""
    files = sorted((ROOT / "tests").rglob("*.py"))
    return {path.name: tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8")))) for path in files}


def test_tests_read_what_is_public_patch_little_and_wait_for_conditions() -> None:
    private, patches, waits = Counter[str](), Counter[str](), Counter[str]()
    for name, of in nodes_of_tests().items():
        for node in of:
            if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__"):
                private[name] += ast.unparse(node.value) not in {"self", "cls"}
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                patches[name] += called.endswith((".setattr", ".setitem", ".delattr", "mock.patch"))
                waits[name] += called.endswith(("sleep", "wait_for_timeout"))
    assert private.total() <= 97, private.most_common(5)
    assert patches.total() <= 120, patches.most_common(5)
    assert waits.total() <= 14, waits  # what is about time itself, such as kills at random moments or a pause in a drag


def that_expect(functions: list[ast.FunctionDef], helpers: frozenset[str]) -> frozenset[str]:
    """Return the names of the functions that assert something, or call what does, and of the helpers that do."""
    asserting, calls = set(helpers), {}
    for function in functions:
        inner = list(ast.walk(function))
        if any(isinstance(node, ast.Assert | ast.Raise) for node in inner):
            asserting.add(function.name)
        called = [node.func for node in inner if isinstance(node, ast.Call)]
        calls[function.name] = {getattr(call, "attr", getattr(call, "id", "")) for call in called}
    while more := {name for name, called in calls.items() if called & asserting} - asserting:
        asserting |= more
    return frozenset(asserting)


def test_every_test_says_what_it_expects() -> None:
    functions: dict[str, list[ast.FunctionDef]] = {}
    for name, of in nodes_of_tests().items():
        functions[name] = [node for node in of if isinstance(node, ast.FunctionDef)]
    known = frozenset({"raises", "warns", "fail", "expect", "assert_array_equal", "assert_allclose", "assert_outcomes"})
    shared = that_expect([f for name, of in functions.items() if not name.startswith("test_") for f in of], known)
    tests = {name: {f.name for f in of if f.name.startswith("test_")} for name, of in functions.items()}
    assert {name: left for name, of in tests.items() if (left := of - that_expect(functions[name], shared))} == {}


BUDGET = {  # lines and files (.py, .js, .css, .sh)
    ".ci": (1671, 15),
    "apps": (8, 2),
    "benchmark_mkl": (282, 6),
    "datasets": (6154, 36),
    "mklviz": (1568, 16),
    "mklviz/analysis": (2071, 11),
    "mklviz/bench": (1143, 7),
    "mklviz/check": (1165, 6),
    "mklviz/cli": (2800, 13),
    "mklviz/context": (587, 4),
    "mklviz/engine": (3930, 15),
    "mklviz/inner": (4081, 18),
    "mklviz/kernels": (7509, 34),
    "mklviz/learn": (2149, 13),
    "mklviz/plot": (41, 1),
    "mklviz/problem": (3692, 19),
    "mklviz/recipe": (2352, 11),
    "mklviz/record": (4163, 18),
    "mklviz/reproduce": (2458, 14),
    "mklviz/scenarios": (828, 5),
    "mklviz/server": (1843, 12),
    "mklviz/sweeps": (2994, 13),
    "mklviz/views": (30, 1),
    "mklviz/views/chart": (1977, 10),
    "mklviz/views/explorer": (1887, 10),
    "mklviz/views/export": (2467, 15),
    "mklviz/views/form": (1175, 6),
    "mklviz/views/geometry": (810, 4),
    "mklviz/views/history": (580, 4),
    "mklviz/views/host": (2796, 20),
    "mklviz/views/lessons": (2407, 16),
    "mklviz/views/links": (252, 2),
    "mklviz/views/look": (651, 5),
    "mklviz/views/model": (1503, 8),
    "mklviz/views/notebook": (625, 6),
    "mklviz/views/pictures": (1244, 6),
    "mklviz/views/race": (2914, 14),
    "mklviz/views/session": (472, 3),
    "mklviz/views/sidebar": (1927, 9),
    "mklviz/views/start": (556, 5),
    "mklviz/views/sweeps": (549, 3),
    "mklviz/views/tabs": (2398, 12),
    "solvers": (6161, 29),
    "tests": (46931, 200),
}


def room_of(path: Path) -> str:
    """Return the folder whose budget a file counts in: one below mklviz or mklviz/views, or a folder of the root."""
    parts = path.relative_to(ROOT).parts[:-1]
    return "/".join(parts[: 3 if parts[:2] == ("mklviz", "views") else 2 if parts[0] == "mklviz" else 1])


def sizes() -> dict[str, tuple[int, int]]:
    """Return lines and files of every room; the symlinks in mklviz/ are not followed."""
    rooms: dict[str, tuple[int, int]] = {}
    for top in (".ci", "apps", "benchmark_mkl", "datasets", "mklviz", "solvers", "tests"):
        for folder, _, names in os.walk(ROOT / top):
            for path in (Path(folder, name) for name in names if name.endswith((".py", ".js", ".css", ".sh"))):
                lines, files = rooms.get(room_of(path), (0, 0))
                rooms[room_of(path)] = lines + path.read_bytes().count(b"\n"), files + 1
    return rooms


def test_every_room_keeps_to_its_budget() -> None:
    """What is added is paid for, in its own room or in another; who raises a number says why in the same commit."""
    now = sizes()
    assert set(now) == set(BUDGET)
    assert {room: size for room, size in now.items() if size[0] > BUDGET[room][0] or size[1] > BUDGET[room][1]} == {}
