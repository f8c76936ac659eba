"""Which names were perhaps meant by one that does not exist: what others call the thing, or what is spelt nearly so.

Stands on the standard library alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["hint", "suggestions"]

ALIASES = {
    "circles": ("rings",),
    "cross-entropy": ("logistic",),
    "cutting-planes": ("silp", "level"),
    "digits": ("optdigits",),
    "gradient-descent": ("pgd",),
    "group-lasso": ("block-l1",),
    "l1": ("simplex", "l1-penalty"),
    "l2": ("lp-ball", "squared"),
    "lasso": ("simplex", "l1-penalty"),
    "logreg": ("logistic",),
    "moons": ("two_moons",),
    "mse": ("squared",),
    "one-vs-rest": ("one-against-all",),
    "ovr": ("one-against-all",),
    "rbf": ("gaussian",),
    "ridge": ("lp-ball", "squared"),
    "svc": ("hinge",),
    "svm": ("hinge",),
    "svr": ("epsilon-insensitive",),
}
"""What other programs call a kernel family, a loss, a regularizer, a solver or a data set."""
MOST = 3  # names that a sentence suggests
LONGEST = 40  # letters of a name that may be a misspelling
SHORTEST = 3  # letters of a name that may be the beginning of one
ALIKE = 0.72  # as difflib counts it: one letter in four may be wrong


def suggestions(name: str, known: Iterable[str]) -> list[str]:
    """Return those of the `known` names that `name` may stand for, the nearest first; mostly none."""
    wanted, known = _plain(name), list(known)
    others = [other for other in ALIASES.get(wanted, ()) if other in known]
    if others or len(wanted) > LONGEST:
        return others
    plain = {_plain(other): other for other in known}
    near = [plain[other] for other in get_close_matches(wanted, plain, MOST, ALIKE)]
    begun = [other for other in known if len(wanted) >= SHORTEST and _plain(other).startswith(wanted)]
    return list(dict.fromkeys([*near, *begun]))[:MOST]


def hint(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence on a name that does not exist: which were perhaps meant, or else all there are."""
    known = list(known)
    near = suggestions(name, known)
    return f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}."


def _plain(name: str) -> str:
    return name.lower().replace("_", "-")
