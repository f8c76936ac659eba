"""Callbacks of scikit-learn 1.9 and later: a fit tells them of each of its solver's steps; before, there are none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from mklviz.numbers import is_whole
from mklviz.record import Trace
from mklviz.record.run_facts import Verdict

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
    from sklearn.callback import with_callbacks as with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(method: Any) -> Any:
        """Return the method as it is."""
        return method


class Steps:
    """What the callbacks of one fit are told; it is a stop rule, for callbacks that ask to stop.

    `context`: scikit-learn's, of the task whose parts are told of, None where there are no callbacks; `data`: X, y and
    metadata as they were given.
    """

    def __init__(self, estimator: Any, context: Any = None, data: Mapping[str, Any] | None = None) -> None:
        self._estimator, self._context, self._data = estimator, context, data or {}
        self._stop = False
        self.trace: Trace | None = None

    def begin(self) -> Steps:
        """Say that the task begins."""
        if self._context is not None:
            self._context.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        return self

    def end(self, fitted: Callable[[], Mapping[str, Any]] | None = None) -> None:
        """Say that the task has ended; `fitted` returns what an estimator would have learned that had stopped here."""
        if self._context is not None:
            told = {"estimator": self._estimator, "reconstruction_attributes": fitted, **self._data}
            self._stop = self._context.call_on_fit_task_end(**told) or self._stop

    def part(self, name: str, parts: int | None = 0) -> Steps:
        """Return a part of the task, which has so many itself, or any number; it begins."""
        context = self._context and self._context.subcontext(task_name=name, max_subtasks=parts)
        return Steps(self._estimator, context, self._data).begin()

    def step(self, trace: Trace, fitted: Callable[[], Mapping[str, Any]]) -> None:
        """Say that a solver has made a step, the last of the trace."""
        if self._context is not None:
            self.trace = trace
            part = self.part("step")
            part.end(fitted)
            self._stop = self._stop or part._stop

    def check(self, trace: Trace) -> Verdict | None:
        """Stop where a callback asked for it."""
        return Verdict("stopped", "A callback asked to stop.") if self._stop else None


def growing_trace(estimator: Any) -> Trace | None:
    """Return the steps so far of an estimator that is being fitted and has callbacks."""
    steps: Steps | None = getattr(estimator, "_steps", None)
    return None if steps is None else steps.trace


def most_steps(estimator: Any) -> int | None:
    """Return how many steps of a solver are told of at most, the start counted."""
    return estimator.max_iter + 1 if is_whole(estimator.max_iter) else None


def with_steps(fit: Any) -> Any:
    """Tell callbacks when a fit begins and ends; meanwhile the estimator's `_steps` tell them of the rest."""

    @with_callbacks
    @wraps(fit)
    def fitting(estimator: Any, X: Any, y: Any = None, sample_weight: Any = None, *more: Any, **others: Any) -> Any:
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        context = None
        if hasattr(estimator, "_skl_callbacks") or hasattr(estimator, "_parent_callback_ctx"):
            parts = None if hasattr(estimator, "cv") else most_steps(estimator)  # folds, and steps of the last fit
            context = estimator._init_callback_context(max_subtasks=parts)
        estimator._steps = whole = Steps(estimator, context, {"X": X, "y": y, "metadata": metadata}).begin()
        try:
            fit(estimator, X, y, sample_weight, *more, **others)
            whole.end(lambda: {})
        finally:
            del estimator._steps
        return estimator

    return fitting
