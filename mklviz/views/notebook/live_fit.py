"""A fit of an estimator as it runs, below the cell of a notebook: a callback of scikit-learn 1.9."""

from __future__ import annotations

import time
from typing import Any

from mklviz.learn._callbacks import growing_trace
from mklviz.record import Trace
from mklviz.views.host.environment import in_notebook

BETWEEN = 0.5  # seconds between two pictures


class LiveRace:
    """Show the solver of an estimator while it fits, in a notebook, and keep its trace.

    Set it on an estimator, also on one within a pipeline: ``MKLClassifier().set_callbacks(mv.LiveRace())``.
    scikit-learn knows callbacks from version 1.9 on.

    Attributes
    ----------
    trace : Trace or None
        Of the last fit in this process, step by step until now.

    Examples
    --------
    >>> import mklviz as mv
    >>> live, data = mv.LiveRace(), mv.load_dataset("iris")
    >>> model = mv.MKLRegressor("gauss:1").set_callbacks(live).fit(data.X[:, 1:], data.X[:, 0])
    >>> live.trace is model.trace_
    True
    """

    def __init__(self) -> None:
        self.trace: Trace | None = None
        self._shown: Any = None
        self._next = 0.0

    def setup(self, estimator: Any, context: Any) -> None:
        """Begin anew."""
        self.trace, self._shown, self._next = None, None, 0.0

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Wait for a step."""

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Show the steps until now, where some time has passed since the last picture."""
        trace = growing_trace(estimator)
        if trace is not None:
            self.trace = trace
            if time.monotonic() >= self._next:
                self._show()

    def teardown(self, estimator: Any, context: Any) -> None:
        """Show all of them."""
        if self.trace is not None:
            self._show()

    def _show(self) -> None:
        if not in_notebook():
            return
        if self._shown is None:
            from IPython import display

            shown: Any = display
            self._shown = shown.display(self.trace, display_id=True)
        else:
            self._shown.update(self.trace)
        self._next = time.monotonic() + BETWEEN

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_shown": None}
