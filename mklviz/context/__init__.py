"""What surrounds a computation: who still waits for it, what it spends its time on, how far and how exact it is."""

from mklviz.context.accounting import PARTS, metered, spending, spent
from mklviz.context.accuracy import resolution, resolving
from mklviz.context.cancelling import checkpoint, interruptible, uninterrupted

__all__ = [
    "PARTS",
    "checkpoint",
    "interruptible",
    "metered",
    "resolution",
    "resolving",
    "spending",
    "spent",
    "uninterrupted",
]
