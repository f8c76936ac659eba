"""The code that lets a browser in: how one is made up, and how long an address waits after wrong ones.

A code of eight letters takes 31^8 / 2 guesses. A code that a person chose may take a few thousand. So after more wrong
codes from an address than a class behind it mistypes, the server looks at no other from there for a second, and twice
as long after each further one. Each right code forgets the wrong ones.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from time import monotonic

from mklviz.errors import MklvizError

__all__ = ["Guesses", "check_code", "new_code"]

SHORTEST = 6
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # nobody mistakes one for another
AT_ONCE = 60  # wrong codes that cost nothing: a class of 40 comes from one address, and people mistype
LONGEST_WAIT = 60.0  # seconds
MOST_PARTIES = 10_000  # remembered; beyond that the one whose last guess is oldest is forgotten


def new_code() -> str:
    """Return a code that nobody guesses, and that a person can read out."""
    return "".join(secrets.choice(LETTERS) for _ in range(8))


def check_code(code: str) -> str:
    """Return a code that a person chose, without spaces around it; raise `MklvizError` if it is a bad one."""
    code = code.strip()
    if not code.isprintable() or len(code) < SHORTEST:
        raise MklvizError("--code must have at least six letters or digits, so that nobody guesses it.")
    return code


class Guesses:
    """The wrong codes that came from each party, which is an address or a network."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._wrong: dict[str, tuple[int, float]] = {}  # how many, and when the next is looked at

    def wait(self, party: str) -> float:
        """Return the seconds until the server looks at a code from there; 0 if it does at once."""
        _, after = self._wrong.get(party, (0, 0.0))
        return max(0.0, after - self._clock())

    def was_wrong(self, party: str) -> None:
        """Let the next code from there wait longer."""
        count = self._wrong.pop(party, (0, 0.0))[0] + 1
        beyond = count - AT_ONCE
        wait = min(2.0 ** min(beyond - 1, 10), LONGEST_WAIT) if beyond > 0 else 0.0
        self._wrong[party] = (count, self._clock() + wait)
        if len(self._wrong) > MOST_PARTIES:
            del self._wrong[next(iter(self._wrong))]

    def was_right(self, party: str) -> None:
        """Forget the wrong codes: behind one address there may be a whole class."""
        self._wrong.pop(party, None)
