"""What other dashboards promise of lost connections, second pages, queues and links holds here, too.

Which of them promises what, and which test of ours replays it, is a table in ``apps/docs/developing/tests.md``.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from _waits import PATIENCE
from bokeh.server.session import ServerSession
from test_gate import before_a_server
from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

from mklviz.bench._visitors import Visitor, turn
from mklviz.limits import LIMITS
from mklviz.server.connections import party
from mklviz.server.messages import MOST_SOCKETS, OPEN_SOCKETS
from mklviz.server.serving import _has_room

TESTS = Path(__file__).parent
CUTS, CHANGES = 20, 5


class Page(Visitor):
    """A page without a browser, which tells what has changed until it is answered, as the script of a page does."""

    def __init__(self, port: int) -> None:
        super().__init__(port)
        self._changes = 0
        self._unanswered: list[list[str]] = []

    @property
    def counts_frames(self) -> str:
        """The name of the model that does."""
        return self._heart

    async def change(self) -> None:
        """Tell of one more frame that was painted."""
        self._changes += 1
        header = json.dumps({"msgid": f"change-{self._changes}", "msgtype": "PATCH-DOC"})
        content = json.dumps({"events": [turn(self._heart, "ack", self._changes)]})
        self._unanswered.append([header, "{}", content])
        await self._tell(self._unanswered[-1])

    async def _tell(self, parts: list[str]) -> None:
        for part in parts:
            await self._socket.write_message(part)

    async def cut(self) -> None:
        """Lose the connection without a word, open another, and tell once more what was not answered on the first."""
        socket: Any = self._socket
        socket.protocol.stream.close()
        request = HTTPRequest(f"ws://{self._address}/ws", request_timeout=PATIENCE)
        self._socket = await websocket_connect(request, subprotocols=["bokeh", self._token], max_message_size=1 << 28)
        await self._read()  # the server's greeting
        for header, _, content in self._unanswered:
            await self._tell([header, '{"again": true}', content])
        while self._unanswered:
            kind, _ = await self._read()
            if kind == "OK":
                self._unanswered.pop()


@pytest.mark.full
def test_twenty_cuts_in_a_row_lose_nothing_and_repeat_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    carried: list[str] = []
    patch = ServerSession.patch

    async def counted(message: Any, connection: Any) -> Any:
        carried.append(message.header["msgid"])
        return await patch(message, connection)

    async def visit(port: int, server: Any) -> None:
        page = Page(port)
        await page.open()
        monkeypatch.setattr(ServerSession, "patch", counted)
        for _ in range(CUTS):
            for _ in range(CHANGES):
                await page.change()
            await page.cut()
        (session,) = server.get_sessions()
        assert session.document.get_model_by_id(page.counts_frames).ack == CUTS * CHANGES
        assert session.connection_count == 1

    before_a_server(visit)
    changes = [name for name in carried if name.startswith("change-")]  # and not that the page was loaded
    assert changes == [f"change-{count + 1}" for count in range(CUTS * CHANGES)]


def test_a_class_behind_one_address_comes_back_before_its_old_sockets_are_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address = "192.0.2.7"
    for count, room in ((0, True), (LIMITS.sessions, True), (MOST_SOCKETS * LIMITS.sessions, False)):
        monkeypatch.setitem(OPEN_SOCKETS, party(address), count)
        assert _has_room(address) is room


def test_each_promise_of_another_has_a_test_of_ours() -> None:
    table = (TESTS.parent / "apps/docs/developing/tests.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| [^|]+ \| ([^|]+) \| `(\w+\.py)`, `(\w+)` \|$", table, re.MULTILINE)
    assert len(rows) >= 30
    assert {whose.split(",")[0] for whose, _, _ in rows} == {"Streamlit", "marimo", "Jupyter Server", "Gradio", "Shiny"}
    for _, file, name in rows:
        assert f"def {name}(" in (TESTS / file).read_text(encoding="utf-8"), name
