"""How Sphinx builds the site from the pages that `sources.py` has put together. Nothing is loaded from elsewhere."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import bokeh
from docutils.nodes import SkipNode
from latex2mathml.converter import convert
from sources import DOCS
from sphinx.util.inspect import TypeAliasForwardRef
from sphinx.util.logging import getLogger

import mklviz as mv
import mklviz.typing

project, author, copyright = "mklviz", "The mklviz developers", "The mklviz developers"
version = release = mv.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode", "sphinx_copybutton"]

myst_enable_extensions = ["attrs_inline", "deflist", "dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

default_role = "code"  # in docstrings, as in Markdown
ROUTED = ("fit", "partial_fit", "predict", "score", "transform")  # for which scikit-learn adds methods of its own
autodoc_default_options = {
    "members": True,
    "member-order": "bysource",
    "exclude-members": ",".join(f"set_{method}_request" for method in ROUTED),
}
autodoc_typehints_format = "short"
autodoc_type_aliases = {name: name for name in (*mklviz.typing.__all__, "ArrayLike")}
TypeAliasForwardRef.__repr__ = lambda alias: alias.name  # type: ignore[method-assign]  # within unions, too
autodoc_preserve_defaults = True
napoleon_use_param = napoleon_use_rtype = False
napoleon_custom_sections = [("Attributes", "params_style")]
maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = f"mklviz {release}"
html_static_path = ["static", str(Path(bokeh.__file__).with_name("server") / "static" / "js" / "bokeh.min.js")]
html_css_files = ["look.css"]
html_use_index = html_copy_source = html_show_sphinx = False
templates_path = ["templates"]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "versions.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
repository = os.environ.get("MKLVIZ_REPOSITORY")  # the address of the repository, where the site is published
revision = os.environ.get("MKLVIZ_REVISION", "main")  # the branch or tag of which this is the site
html_theme_options = {"top_of_page_buttons": ["view"]}
if repository:
    html_theme_options["source_view_link"] = f"{repository}/blob/{revision}/apps/docs/{{filename}}"


def setup(app: Any) -> None:
    """Write formulas as MathML, and give each page what it alone needs."""
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    app.connect("html-page-context", finish)


def finish(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Load what draws the pictures of `mv.plot` where there are any, and link to sources where there are any."""
    if "data-root-id" in context.get("body", ""):
        app.add_js_file("bokeh.min.js", priority=100)
    if not (DOCS / f"{page}.md").exists():
        context["page_source_suffix"] = ""


# -- Formulas of a page as MathML, which browsers draw by themselves: no script and no font has to be loaded.

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
