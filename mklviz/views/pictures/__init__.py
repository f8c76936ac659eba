"""Still pictures as HoloViews objects, which compose with + and *; `mklviz.plot` makes them public."""

from mklviz.views.host.environment import need_screen

need_screen()
