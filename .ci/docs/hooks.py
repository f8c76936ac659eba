"""What the pages of the documentation leave to the library: pictures, tables, public names, and formulas as MathML.

A line ``<!-- made: NAME WORDS -->`` of a page is replaced by what `facts.MADE` makes of it when the site is built.
"""

from __future__ import annotations

import re
from typing import Any

import facts
import formulas
import pictures
import reference
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

from mklviz.views.export.gallery import gallery_pages

MARK = re.compile(r"^<!-- made: ([\w-]+) ?(.*?) -->$", re.MULTILINE)


def on_config(config: Any) -> Any:
    """Put the pages of the reference first under its heading."""
    for section in config.nav:
        section.get("Reference", [])[:0] = reference.navigation()
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pictures, the pages of the reference, and those of lessons and laboratories."""
    for name, drawn in pictures.drawings().items():
        files.append(File.generated(config, f"pictures/{name}.svg", content=drawn))
    for name, text in reference.pages().items():
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    for name, html in gallery_pages("none").items():
        files.append(File.generated(config, f"pages/{name}", content=html))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Put in what is made."""

    def made(mark: re.Match[str]) -> str:
        maker = facts.MADE.get(mark[1])
        if maker is None:
            known = ", ".join(sorted(facts.MADE))
            raise PluginError(f"{page.file.src_uri}: nothing is made under the name {mark[1]!r}, only {known}.")
        return maker(*mark[2].split())

    return MARK.sub(made, markdown)


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Write formulas as MathML, which browsers draw by themselves."""
    try:
        return formulas.as_mathml(html)
    except ValueError as error:
        raise PluginError(f"{page.file.src_uri}: {error}") from None
