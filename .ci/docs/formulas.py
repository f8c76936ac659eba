"""Formulas of a page, as pymdownx.arithmatex marks them, as MathML: no script and no font has to be loaded."""

from __future__ import annotations

import html
import re

from latex2mathml.converter import convert

__all__ = ["as_mathml"]

MARKED = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)


def as_mathml(page: str) -> str:
    """Return the HTML of a page with every marked formula written as MathML.

    Raises `ValueError` if a formula has a command that cannot be written so.
    """

    def written(marked: re.Match[str]) -> str:
        latex = html.unescape(marked[2]).strip()
        display = "block" if marked[1] == "div" else "inline"
        try:
            mathml = convert(latex, display=display)
        except Exception as error:
            raise ValueError(f"The formula {latex!r} cannot be read: {type(error).__name__}.") from error
        left = re.search(r"\\\w+", mathml)
        if left:
            raise ValueError(f"The formula {latex!r} has a command that is not known: {left[0]}.")
        return f'<{marked[1]} class="formula">{mathml}</{marked[1]}>'

    return MARKED.sub(written, page)
