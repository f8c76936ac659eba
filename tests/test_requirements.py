"""Every package of others that a module imports is asked for by name, where that module is installed.

What another package happens to bring along may be missing with its next version, or under another Python.
"""

from __future__ import annotations

import re
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions

from _sources import ROOT, SOURCES, inside
from test_architecture import imports

EXTRAS = {  # of the modules that need more than the light installation
    "mklviz.views.export.pixels": {"pictures"},
    "mklviz.views": {"app", "notebook"},
    "mklviz.server": {"app"},
    "mklviz.analysis.decisions": {"app"},
    "mklviz.learn": {"learn"},
    "mklviz.bench": {"bench"},
    "mklviz.sweeps.dask_cluster": {"dask"},
    "mklviz.sweeps.local_cluster": {"dask"},
    "mklviz.kernels.storage.disk": {"parquet"},
    "mklviz.datasets.covertype": {"learn"},
    "mklviz.datasets._read_excel": {"excel"},
    "mklviz.datasets._read_parquet": {"parquet"},
}
distributions = cache(packages_distributions)  # which reads what every installed package says of its files
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@cache
def asked_for(extras: frozenset[str]) -> set[str]:
    """Return the names that the light installation asks for, and some extras with those that they include."""
    names, lines = set(), list(PROJECT["dependencies"])
    for extra in extras:
        lines += PROJECT["optional-dependencies"][extra]
    for line in lines:
        name, included = re.fullmatch(r"([\w.-]+)(?:\[([\w,]+)\])?.*", line).groups()  # type: ignore[union-attr]
        names |= asked_for(frozenset(included.split(","))) if name == "mklviz" else {canonical(name)}
    return names


def test_every_package_that_is_imported_is_asked_for() -> None:
    missing = {}
    for name in SOURCES:
        extras = next((extras for room, extras in EXTRAS.items() if inside(name, {room})), set())
        tops = {imported.split(".")[0] for imported in imports(name)} - sys.stdlib_module_names - {"mklviz"}
        missing[name] = {canonical(distributions().get(top, [top])[0]) for top in tops} - asked_for(frozenset(extras))
    assert {name: packages for name, packages in missing.items() if packages} == {}
