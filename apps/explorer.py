"""The dashboard, for ``panel serve apps/explorer.py``."""

from mklviz.views.explorer.open_page import open_page
from mklviz.views.host.panel_setup import configure

configure()
open_page().servable()
