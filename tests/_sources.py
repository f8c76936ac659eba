"""Where the modules of the library are."""

from pathlib import Path

__all__ = ["ROOT", "SCREEN", "SOURCES", "inside", "sources"]

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = {"datasets": "mklviz.datasets", "solvers": "mklviz.solvers", "apps": "mklviz.apps", "mklviz": "mklviz"}
SCREEN = {"panel", "panel_material_ui", "holoviews", "bokeh", "hvplot", "matplotlib"}


def sources() -> dict[str, Path]:
    """Every module of the library by its import name; the symlinks in mklviz/ are not followed twice."""
    found = {}
    for folder, package in FOLDERS.items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            place = path.relative_to(ROOT / folder)
            if folder == "mklviz" and place.parts[0] in FOLDERS:
                continue
            parts = [*package.split("."), *place.with_suffix("").parts]
            found[".".join(part for part in parts if part != "__init__")] = path
    return found


SOURCES = sources()


def inside(module: str, packages: set[str]) -> bool:
    return any(module == package or module.startswith(package + ".") for package in packages)
