"""Still pictures as HoloViews objects: they compose with + and *, and `export` saves them.

The Model tab draws the same ones; `mklviz.plot` makes them public.
"""

from mklviz.views.host.environment import need_screen

need_screen()
