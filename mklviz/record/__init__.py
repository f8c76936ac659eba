"""What a run leaves behind: its trace, how its weights moved, and the files it is kept in."""

from mklviz.record.run_facts import FINAL, SOLVED
from mklviz.record.trace import Trace

__all__ = ["FINAL", "SOLVED", "Trace"]
