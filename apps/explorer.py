"""The dashboard, for ``panel serve apps/explorer.py``."""

from mklviz.views.explorer import Explorer
from mklviz.views.look.theme import configure

configure()
Explorer().page().servable()
