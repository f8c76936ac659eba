"""A race in the output of a cell, as a page of any notebook shows it."""

from __future__ import annotations

from typing import Any

__all__ = ["PATIENCE", "opens", "rows", "steps"]

PATIENCE = 400.0  # seconds, against hanging for ever: a server starts, a kernel starts, numba may compile


def opens(page: Any, address: str) -> bool:
    """Open an address, and return whether anybody answers there yet."""
    from playwright.sync_api import Error

    try:
        page.goto(address)
    except Error:  # nobody listens yet
        return False
    return True


def rows(page: Any) -> list[int]:
    """Return at which step each solver is, in the table below the figures."""
    cells = page.locator('table[aria-label="Results of the solvers"] tbody td:nth-child(3)').all_inner_texts()
    return [int(text.replace(",", "")) for text in cells]


def steps(page: Any) -> int:
    """Return up to which step the curves of all solvers go; 0 as long as there are none."""
    drawn = page.locator(".multiple .plot svg").count()
    return min(rows(page), default=0) if drawn == 2 else 0
