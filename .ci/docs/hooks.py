"""What the pages of the documentation leave to the library: pictures, tables, public names, and formulas as MathML.

A line ``<!-- made: NAME WORDS -->`` of a page is replaced by what `facts.MADE` makes of it when the site is built.
"""

from __future__ import annotations

import os
import re
from typing import Any

import facts
import formulas
import from_root
import outputs
import pictures
import reference
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

from mklviz.views.export.gallery import gallery_pages

MARK = re.compile(r"^<!-- made: ([\w-]+) ?(.*?) -->$", re.MULTILINE)


def on_config(config: Any) -> Any:
    """Put the pages of the reference first under its heading, and link pages to their sources where these are known."""
    for section in config.nav:
        section.get("Reference", [])[:0] = reference.navigation()
    repository = os.environ.get("MKLVIZ_REPOSITORY")  # the address of the repository, where the site is published
    if repository:
        config.repo_url, config.repo_name, config.edit_uri = repository, "Sources", f"{repository}/blob/main/apps/docs/"
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pictures, the pages of the reference, those at the root, and those of lessons and laboratories."""
    for name, drawn in pictures.drawings().items():
        files.append(File.generated(config, f"pictures/{name}.svg", content=drawn))
    for name, text in reference.pages().items():
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    for place, text in from_root.pages().items():
        files.append(File.generated(config, place, content=text))
    for name, html in gallery_pages("none").items():
        files.append(File.generated(config, f"pages/{name}", content=html))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Put in what is made, and what its Python shows."""

    def made(mark: re.Match[str]) -> str:
        maker = facts.MADE.get(mark[1])
        if maker is None:
            known = ", ".join(sorted(facts.MADE))
            raise PluginError(f"{page.file.src_uri}: nothing is made under the name {mark[1]!r}, only {known}.")
        return maker(*mark[2].split())

    try:
        return outputs.with_outputs(pictures.for_both_themes(MARK.sub(made, markdown)))
    except Exception as error:
        raise PluginError(f"{page.file.src_uri}: its Python fails: {type(error).__name__}: {error}") from error


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Write formulas as MathML, which browsers draw by themselves."""
    try:
        return formulas.as_mathml(html)
    except ValueError as error:
        raise PluginError(f"{page.file.src_uri}: {error}") from None
