"""RUN: run, pause, step, stop, reset, the pace, and how far a preparation is."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import panel as pn
import panel_material_ui as pmui

from mklviz.views.sidebar.controls import button, heading, note, row, say, select

__all__ = ["KEYS", "STATES", "RunPanel"]

STATES = ("empty", "preparing", "running", "paused", "finished")
PACES = {"full speed": 0.0, "50 steps/s": 50.0, "10 steps/s": 10.0, "2 steps/s": 2.0, "1 step/s": 1.0}
KEYS = {" ": "run or pause", "s": "step", "x": "stop", "r": "reset"}
_HELP = "Space run/pause · S step · X stop · R reset"
_USABLE = {  # the buttons that mean something in each state
    "empty": ("run", "step"),
    "preparing": ("stop",),
    "running": ("pause", "step", "stop", "reset"),
    "paused": ("pause", "step", "stop", "reset"),
    "finished": ("run", "reset"),
}


class RunPanel(pn.viewable.Viewer):
    """The buttons of a race.

    Parameters
    ----------
    commands : mapping
        What "run", "pause", "step", "stop" and "reset" call.

    Attributes
    ----------
    hint : str
        The sentence under the buttons.
    """

    def __init__(self, commands: Mapping[str, Callable[..., Any]]) -> None:
        super().__init__()
        self.buttons = {
            "run": _command("▶ Run", commands["run"], variant="contained", color="primary"),
            "pause": _command("Pause", commands["pause"]),
            "step": _command("Step", commands["step"]),
            "stop": _command("Stop", commands["stop"]),
            "reset": _command(
                "Reset",
                commands["reset"],
                sizing_mode=None,
                width=64,
                margin=(3, 2, 3, 6),
                description="Clear the curves; seed and settings stay",
            ),
        }
        self.pace = select("pace", PACES, value=0.0)
        cores = os.cpu_count() or 1
        self.threads = select("threads", {str(k): k for k in range(1, cores + 1)}, value=1, visible=False)
        self._stage = note()
        self._bar = pmui.LinearProgress(
            value=0, max=100, variant="determinate", sizing_mode="stretch_width", margin=(4, 0)
        )
        self._bar.visible = False
        self._hint = note()
        self.hint = ""
        self.show("empty")

    def usable(self, state: str, blocked: str = "") -> set[str]:
        """Return the names of the commands that can be used."""
        beginning = ("run", "step") if blocked and state in ("empty", "finished") else ()
        return set(_USABLE[state]) - set(beginning)

    def show(self, state: str, blocked: str = "", hint: str = "") -> None:
        """Enable the buttons that mean something.

        Parameters
        ----------
        state : str
            One of `STATES`.
        blocked : str
            Why no race can be started with the controls as they stand, or "".
        hint : str
            A sentence shown under the buttons otherwise.
        """
        usable = self.usable(state, blocked)
        for name, control in self.buttons.items():
            control.disabled = name not in usable
        self.buttons["pause"].label = "Resume" if state == "paused" else "Pause"
        self.hint = f"Run is not possible: {blocked}" if blocked else hint
        say(self._hint, self.hint)
        if state != "preparing":
            self.show_progress(0.0, "")

    def offer_threads(self, solvers: int) -> None:
        """Let a solver that runs alone have several threads; several solvers have one each, to be fair."""
        alone = solvers == 1 and len(self.threads.options) > 1
        self.threads.param.update(visible=alone, value=self.threads.value if alone else 1)

    def show_progress(self, fraction: float, stage: str) -> None:
        """Show how far a preparation is; an empty `stage` hides it."""
        say(self._stage, stage)
        self._bar.param.update(value=round(100 * fraction), visible=bool(stage))

    def __panel__(self) -> Any:
        upper = [self.buttons[name] for name in ("run", "pause", "step", "stop")]
        return pmui.Column(
            heading("Run"),
            row(*upper),
            row(self.pace, self.buttons["reset"]),
            self.threads,
            self._stage,
            self._bar,
            self._hint,
            note(_HELP, sx={"fontSize": "0.74rem"}),
            sizing_mode="stretch_width",
            margin=0,
        )


def _command(label: str, click: Callable[..., Any], **settings: Any) -> pmui.Button:
    return button(label, click, **{"sizing_mode": "stretch_width", "margin": (3, 2), **settings})
