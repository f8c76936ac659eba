"""Warnings that point to the user's line, however many of ours and scikit-learn's lie between."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

__all__ = ["warn"]

_BETWEEN = {"mklviz", "sklearn", "joblib"}


def warn(sentence: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the nearest caller outside these packages."""
    frame: FrameType | None = sys._getframe()
    level = 0
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _BETWEEN:
        frame, level = frame.f_back, level + 1
    warnings.warn(sentence, category, stacklevel=level + 1)
