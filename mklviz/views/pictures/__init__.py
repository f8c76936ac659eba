"""Pictures that stand still, as HoloViews objects: they compose with + and *, and are saved by `export`.

The Model tab draws the same ones; `mklviz.plot` gives them to everybody.
"""

from mklviz.views.host.installed import need_screen

need_screen()
