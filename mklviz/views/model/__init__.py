"""What was learned: weights by family and feature, Gram matrices, decisions and how right they are, and their pictures."""

from mklviz.views.host.installed import need_screen

need_screen()
