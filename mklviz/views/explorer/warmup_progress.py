"""How far the compiled solvers are, beside the buttons of the race."""

from __future__ import annotations

from mklviz.engine.warmup import WARMING, WARMUP
from mklviz.views.sidebar.run_panel import RunPanel

__all__ = ["WarmupProgress"]


class WarmupProgress:
    """Shows the warm-up while nothing else runs."""

    def __init__(self, run_panel: RunPanel) -> None:
        self._run_panel = run_panel
        self._shown = False

    def tick(self, state: str) -> None:
        """Show how far the warm-up is, in a `state` of the page in which there is no race to wait for."""
        warming = WARMUP.running and state in ("empty", "finished")
        if warming or self._shown:
            self._run_panel.show_progress(WARMUP.fraction, WARMING if warming else "")
        self._shown = warming
