"""A recipe as a Python program that runs the same race without the dashboard."""

from __future__ import annotations

from mklviz.recipe.choices import DataChoice
from mklviz.recipe.recipe import Recipe

__all__ = ["as_python"]

_RACE = """\
race = recipe.race(prepared)
race.start()
race.wait()
for trace in race.traces.values():
    print(f"{trace.label}: {trace.status} after {len(trace) - 1} steps, objective {trace.best.objective:.6g}")
"""


def as_python(recipe: Recipe, file: str = "") -> str:
    """Return a program that prepares and runs a recipe.

    `file`: name of the file that the data come from, where they are a user's own. Raises `MklvizError` if the
    recipe holds something without a name that others could read, such as a regularizer of one's own.
    """
    parts = recipe.to_words().split("; ")
    lines = ["import mklviz as mv", "", "recipe = mv.Recipe.from_words("]
    lines += [f"    {part + ('; ' if part is not parts[-1] else '')!r}" for part in parts]
    lines.append(")")
    if recipe.data.own:
        lines += [f"data = mv.read_dataset({_arguments(recipe.data, file)})", "prepared = recipe.prepare(data)"]
    else:
        lines.append("prepared = recipe.prepare()")
    return "\n".join([*lines, _RACE])


def _arguments(data: DataChoice, file: str) -> str:
    """Return the file's name, and how its table is read."""
    read = {name: getattr(data, name) for name in ("target", "missing", "header")}
    words = [f"{name}={value!r}" for name, value in read.items() if value is not None]
    return ", ".join([repr(file or "the file of your own"), *words])
