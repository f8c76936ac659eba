"""``mklviz serve``: where it listens, who may come in, and how many processes answer.

Of several processes this is the one that accepts connections: it loads no page, no Panel and no NumPy.
"""

from __future__ import annotations

import os
import secrets
import webbrowser
from collections.abc import Sequence
from typing import Any

from tornado.netutil import bind_sockets

from mklviz.errors import MklvizError
from mklviz.limits import LIMITS
from mklviz.quoting import quote
from mklviz.server.addresses import LOCAL, check_address, frame_origin, is_local, known_names, own_addresses
from mklviz.server.codes import check_code, new_code
from mklviz.server.dispatcher import check_processes, serve_from_processes
from mklviz.server.logs import log_to_stderr

__all__ = ["serve"]

PAGE, EVERYWHERE = "explorer", "0.0.0.0"


def serve(
    port: int,
    address: str | None = None,
    origins: Sequence[str] = (),
    code: str | None = None,
    frames: Sequence[str] = (),
    show: bool = False,
    classroom: bool = False,
    processes: int = 1,
    shared_runs: bool = False,
) -> None:
    """Serve the dashboard until the process is told to end.

    `address`: where to listen; this machine only by default; `origins`: HOST:PORT under which browsers reach the
    server, besides the names it knows itself; `code`: what browsers must give; one is made up where others than this
    machine reach the address; `frames`: origins, such as https://lab.example.org, of pages that may frame the
    dashboard; `show`: whether to open it in a browser; `classroom`: whether everybody on the network may come in who
    has the code: at all addresses, unless `address` says which; `processes`: how many processes share the port, each
    with pages of its own; `shared_runs`: whether all browsers see all runs; else each sees its own, where others than
    this machine come in. Raises `MklvizError` with a sentence, if it cannot be served there.
    """
    where = address if address is not None else EVERYWHERE if classroom else LOCAL
    if classroom and is_local(where):
        raise MklvizError(f"--classroom at {quote(where)} lets nobody else in: leave --address out.")
    check_processes(processes)
    check_address(where, port)
    known_names(where, port, origins)  # so that a wrong name is reported here, and not by each process
    for origin in frames:
        frame_origin(origin)
    asked = check_code(code) if code is not None else "" if is_local(where) else new_code()
    own_runs = bool(asked or origins or processes > 1) and not shared_runs
    log_to_stderr()
    page = f"http://{own_addresses(where)[0]}:{port}/{PAGE}"
    _announce(page, asked, classroom)

    def open_page() -> None:  # by that address, which is also the one that a class opens
        if show:
            webbrowser.open_new_tab(f"{page}?code={asked}" if asked else page)

    shared: dict[str, Any] = {"address": where, "port": port, "origins": list(origins), "code": asked}
    shared |= {"frames": list(frames), "own_runs": own_runs}
    if processes > 1:
        secret = os.environ.get("BOKEH_SECRET_KEY") or secrets.token_urlsafe(32)
        serve_from_processes(processes, {**shared, "secret": secret}, open_page)
        return
    listening = bind_sockets(port, where)  # browsers that connect wait until the server is ready
    from mklviz.server.serving import serve_here

    serve_here(listening, **shared, begun=open_page)


def _announce(page: str, code: str, classroom: bool) -> None:
    """Print how to come in; with `classroom` also what a class needs to know besides."""
    if not classroom:
        if code:
            print(f"mklviz: open {page}?code={code} (the code is {code})", flush=True)
        return
    print(
        f"mklviz: for the projector\n\n    {page}\n    code: {code}\n\n"
        f"There is room for {LIMITS.sessions:,} pages; a solver has at most"
        f" {LIMITS.race_seconds / 60:,.0f} minutes of CPU time. A race that you run can be followed by all:\n"
        "hand on the link that stands under its buttons, and the class costs one solve.",
        flush=True,
    )
