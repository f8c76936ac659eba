"""Whose runs a store reads, changes and gives out: the rule that keeps the visitors of one server apart."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["EVERYBODY", "Asker", "Everybody", "Owner"]


@dataclass(frozen=True)
class Owner:
    """One of several people who share a store, by a name that is never empty."""

    name: str

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise ValueError("An owner has a name; EVERYBODY may see all runs.")

    @property
    def condition(self) -> tuple[str, tuple[str, ...]]:
        """The runs that are this owner's, as an expression of SQL and its values."""
        return "owner = ?", (self.name,)

    def owns(self, owner: str) -> bool:
        """Return whether a run is this owner's whose head names `owner`."""
        return owner == self.name


@dataclass(frozen=True)
class Everybody:
    """An asker that may see all runs."""

    name: str = ""  # that runs without an owner have
    condition: tuple[str, tuple[str, ...]] = ("1", ())

    def owns(self, owner: str) -> bool:
        """Return that every run may be read and changed."""
        return True


Asker = Owner | Everybody
EVERYBODY = Everybody()
"""Who works on the command line or with the library, and visitors of a server that shares all runs."""
