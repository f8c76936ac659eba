"""What the Python of a page prints and draws, made by running it when the site is built.

    python .ci/docs/outputs.py [FOLDER]    takes the pictures of the page of mv.plot anew, to FOLDER or apps/docs/plots/

The blocks of a page are one program. Where a line ``<!-- output -->`` follows a block, there stands what it printed,
and a picture where its last line is a trace, a race or a path.
"""

from __future__ import annotations

import ast
import contextlib
import io
import itertools
import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

from bokeh.embed import components
from holoviews.core import Dimensioned
from pictures import THEMES

import mklviz as mv
from mklviz import engine
from mklviz.views.chart.svg_pictures import path_still, race_still, trace_still
from mklviz.views.pictures.style import rendered

MARK = "<!-- output -->"
BLOCK = re.compile(rf"^```python\n(.*?)^```\n({MARK}\n)?", re.DOTALL | re.MULTILINE)
STILLS = {mv.Trace: trace_still, engine.Race: race_still, engine.Path: path_still}


def with_outputs(markdown: str, page: Path) -> str:
    """Return the text of a page with outputs in the place of its marks, whose pictures are written beside the page.

    A page without marks is not run.
    """
    if MARK not in markdown:
        return markdown
    names: dict[str, Any] = {"__name__": "__main__"}
    count = itertools.count(1)

    def run(block: re.Match[str]) -> str:
        shown = _run(block[1], names, page.absolute().with_name(f"{page.stem}-{next(count)}"))
        return block[0].replace(MARK, f"\n{shown}") if block[2] else block[0]

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), _store(folder):
        return BLOCK.sub(run, markdown)


def _store(folder: str) -> Any:
    """Keep runs in a folder that goes away again, so that a page finds its own alone."""
    return mock.patch.dict(os.environ, MKLVIZ_STORE=os.path.join(folder, "store"))


def _run(code: str, names: dict[str, Any], picture: Path) -> str:
    """Run a block and return what it shows: what it printed, then the value of its last line as a notebook has it."""
    tree = ast.parse(code)
    last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None  # type: ignore[attr-defined]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<page>", "exec"), names)
        value = eval(compile(last, "<page>", "eval"), names) if last else None
        if last and value is None:
            value = _drawable(last.body, names)
    text = printed.getvalue().rstrip()
    draw = next((draw for kind, draw in STILLS.items() if isinstance(value, kind)), None)
    if draw:
        shown = _still(draw, value, picture)
    elif last and isinstance(value, Dimensioned):
        dark = eval(compile(ast.fix_missing_locations(InDark().visit(last)), "<page>", "eval"), names)
        shown = _moving({"only-light": value, "only-dark": dark})
    elif hasattr(value, "_repr_html_"):
        shown = f"```{{raw}} html\n{value._repr_html_()}\n```"
    else:
        text, shown = f"{text}\n{value!r}".strip() if value is not None else text, ""
    return "\n\n".join(filter(None, [f"```text\n{text}\n```" if text else "", shown]))


def _drawable(last: ast.expr, names: dict[str, Any]) -> object:
    """Return what ``print(name)`` prints, where it is drawn, too; else None."""
    if isinstance(last, ast.Call) and ast.unparse(last.func) == "print" and isinstance(last.args[0], ast.Name):
        value = names[last.args[0].id]
        return value if isinstance(value, tuple(STILLS)) else None
    return None


def _still(draw: Callable[..., str], value: object, picture: Path) -> str:
    """Write a picture for light pages and for dark ones, and return the words that show it."""
    picture.parent.mkdir(parents=True, exist_ok=True)
    for ending, theme in THEMES.items():
        picture.with_name(f"{picture.name}{ending}.svg").write_text(draw(value, theme=theme), encoding="utf-8")
    words = re.sub(r"[\[\]\n]", " ", repr(value))
    return f"![{words}]({picture.name}.svg)"


def _moving(pictures: dict[str, Any]) -> str:
    """Return a picture of `mv.plot` as its page draws it, in both its forms by their classes."""
    script, parts = components({name: rendered(picture) for name, picture in pictures.items()})
    shown = "".join(f'<div class="{name}">{part}</div>' for name, part in parts.items())
    return f'```{{raw}} html\n<div class="scrolls">{shown}</div>{script}\n```'


class InDark(ast.NodeTransformer):
    """Turns each call of a function of `mv.plot` into one for dark pages."""

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if ast.unparse(node.func).startswith("mv.plot."):
            node.keywords.append(ast.keyword("dark", ast.Constant(True)))
        return node


# -- the pictures of mv.plot for code hosts, which run nothing: once for light pages, once for dark ones

PLOTS = Path(__file__).resolve().parents[2] / "apps" / "docs" / "plot.md"
PART = re.compile(r"^```python\n(.*?)^```$|\(plots/(\w+)\.png\)", re.DOTALL | re.MULTILINE)


def take_plots(folder: str = "") -> None:
    """Run every block of the page, and save what `picture` is where the page shows it."""
    target = Path(folder) if folder else PLOTS.with_name("plots")
    names: dict[str, Any] = {}
    last = ""
    for block, name in PART.findall(PLOTS.read_text(encoding="utf-8")):
        if name:
            mv.plot.save(names["picture"], target / f"{name}.png")
            exec(_dark(last), names)
            mv.plot.save(names["picture"], target / f"{name}-dark.png")
            print(name)
        else:
            last = block
            exec(block, names)


def _dark(block: str) -> str:
    """Return the line that draws, for a dark page."""
    [line] = re.findall(r"^picture = .*$", block, re.MULTILINE)
    return f"{line[:-1]}, dark=True)"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, _store(folder):
        take_plots(*sys.argv[1:])
