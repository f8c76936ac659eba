"""The pages of the site, put together in a folder for Sphinx: those that are written, with what the library says in
them and what their Python shows, and those that are made.

A line ``<!-- made: NAME WORDS -->`` of a page is replaced by what `facts.MADE` makes of it.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import contents
import facts
import from_root
import notebooks
import outputs
import pictures
import reference

from mklviz.views.export.gallery import gallery_pages

__all__ = ["gather"]

DOCS = Path(__file__).resolve().parents[2] / "apps" / "docs"
MARK = re.compile(r"^<!-- made: ([\w-]+) ?(.*?) -->$", re.MULTILINE)
READ = {  # as code hosts show it: as Sphinx reads it
    r"^(#+ .*) \{#([\w-]+)\}$": r"(\2)=\n\1",
    r"\]\((?:\.\./)+notebooks/(\w+)\.ipynb\)": r"](../notebooks/\1.md)",
    r"\]\(((?:\.\./)*pages/[\w-]+\.html)\)": r"](\1){.external}",
}


def gather(folder: Path, ready: Path) -> None:
    """Write what Sphinx makes pages of into one folder, and pages that are ready into another, both made anew."""
    for made in (folder, ready):
        shutil.rmtree(made, ignore_errors=True)
    shutil.copytree(DOCS, folder, ignore=shutil.ignore_patterns("*.md"))
    for name, drawn in pictures.drawings().items():
        _write(folder / "pictures" / f"{name}.svg", drawn)
    for name, html in gallery_pages("none").items():
        _write(ready / "pages" / name, html)
    for name, text in _texts():
        _write(folder / name, _finished(text, name, folder))


def _texts() -> Iterator[tuple[str, str]]:
    for path in sorted(DOCS.rglob("*.md")):
        yield path.relative_to(DOCS).as_posix(), path.read_text(encoding="utf-8")
    yield from from_root.pages().items()
    yield "reference/index.md", reference.index()
    yield from ((f"reference/{name}.md", text) for name, text in reference.pages().items())
    yield from ((f"{name}.md", text) for name, text in notebooks.pages().items())


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _finished(text: str, name: str, folder: Path) -> str:
    """Return the text of a page as Sphinx reads it."""
    text = MARK.sub(lambda mark: _made(mark, name), text)
    try:
        text = outputs.with_outputs(text, folder / name)
    except Exception as error:
        raise RuntimeError(f"{name}: its Python fails: {type(error).__name__}: {error}") from error
    text = pictures.for_both_themes(text, folder / name)
    for written, read in READ.items():
        text = re.sub(written, read, text, flags=re.MULTILINE)
    return text + contents.below(name)


def _made(mark: re.Match[str], page: str) -> str:
    maker = facts.MADE.get(mark[1])
    if maker is None:
        known = ", ".join(sorted(facts.MADE))
        raise LookupError(f"{page}: nothing is made under the name {mark[1]!r}, only {known}.")
    return maker(*mark[2].split())
