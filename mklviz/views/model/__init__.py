"""What was learned, in pictures: weights, Gram matrices, decisions and errors; and what the tabs of settings draw."""

from mklviz.views.host.environment import need_screen

need_screen()
