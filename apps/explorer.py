"""The dashboard, for ``panel serve apps/explorer.py``."""

from mklviz.views.host.panel_setup import configure
from mklviz.views.start.front_page import open_page

configure()
open_page()
