"""The claims, one file for each paper: a module that says ``CLAIMS = (PaperClaim(...), ...)``.

An installed package brings its own by an entry point in the group mklviz.claims.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import ModuleType

from mklviz.errors import UnknownName
from mklviz.plugins import left_out, modules_with
from mklviz.reproduce.claim import PaperClaim
from mklviz.suggestions import hint

__all__ = ["all_claims", "load_claim"]


def all_claims() -> dict[str, PaperClaim]:
    """Return the claims by their names: file by file, each in its own order."""
    modules = modules_with(sys.modules[__name__], "CLAIMS", _misfit).values()
    return {claim.name: claim for module in modules for claim in module.CLAIMS}


def load_claim(name: str) -> PaperClaim:
    """Return one claim, or raise `UnknownName` if there is none of that name."""
    every = all_claims()
    if name not in every:
        raise UnknownName(" ".join([f"There is no claim {name!r:.80}; {hint(name, every)}", *left_out()]))
    return every[name]


def _misfit(module: ModuleType, others: Iterable[ModuleType]) -> str:
    """Say why a module's claims cannot be used beside the others, or ""."""
    listed = module.CLAIMS
    if not (isinstance(listed, tuple) and all(isinstance(claim, PaperClaim) for claim in listed)):
        return f"its CLAIMS is {listed!r:.60}, not a tuple of PaperClaim."
    names = [claim.name for claim in listed]
    taken = {claim.name for other in others for claim in other.CLAIMS}
    twice = next((name for name in names if name in taken or names.count(name) > 1), "")
    return f"the name {twice!r} is already that of another claim." if twice else ""
