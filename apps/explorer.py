"""The dashboard, for ``panel serve apps/explorer.py``."""

from mklviz.views.explorer.open_page import open_page
from mklviz.views.look.theme import configure

configure()
open_page().servable()
