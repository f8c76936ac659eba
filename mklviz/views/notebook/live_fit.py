"""A fit of an estimator as it runs, below the cell of a notebook: a callback of scikit-learn 1.9."""

from __future__ import annotations

import time
from typing import Any

from joblib import effective_n_jobs

from mklviz.learn._base import MKLEstimator
from mklviz.learn._callbacks import growing_trace
from mklviz.learn._progress import warn
from mklviz.record import Trace
from mklviz.views.host.environment import in_notebook

BETWEEN = 0.5  # seconds between two pictures


class LiveRace:
    """Show the solver of an estimator while it fits, in a notebook, and keep its trace.

    Set it on what is fitted, ``MKLClassifier().set_callbacks(mv.LiveRace())``; of a pipeline or search on the outermost
    alone, which shows one fit after the other. scikit-learn knows callbacks from version 1.9 on.

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

    max_propagation_depth = None  # scikit-learn hands it on to estimators within others, however deep

    def __init__(self) -> None:
        self.trace: Trace | None = None
        self._shown: Any = None
        self._next = 0.0

    def setup(self, estimator: Any, context: Any) -> None:
        """Begin anew; say what will not be shown."""
        if not isinstance(estimator, MKLEstimator) and effective_n_jobs(getattr(estimator, "n_jobs", None)) > 1:
            warn("mv.LiveRace does not show fits that n_jobs gives to other processes: leave n_jobs at None for all.")
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
