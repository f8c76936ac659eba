"""What a cell keeps of its figures: a picture, and the recording as a page with its cursor.

A notebook that is saved keeps them: they are what there is to see without the kernel, on a code host and in an export,
and where a notebook shows no widgets.
"""

from __future__ import annotations

from html import escape
from typing import Any
from uuid import uuid4

from mklviz.views.chart.svg import svg_address
from mklviz.views.host.environment import show_bundle

__all__ = ["Still", "still_bundle", "still_html"]


class Still:
    """An output below the running cell that is hidden wherever the live figures are drawn.

    `subject`: what is shown; its ``repr`` stands where nothing can be drawn.
    """

    def __init__(self, subject: object) -> None:
        self.id = uuid4().hex
        self._subject = subject
        self._shown: Any = None

    def display(self, words: str) -> None:
        """Begin it with a sentence, where a notebook keeps outputs."""
        self._shown = show_bundle(self._bundle(f"<p>{escape(words)}</p>"), f"still-{self.id}")

    def keep(self, drawn: str, words: str = "", page: str = "") -> None:
        """Show a picture, as SVG, instead, with a sentence, and a `page` that unfolds below it."""
        if self._shown is None:
            return
        paragraph = f"<p>{escape(words)}</p>" if words else ""
        unfolded = _folded(page) if page else ""
        bundle = self._bundle(f"{paragraph}{still_html(drawn, repr(self._subject))}{unfolded}")
        self._shown.update(bundle | {"image/svg+xml": drawn}, raw=True)

    def _bundle(self, html: str) -> dict[str, str]:
        place = f'[data-still="{self.id}"]'
        # without a kernel JupyterLab writes in the place of the widget, just above, that it is not there
        quiet = f".jp-OutputArea-child:has(+ .jp-OutputArea-child {place}):not(:has(.mklviz-race)) {{ display: none; }}"
        whole = f'<style>{quiet}</style><div data-still="{self.id}">{html}</div>'
        return {"text/html": whole, "text/plain": repr(self._subject)}


def _folded(page: str) -> str:
    """Return a page within a page; where none is let in, its heading stays empty."""
    source = page.replace("&", "&amp;").replace("'", "&#39;")
    return (
        "<details><summary>The recording, with a cursor over its steps (in a notebook that is trusted)</summary>"
        f"<iframe title='The recording' style='width: 100%; height: 720px; border: 0' srcdoc='{source}'></iframe>"
        "</details>"
    )


def still_html(drawn: str, name: str) -> str:
    """Return a picture as HTML that needs no trust: a page may show it where it lets no scripts and no SVG in."""
    return f'<img alt="{escape(name)}" style="max-width: 100%" src="{svg_address(drawn)}">'


def still_bundle(drawn: str, name: str) -> dict[str, str]:
    """Return a picture in every form in which a notebook may show it."""
    return {"text/html": still_html(drawn, name), "image/svg+xml": drawn, "text/plain": name}
