"""What was learned, in numbers and pictures: weights by family and feature, Gram matrices, decisions and errors."""

from mklviz.views.host.environment import need_screen

need_screen()
