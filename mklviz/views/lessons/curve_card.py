"""The picture of the first lesson over the two kernels of a race: SILP and Level on the SVM's objective."""

from __future__ import annotations

from typing import Any, ClassVar

import param

from mklviz.analysis.steps import cuts_known
from mklviz.engine import Race, solver_classes
from mklviz.views.host.components import ScriptedComponent
from mklviz.views.host.page_session import page_language
from mklviz.views.host.solved_paths import SOLVER, problem_data, solves_alone
from mklviz.views.lessons.one_curve import CURVE_SCRIPT, CURVE_STYLE, curve_figure
from mklviz.views.lessons.triangle import TRIANGLE_SCRIPT, TRIANGLE_STYLE
from mklviz.views.look.palette import OF_TEXT, Theme, readable
from mklviz.views.look.styles import solver_styles

_LOOK = (  # sizes as on the pages before the dashboard
    "font-family: var(--mk-font); color: var(--mk-text); --mk-small: calc(13px * {0}); --mk-words: calc(15px * {0});"
    " --mk-label: {1:.0f}px;"
)


class CurveCard(ScriptedComponent):
    """Both runs, whose start and level are dragged; the browser solves them."""

    pair = param.Dict(default={}, doc="The problem, and the names of its kernels")
    figure = param.String(default="", doc="The figure, without a question")
    solver = param.String(default=SOLVER, doc="The solvers, for a worker")

    _esm = f"{TRIANGLE_SCRIPT}{CURVE_SCRIPT}export const render = curveCard"
    _stylesheets: ClassVar[list[str]] = [TRIANGLE_STYLE, CURVE_STYLE]

    def __init__(self, **settings: Any) -> None:
        figure = curve_figure(page_language(), asks=False)
        super().__init__(visible=False, sizing_mode="stretch_width", figure=figure, **settings)
        self._race: Race | None = None

    def show(self, race: Race | None, theme: Theme) -> None:
        """Show the curve of a race on two kernels that a browser can solve; nothing of any other."""
        styles = solver_styles({key: solver_classes()[key]() for key in ("silp", "level")}, theme)
        colours = (
            f"--run-{key}: {style.colour}; --word-{key}: {readable(style.colour, theme.card, OF_TEXT)};"
            for key, style in styles.items()
        )
        self.stylesheets = [f":host {{ {_LOOK.format(theme.scale, 15 * theme.scale)} {' '.join(colours)} }}"]
        shown = race is not None and race.facts.m == 2 and cuts_known(race) and solves_alone(race.problem, {})
        if race is not None and shown and race is not self._race:
            run = race.runs.get("level")
            level: Any = solver_classes()["level"]() if run is None else run.solver
            self.pair = {"problem": problem_data(race.problem), "names": list(race.facts.names), "lambda": level.lam}
        self._race, self.visible = race, shown
