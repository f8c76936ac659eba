"""The server: the served script behind the gate, with signed sessions and bounded messages."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bokeh.settings import settings
from bokeh.util.logconfig import basicConfig
from bokeh.util.token import generate_secret_key
from panel.io.server import get_server

import mklviz.apps
from mklviz._quoting import quote
from mklviz.engine.warmup import WARMUP
from mklviz.errors import MklvizError
from mklviz.server.addresses import LOCAL, check_address, is_local, known_names, own_addresses
from mklviz.server.gate import Gate, new_code, set_up

__all__ = ["make_server", "serve"]

PAGE = "explorer"
MESSAGE_BYTES = 4 * 2**20  # uploads come in pieces of a megabyte


def make_server(address: str, port: int, origins: Sequence[str], code: str, frames: Sequence[str]) -> Any:
    """Return the server, not yet started; see `serve`."""
    names = known_names(address, port, origins)
    server = get_server(
        {PAGE: str(Path(mklviz.apps.__file__).with_name("explorer.py"))},
        port=port,
        address=address,
        websocket_origin=names,
        sign_sessions=True,
        secret_key=settings.secret_key_bytes() or generate_secret_key().encode(),
        websocket_max_message_size=MESSAGE_BYTES,
        # long enough for a page to reconnect, short enough that solvers of a closed page end soon
        unused_session_lifetime_milliseconds=8000,
        check_unused_sessions_milliseconds=2000,
    )
    set_up(
        server._tornado, Gate(names, code, [_frame(origin) for origin in frames], lambda: len(server.get_sessions()))
    )
    return server


def serve(
    port: int,
    address: str | None = None,
    origins: Sequence[str] = (),
    code: str | None = None,
    frames: Sequence[str] = (),
    show: bool = False,
) -> None:
    """Serve the dashboard until the process is told to end.

    Parameters
    ----------
    port : int
    address : str, optional
        Where to listen; this machine only by default.
    origins : sequence of str
        HOST:PORT under which browsers reach the server, besides the names it knows itself.
    code : str, optional
        What browsers must give; one is made up where others than this machine reach the address.
    frames : sequence of str
        Origins, such as https://lab.example.org, of pages that may frame the dashboard.
    show : bool
        Whether to open it in a browser.

    Raises
    ------
    MklvizError
        With a sentence, if it cannot be served there.
    """
    where = LOCAL if address is None else address
    check_address(where, port)
    if code is not None and not (code.isprintable() and len(code.strip()) >= 4):
        raise MklvizError("--code must have at least four letters or digits, so that nobody guesses it.")
    asked = code.strip() if code is not None else "" if is_local(where) else new_code()
    basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO, stream=sys.stderr)
    server = make_server(where, port, origins, asked, frames)
    WARMUP.start()  # compiled code gets ready while the browser opens
    if asked:
        host = own_addresses(where)[0]
        print(f"mklviz: open http://{host}:{port}/{PAGE}?code={asked} (the code is {asked})", flush=True)
    if show:
        server.io_loop.add_callback(server.show, f"/{PAGE}?code={asked}" if asked else f"/{PAGE}")
    server.run_until_shutdown()


def _frame(origin: str) -> str:
    scheme, mark, host = origin.partition("://")
    if scheme not in ("http", "https") or not mark or not host or set(host) & set(" ;,'\"/") or not host.isprintable():
        raise MklvizError(f"--allow-frame {quote(origin)} is no origin of a page: write https://HOST, without a path.")
    return origin
