"""A picture as a page of its own, with BokehJS in it, which loads nothing."""

from __future__ import annotations

import re

from bokeh.embed import file_html
from bokeh.model import Model
from bokeh.resources import INLINE

__all__ = ["picture_page"]


def picture_page(figure: Model) -> str:
    """Return the HTML of a page that shows what `rendered` has drawn."""
    page = file_html(figure, INLINE, title="mklviz")
    # Bokeh names what any model loads that this process knows, such as Panel's, even where the page has none of them
    return re.sub(r'<script src="[^"]*"></script>\s*', "", page)
