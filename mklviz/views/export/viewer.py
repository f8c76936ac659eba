"""A page that needs no server, and shows the files of runs that somebody drops on it or chooses.

Scripts of the page read what `Trace.save` and `write_bundle` write, and make of it what `recorded` makes of traces.
They are told what only Python knows: how each solver is drawn, the charts, and the words and numbers of the rules.
"""

from __future__ import annotations

from typing import Any

from mklviz.contract import ACTIVE_WEIGHT
from mklviz.engine.branch import BRANCH_DASH
from mklviz.engine.registry import solver_classes
from mklviz.record import FINAL, Trace, motion
from mklviz.record.bundle import MOST_BYTES, MOST_RUNS, SUFFIX
from mklviz.record.milestones import PARTS
from mklviz.record.saved import FORMAT
from mklviz.record.trace import CHOOSING, CUT_OFF
from mklviz.views.chart import squashed
from mklviz.views.chart.columns import KERNELS_SHOWN, LARGEST_DRAWN
from mklviz.views.chart.race_charts import ENLARGED, NO_BOUND, run_table, weights_title
from mklviz.views.export.page import both_themes, colours, page
from mklviz.views.export.page_charts import page_charts
from mklviz.views.export.recording import FEWEST, MOST_IN_ALL, MOST_STEPS
from mklviz.views.host.beside import beside
from mklviz.views.look.palette import DASHES, LIGHT, MARKERS, RunStyle, Theme
from mklviz.views.look.styles import run_styles
from mklviz.views.race.results import MEANINGS, SIGNS, STATUS_WORDS

__all__ = ["viewer_page"]

SCRIPTS = ("unpack.js", "saved_run.js", "saved_race.js", "viewer.js")
ENTRIES = 15  # runs of one solver that differ in their looks: dashes times shades
_PLACEHOLDER = RunStyle("", "of-the-run", "dashed", "circle")  # of which a script makes the marks of each run
_TITLE = "Runs from a file"


def viewer_page(lead: str = "") -> str:
    """Return the page; `lead`: HTML that stands first."""
    scripts = "".join(beside(__file__, name) for name in SCRIPTS)
    style = f"{both_themes(_colours)}\n{beside(__file__, 'viewer.css')}"
    return page(_TITLE, f"mklviz: {_TITLE.lower()}", "", _kit(), style, scripts, lead)


def _kit() -> dict[str, Any]:
    """Return what the scripts need to know beside the files."""
    return {
        **{"format": FORMAT, "suffix": SUFFIX, "most_runs": MOST_RUNS, "most_bytes": MOST_BYTES},
        **{"most_steps": MOST_STEPS, "most_in_all": MOST_IN_ALL, "fewest": FEWEST},
        **{"active": ACTIVE_WEIGHT, "largest": LARGEST_DRAWN, "kernels": KERNELS_SHOWN, "enlarged": ENLARGED},
        "parts": PARTS,
        "motion": {
            **{"shortest": motion.SHORTEST, "late": motion.LATE, "late_back": motion.LATE_BACK, "back": motion.BACK},
            **{"last": motion.LAST, "tremor": motion.TREMOR, "search": motion.SEARCH},
        },
        "squashed": {"flat": squashed.FLAT, "fewest": squashed.FEWEST},
        **{"statuses": {name: _status(name) for name in FINAL}, "final": FINAL},
        **{"cut_off": CUT_OFF, "choosing": CHOOSING},
        "weights_titles": {noun: [weights_title(noun, 1, of) for of in (1, 2)] for noun in ("kernel", "parameter")},
        "placeholder": {"table": run_table(""), "colour": _PLACEHOLDER.colour},
        "charts": [  # by whether objectives fall below zero, and whether there is no bound
            [page_charts({"": _PLACEHOLDER}, None, signed, no_bound) for no_bound in ("", NO_BOUND)]
            for signed in (False, True)
        ],
        "branch_dash": DASHES[BRANCH_DASH],
        "styles": {name: _looks(name) for name in _names()},
    }


def _names() -> tuple[str, ...]:
    """Return the solvers whose looks are known; "" stands for any other."""
    return ("", *solver_classes())


def _styles(solver: str, theme: Theme) -> list[RunStyle]:
    """Return how the runs of a solver are drawn, the first and those that enter beside it."""
    return [*run_styles({str(entry): Trace(solver) for entry in range(ENTRIES)}, theme).values()]


def _looks(solver: str) -> list[dict[str, str]]:
    """Return the same for scripts, in the colours of the page."""
    return [
        {"colour": f"var({_variable(solver, entry)})", "dash": DASHES[style.dash], "marker": MARKERS[style.marker]}
        for entry, style in enumerate(_styles(solver, LIGHT))
    ]


def _variable(solver: str, entry: int) -> str:
    return f"--solver-{solver or 'other'}-{entry}"


def _colours(theme: Theme) -> str:
    """Return the colours of the page, with those of all solvers."""
    drawn = ((name, entry, style) for name in _names() for entry, style in enumerate(_styles(name, theme)))
    return " ".join([colours({}, theme), *(f"{_variable(name, at)}: {style.colour};" for name, at, style in drawn)])


def _status(name: str) -> dict[str, str]:
    return {"word": STATUS_WORDS[name], "sign": SIGNS.get(name, ""), "meaning": MEANINGS.get(name, "")}
