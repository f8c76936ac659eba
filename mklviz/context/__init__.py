"""What surrounds a computation: who still waits for it, what it spends its time on, how far and how exact it is."""

from mklviz.context.cancelling import (
    PARTS,
    checkpoint,
    interruptible,
    metered,
    report,
    resolution,
    resolving,
    spending,
    spent,
    uninterrupted,
)

__all__ = [
    "PARTS",
    "checkpoint",
    "interruptible",
    "metered",
    "report",
    "resolution",
    "resolving",
    "spending",
    "spent",
    "uninterrupted",
]
