"""CONTINUE WITH: another solver, or the same with other options, takes over where a run stood at the step shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import panel as pn

from mklviz.contract import Solver
from mklviz.engine import Run, make_solver, solver_classes
from mklviz.engine.race import branch_refusal, successors
from mklviz.errors import MklvizError
from mklviz.recipe import Recipe
from mklviz.views.form import Button, Expander, Form, FormRow, Group, Select
from mklviz.views.look import cards
from mklviz.views.look.palette import RunStyle
from mklviz.views.session.launcher import branch_at
from mklviz.views.session.session import Session
from mklviz.views.sidebar.controls import note, say
from mklviz.views.sidebar.solver_options import option_control, shown_options

__all__ = ["BranchCard"]

_ABOUT = (
    "Lets another solver take over where a run stands at the step above, or the same one with other options. Its curve"
    " begins there, dashed, with the SVM solves spent by then."
)
_NOTHING = "This method has no options."
_USUAL = [choice.name for choice in Recipe().solvers]


class BranchCard(pn.viewable.Viewer):
    """Begins branches of the race shown; `run` chooses the run to continue, and `solver` the method."""

    def __init__(self) -> None:
        super().__init__()
        self._session: Session | None = None
        self._step, self._controls = 0, dict[str, Any]()
        self._ordered_for: Run | None = None  # whose successors the menu lists
        self._reason: str | None = None  # the reason on screen why no branch is possible; None to write it anew
        self.run = Select(label="Continue", options={}, value="", width=250)
        labels = {solver.label: name for name, solver in solver_classes().items()}
        self.solver = Select(label="last step with:", options=labels, value=next(iter(labels.values())), width=290)
        self.button = Button(self.go_on, label="Continue from here", variant="contained", description=_ABOUT)
        self.options = Expander(title="Options of this solver")
        self._trouble = note()
        self.solver.param.watch(lambda _event: self._turn_to_solver(), "value")
        self.run.param.watch(lambda _event: self._turn_to_run(), "value")
        row = FormRow(self.run, self.solver, self.button, wrap=True)
        self.root = cards.card(Form(row, self._trouble, self.options))
        self._turn_to_solver()

    # -- what is offered

    def follow(self, session: Session, styles: Mapping[str, RunStyle], step: int) -> None:
        """Offer the runs of the session's race, at a step."""
        self._session, self._step = session, step
        self.root.visible = session.race is not None and not session.follows
        labels = {f"{style.label}'s": key for key, style in styles.items()}
        chosen = self.run.value if self.run.value in styles else next(iter(styles), "")
        self.run.param.update(options=labels, value=chosen)
        self._order()
        self._offer()

    def stand_at(self, step: int) -> None:
        """Offer another step."""
        if step != self._step:
            self._step = step
            self._offer()

    @property
    def chosen(self) -> Solver:
        """The solver with its current options; raises `MklvizError` if they do not fit."""
        options = {name: control.value for name, control in self._controls.items()}
        return make_solver(self.solver.value, **options)

    def _turn_to_run(self) -> None:
        self._order()
        self._offer_anew()

    def _order(self) -> None:
        """List the solvers for another run or problem, and choose the one of most use there."""
        before = self._before()
        if before is None or before is self._ordered_for:
            return
        self._ordered_for = before
        names, known = successors(before.problem, before.trace.solver, _USUAL), solver_classes()
        self.solver.param.update(options={known[name].label: name for name in names}, value=names[0])

    def _turn_to_solver(self) -> None:
        solver = solver_classes()[self.solver.value]
        self._controls = {name: option_control(solver, name) for name in shown_options(solver)}
        for name, control in self._controls.items():
            control.set(solver.param[name].default)
        boxes = [control.box for control in self._controls.values()]
        self.options.objects = [Group(*(boxes or [note(_NOTHING)]))]
        self._offer_anew()

    def _before(self) -> Run | None:
        race = None if self._session is None else self._session.race
        return None if race is None else race.runs.get(self.run.value)

    def _offer_anew(self) -> None:
        """Offer another choice, without the error of the last one."""
        self._reason = None
        self._offer()

    def _offer(self) -> None:
        """Say where the branch would begin, or why it cannot."""
        before = self._before()
        if before is None:
            return
        trace = before.trace
        if not len(trace):
            self.solver.label = "last step with:"
            self._refuse("This run has no step yet to continue from.")
            return
        step = min(self._step, trace.last_step)
        self.solver.label = f"step {step:,} with:"
        reason = branch_refusal(before.problem, solver_classes()[self.solver.value]())
        if not reason and step < trace.first_step:
            reason = f"That run begins at step {trace.first_step:,}: move the cursor there, or choose another run."
        self._refuse(reason)

    def _refuse(self, reason: str) -> None:
        """Say why no branch is possible; while the reason stays the same, an error shown since stays, too."""
        self.button.disabled = bool(reason)
        if reason != self._reason:
            self._reason = reason
            say(self._trouble, reason)

    # -- what is done

    def go_on(self, *_: Any) -> None:
        """Start the branch, and show the race with it."""
        before = self._before()
        if before is None or self._session is None:
            return
        try:
            solver = self.chosen
        except (MklvizError, ValueError) as error:
            say(self._trouble, str(error))
            return
        refusal = branch_at(self._session, self.run.value, min(self._step, before.trace.last_step), solver)
        say(self._trouble, refusal)

    def __panel__(self) -> Any:
        return self.root
