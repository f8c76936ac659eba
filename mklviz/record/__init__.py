"""What a run leaves behind: its trace, how its weights moved, and the files it is kept in."""

from mklviz.record.trace import FINAL, SOLVED, Trace

__all__ = ["FINAL", "SOLVED", "Trace"]
