"""Formulas of a page as MathML, which browsers draw by themselves: no script and no font has to be loaded."""

from __future__ import annotations

import re
from typing import Any

from docutils.nodes import SkipNode
from latex2mathml.converter import convert
from sphinx.util.logging import getLogger

LOGGER = getLogger(__name__)


def as_mathml(latex: str, display: str = "inline") -> str:
    """Return a formula as MathML. Raises `ValueError` if it has a command that cannot be written so."""
    try:
        mathml = convert(latex.strip(), display=display)
    except Exception as error:
        raise ValueError(f"The formula {latex!r} cannot be read: {type(error).__name__}.") from error
    left = re.search(r"\\\w+", mathml)
    if left:
        raise ValueError(f"The formula {latex!r} has a command that is not known: {left[0]}.")
    return mathml


def inline(translator: Any, node: Any) -> None:
    """Write a formula within a line, as Sphinx asks for it."""
    _write(translator, node, "inline")


def display(translator: Any, node: Any) -> None:
    """Write a formula that stands alone, and scrolls where it is wider than the page."""
    _write(translator, node, "block", '<div class="scrolls">', "</div>\n")


def _write(translator: Any, node: Any, kind: str, before: str = "", after: str = "") -> None:
    try:
        translator.body.append(f"{before}{as_mathml(node.astext(), kind)}{after}")
    except ValueError as error:
        LOGGER.warning(str(error), location=node)
    raise SkipNode
