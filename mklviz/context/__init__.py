"""What surrounds a computation: whether somebody still waits for it, what it spends its time on, how far it is."""

from mklviz.context.cancelling import checkpoint, interruptible, uninterrupted
from mklviz.context.spending import PARTS, metered, spending

__all__ = ["PARTS", "checkpoint", "interruptible", "metered", "spending", "uninterrupted"]
