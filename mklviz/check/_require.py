"""How a check says what is wrong, and what all plug-ins say of themselves."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

from mklviz.errors import ContractError

__all__ = ["near", "require", "said_of_itself"]


def require(holds: Any, sentence: str) -> None:
    """Raise `ContractError` with the sentence unless `holds` is true."""
    if not holds:
        raise ContractError(sentence)


def near(one: float, other: float, relative: float, absolute: float = 0.0) -> bool:
    """Return whether two numbers are the same up to rounding, which the tolerances allow for."""
    return one == other or math.isclose(one, other, rel_tol=relative, abs_tol=absolute)


def said_of_itself(kind: type, needed: Sequence[str]) -> None:
    """Require words for the attributes `needed`, a docstring of its own and defaults for all fields."""
    for name in needed:
        text = getattr(kind, name, "")
        require(isinstance(text, str) and text, f"{kind.__name__} says nothing in its {name}, a short text.")
    require("__doc__" in vars(kind) and kind.__doc__, f"{kind.__name__} has no docstring, whose first line is shown.")
    if dataclasses.is_dataclass(kind):
        missing = [
            field.name
            for field in dataclasses.fields(kind)
            if field.init and field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        ]
        require(not missing, f"{kind.__name__} has no default for {', '.join(missing)}: menus make it without any.")
