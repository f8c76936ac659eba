"""What the Python of a page prints and draws, made by running it when the site is built.

The blocks of a page are one program. Where a line ``<!-- output -->`` follows a block, there stands what it printed,
and a picture where its last line is a trace, a race or a path.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import tempfile
from base64 import b64encode
from collections.abc import Callable
from typing import Any

import mklviz as mv
from mklviz.engine import Path, Race
from mklviz.views.chart.svg_pictures import path_still, race_still, trace_still
from mklviz.views.look.palette import DARK, LIGHT

__all__ = ["MARK", "with_outputs"]

MARK = "<!-- output -->"
BLOCK = re.compile(rf"^```python\n(.*?)^```\n({MARK}\n)?", re.DOTALL | re.MULTILINE)
STILLS = {mv.Trace: trace_still, Race: race_still, Path: path_still}


def with_outputs(markdown: str) -> str:
    """Return the text of a page with outputs in the place of its marks; a page without marks is not run."""
    if MARK not in markdown:
        return markdown
    names: dict[str, Any] = {"__name__": "__main__"}

    def run(block: re.Match[str]) -> str:
        shown = _run(block[1], names)
        return block[0].replace(MARK, shown) if block[2] else block[0]

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), _store(folder):
        return BLOCK.sub(run, markdown)


@contextlib.contextmanager
def _store(folder: str) -> Any:
    """Keep runs in a folder that goes away again, so that a page finds its own alone."""
    before = os.environ.get("MKLVIZ_STORE")
    os.environ["MKLVIZ_STORE"] = os.path.join(folder, "store")
    try:
        yield
    finally:
        os.environ.pop("MKLVIZ_STORE")
        if before is not None:
            os.environ["MKLVIZ_STORE"] = before


def _run(code: str, names: dict[str, Any]) -> str:
    """Run a block and return what it shows: what it printed, then the value of its last line as a notebook has it."""
    tree = ast.parse(code)
    last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None  # type: ignore[attr-defined]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<page>", "exec"), names)
        value = eval(compile(last, "<page>", "eval"), names) if last else None
    draw = next((draw for kind, draw in STILLS.items() if isinstance(value, kind)), None)
    text = printed.getvalue().rstrip()
    if value is not None and draw is None:
        text = f"{text}\n{value!r}".strip()
    parts = [f"```text\n{text}\n```" if text else "", _pictures(draw, value) if draw else ""]
    return "\n\n".join(filter(None, parts))


def _pictures(draw: Callable[..., str], value: object) -> str:
    """Return a picture that stands in the page itself, for light pages and for dark ones."""
    words = re.sub(r"[\[\]\n]", " ", repr(value))
    drawn = {"light": draw(value, theme=LIGHT), "dark": draw(value, theme=DARK)}
    coded = {name: b64encode(svg.encode()).decode() for name, svg in drawn.items()}
    return "".join(f"![{words}](data:image/svg+xml;base64,{code}#only-{name})" for name, code in coded.items())
