"""What stands around whatever a page has open: what one person looks at, the header, and the connection."""

from __future__ import annotations

from typing import Any

from mklviz.views.explorer.header import Header
from mklviz.views.explorer.key_help import RACE
from mklviz.views.explorer.page import status_line
from mklviz.views.host.page_session import owner_of_page
from mklviz.views.host.reconnect import Reconnect
from mklviz.views.session.session import Session

__all__ = ["Frame"]


class Frame:
    """One page's session, header, line of status and connection, before and after the dashboard is built."""

    def __init__(self) -> None:
        self.session = Session(owner=owner_of_page())
        self.reconnect = Reconnect()
        self.header = Header(self.session, RACE)
        self.status = status_line()

    @property
    def parts(self) -> list[Any]:
        """What stands in the header between the name and the switches."""
        return [self.status, self.reconnect]
