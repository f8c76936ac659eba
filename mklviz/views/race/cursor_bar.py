"""The bar that moves the cursor over the steps of a race, by hand or playing, and the card that goes on from there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from typing import Any

from mklviz.contract import Solver
from mklviz.engine import Run, make_solver, solver_classes
from mklviz.engine.race import branch_refusal, narrated, successors
from mklviz.errors import MklvizError
from mklviz.recipe import Recipe
from mklviz.views.form import Button, Expander, Form, FormRow, Group, Select, Slider
from mklviz.views.host.frames import Frames
from mklviz.views.host.page_session import is_connected
from mklviz.views.look import cards
from mklviz.views.look.palette import RunStyle, swatch
from mklviz.views.race.results import words_outside
from mklviz.views.session.launcher import branch_at
from mklviz.views.session.session import Session
from mklviz.views.sidebar.controls import note, say
from mklviz.views.sidebar.solver_panel import OptionControl, option_control, option_value, set_option, shown_options

FRAMES = 100  # at most, from the first step of a race to its last
FRAME_SECONDS, LEAST_SECONDS = 0.2, 0.09  # between two frames, as a rule and at least: just below that of ticks
SPEEDS = {"½×": 0.5, "1×": 1.0, "2×": 2.0, "4×": 4.0}


class CursorBar(cards.Rooted):
    """Buttons, a slider, and `words` on each solver's step; `playing` is whether the cursor goes on by itself."""

    def __init__(self, frames: Frames) -> None:
        """`frames` say what the browser has painted of the tab."""
        super().__init__()
        self.playing, self._drawn_at = False, 0.0
        self._frames, self._frame = frames, 0  # and the one with the last step that was played
        self._session: Session  # from the first `follow` on
        self._told = list[tuple[str, int]]()  # the news that the words are of
        self._rest: int | None = None  # the step shown as long as none is chosen, if not the last
        self._styles: Mapping[str, RunStyle] = {}
        self.play_button = Button(self.play, label="Play")
        self.slider = Slider(label="Step")
        self.slider.param.watch(self._slide, "value")
        frames.heartbeat.on_step_key(self.press)
        self.words = cards.html()
        self.speed = Select(label="Speed", options=SPEEDS, value=1.0, width=150)
        buttons = (
            self.play_button,
            Button(self.start, label="To the start", variant="text"),
            Button(self.back, label="Step back", variant="text"),
            Button(self.on, label="Step on", variant="text"),
            Button(self.end, label="To the end", variant="text"),
        )
        self.root = cards.card(Form(FormRow(*buttons, self.speed, self.slider, wrap=True)), self.words)

    # -- the buttons

    def play(self, *_: Any) -> None:
        """Let the cursor go on by itself, from the beginning if it is at the end; or hold it."""
        self.set_playing(not self.playing)
        if self.playing and self.step >= self.last:
            self._go(0)

    def back(self, *_: Any) -> None:
        self.go_to(self.step - 1)

    def on(self, *_: Any) -> None:
        self.go_to(self.step + 1)

    def start(self, *_: Any) -> None:
        self.go_to(0)

    def end(self, *_: Any) -> None:
        """Follow the end again."""
        self.set_playing(False)
        self._session.cursor = None

    def press(self, key: str) -> None:
        """Do what one of the `STEP_KEYS` asks for."""
        {"ArrowLeft": self.back, "ArrowRight": self.on, "Home": self.start, "End": self.end}[key]()

    def go_to(self, step: int) -> None:
        """Go to a step, and stay there."""
        self.set_playing(False)
        self._go(step)

    def set_playing(self, playing: bool) -> None:
        """Let the cursor go on by itself, or hold it."""
        self.playing, self._frame = playing, 0
        self.play_button.label = "Hold" if playing else "Play"  # another button says Pause

    def _slide(self, event: Any) -> None:
        if event.new != self.step:
            self._go(event.new)

    # -- where the cursor is

    @property
    def last(self) -> int:
        return max(self._session.last_step, 0)

    @property
    def step(self) -> int:
        """The step shown: the one chosen, else that of `rest_at`."""
        shown = self._rest if self._session.cursor is None else self._session.cursor
        return self.last if shown is None else min(shown, self.last)

    def rest_at(self, step: int | None) -> None:
        """Stand at this step as long as none is chosen; None is the last."""
        if step != self._rest:
            self._rest = step
            self._tell()

    def _go(self, step: int) -> None:
        self._session.cursor = min(max(step, 0), self.last)

    # -- the session

    def follow(self, session: Session, styles: Mapping[str, RunStyle]) -> None:
        """Show the session's step; `styles` are those of its runs."""
        self._session, self._styles = session, styles
        self._tell()

    def tick(self, now: float) -> None:
        """Take the new length of the race; while playing, go on once the browser has painted the step before."""
        if self._told != self._news:
            self._tell()
        seconds = max(FRAME_SECONDS / self.speed.value, LEAST_SECONDS)
        painted = self._frames.heartbeat.ack >= self._frame and is_connected()
        if self.playing and painted and now - self._drawn_at >= seconds:
            self._drawn_at = now
            at_once = round(max(self.speed.value * seconds / FRAME_SECONDS, 1.0))
            self._go(self.step + at_once * -(-self.last // FRAMES))
            self._frames.send(now)
            self._frame = self._frames.heartbeat.seq
            if self.step >= self.last:
                self.set_playing(False)

    @property
    def _news(self) -> list[tuple[str, int]]:
        """How each run stands, and its last step."""
        return [(trace.status, trace.last_step) for trace in self._session.traces.values()]

    def _tell(self) -> None:
        """Put the slider where the cursor is, and say what each solver did at that step."""
        self._told = self._news  # before what is read of them: they may go on meanwhile
        self.slider.param.update(end=max(self.last, 1), value=self.step)
        runs = {} if self._session.race is None else self._session.race.runs
        deeds = (_deed(run, self._styles[key], self.step) for key, run in runs.items() if key in self._styles)
        self.words.object = "".join(deeds)


def _deed(run: Run, style: RunStyle, step: int) -> str:
    """Return as HTML what a run did at a step."""
    trace = run.trace
    before, after = words_outside(trace)
    within = trace.first_step <= step <= trace.last_step
    deed = narrated(run.solver, trace, trace.index_at(step)) if within else before if step < trace.first_step else after
    return f'<p class="why">{swatch(style)} <b>{escape(style.label)}</b> {escape(deed)}</p>'


# -- CONTINUE WITH: another solver, or the same with other options, takes over where a run stood at the step shown


_ABOUT = (
    "Lets another solver take over where a run stands at the step above, or the same one with other options. Its curve"
    " begins there, dashed, with the SVM solves spent by then."
)
_NOTHING = "This method has no options."
_USUAL = [choice.name for choice in Recipe().solvers]


class BranchCard(cards.Rooted):
    """Begins branches of the race shown; `run` chooses the run to continue, and `solver` the method."""

    def __init__(self) -> None:
        super().__init__()
        self._session: Session  # from the first `follow` on
        self._step, self._controls = 0, dict[str, OptionControl]()
        self._ordered_for: Run | None = None  # whose successors the menu lists
        self._reason: str | None = None  # the reason on screen why no branch is possible; None to write it anew
        self.run = Select(label="Continue", options={}, value="", width=250)
        labels = {solver.label: name for name, solver in solver_classes().items()}
        self.solver = Select(label="last step with:", options=labels, value=next(iter(labels.values())), width=290)
        self.button = Button(self.go_on, label="Continue from here", variant="contained", description=_ABOUT)
        self.options = Expander(title="Options of this solver")
        self._trouble = note()
        self.solver.param.watch(lambda _event: self._turned(self._show_options), "value")
        self.run.param.watch(lambda _event: self._turned(self._order), "value")
        row = FormRow(self.run, self.solver, self.button, wrap=True)
        self.root = cards.card(Form(row, self._trouble, self.options))
        self._show_options()

    # -- what is offered

    def follow(self, session: Session, styles: Mapping[str, RunStyle], step: int) -> None:
        """Offer the runs of the session's race, at a step."""
        self._session, self._step = session, step
        self.root.visible = session.race is not None and not session.follows
        self.run.offer({f"{style.label}'s": key for key, style in styles.items()})
        self._order()
        self._offer()

    def stand_at(self, step: int) -> None:
        if step != self._step:
            self._step = step
            self._offer()

    @property
    def chosen(self) -> Solver:
        """The solver with its current options; raises `MklvizError` if they do not fit."""
        options = {name: option_value(control) for name, control in self._controls.items()}
        return make_solver(self.solver.value, **options)

    def _turned(self, show: Callable[[], None]) -> None:
        """Offer what another run or solver has."""
        show()
        self._reason = None
        self._offer()

    def _order(self) -> None:
        """List the solvers for another run or problem, and choose the one of most use there."""
        before, race = self._before(), self._session.race
        if before is None or race.missing or before is self._ordered_for:
            return
        self._ordered_for = before
        names, known = successors(race.problem, before.trace.solver, _USUAL), solver_classes()
        self.solver.param.update(options={known[name].label: name for name in names}, value=names[0])

    def _show_options(self) -> None:
        solver = solver_classes()[self.solver.value]
        self._controls = {name: option_control(solver, name) for name in shown_options(solver)}
        for name, control in self._controls.items():
            set_option(control, solver.param[name].default)
        self.options.objects = [Group(*(self._controls.values() or [note(_NOTHING)]))]

    def _before(self) -> Run | None:
        return None if self._session.race is None else self._session.race.runs.get(self.run.value)

    def _offer(self) -> None:
        """Say where the branch would begin, or why it cannot."""
        before, race = self._before(), self._session.race
        if before is None:
            return
        trace = before.trace
        if not len(trace):
            self.solver.label = "last step with:"
            self._refuse("This run has no step yet to continue from.")
            return
        step = min(self._step, trace.last_step)
        self.solver.label = f"step {step:,} with:"
        reason = race.missing or branch_refusal(race.problem, solver_classes()[self.solver.value]())
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
        if before is None:
            return
        try:
            solver = self.chosen
        except (MklvizError, ValueError) as error:
            say(self._trouble, str(error))
            return
        refusal = branch_at(self._session, self.run.value, min(self._step, before.trace.last_step), solver)
        say(self._trouble, refusal)
