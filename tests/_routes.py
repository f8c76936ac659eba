"""Asks the dashboard on every route it has, with hostile parts, and prints what came of it.

    python tests/_routes.py CODE

The routes are those of the running application. A process of its own, as one of them may end it.
"""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import compress, product
from urllib.parse import quote

from _cover import covered
from _waits import compile_nothing_ahead
from tornado.netutil import bind_sockets
from tornado.routing import PathMatches, Rule, RuleRouter

import mklviz.server.serving as serving
from mklviz.server.gate import COOKIE

OWN, SESSION = ("mklviz", "panel", "panel_material_ui", "bokeh"), "bokeh_app_"
COMPONENT = "panel.template.fast.base/FastBaseTemplate/_css/fast.css"
PARTS = (
    "",
    COMPONENT,
    "numpy.f2py.__main__/x/css/y",  # each of these ends the process that imports it, opens a browser, or just shows
    "idlelib.idle/x/css/y",
    "antigravity/x/css/y",
    "this/x/_css/y",
    "mklviz.__main__/main/css/y",
    "mklviz/MKLClassifier/css/y",  # imported when it is asked for
    "panel.command.serve/Serve/css/y",
    "os/path/css/../../../../etc/passwd",
    ".mklviz/x/css/y",
    "panel.config/panel_extension/css/y",
    "panel.widgets.base/Widget/_resources/css/y",
    "panel/../../../../../etc/passwd",
    "panel\\..\\..\\x",
    "/etc/passwd",
    "a\0b",
    "\udcff\udcfe",
    "é" * 300,
    "x" * 9000,
)
QUERIES = ("", "?theme=%ff%fe", "?race=%00&recipe=--help&code=%ff", "?bokeh-session-id=x&bokeh-token=y")
METHODS = ("GET", "HEAD", "POST", "OPTIONS")
SENT = (
    "",
    "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image\r\n",
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n"
    "Sec-WebSocket-Protocol: bokeh, W10=\r\nOrigin: http://localhost:{port}\r\n",
)


def patterns(rules: list[Rule]) -> Iterator[str]:
    """Yield the path of every rule, in which each %s stands for what comes."""
    for rule in rules:
        if isinstance(rule.target, RuleRouter):
            yield from patterns(rule.target.rules)
        elif isinstance(rule.matcher, PathMatches):
            path = rule.matcher._path
            yield (rule.matcher.regex.pattern.rstrip("$") if path is None else path).removesuffix("/?") or "/"


def targets(routes: list[str]) -> Iterator[str]:
    """Yield what is asked for."""
    spelled = [quote(part, safe="/\\", errors="surrogateescape") for part in PARTS]
    for route in routes:
        yield from [route.replace("%s", part) for part in spelled] if "%s" in route else [route + q for q in QUERIES]


async def status(port: int, method: str, target: str, sent: str) -> str:
    """Ask once; return the status of the answer, or "" where the connection was closed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"{method} {target} HTTP/1.1\r\nHost: localhost:{port}\r\n{sent.format(port=port)}\r\n".encode())
    try:
        line = await reader.readline()
        return line.decode().split(" ")[1] if line else ""
    except ConnectionResetError:
        return ""
    finally:
        writer.close()


async def main(code: str) -> None:
    """Serve, ask, and print."""
    compile_nothing_ahead()
    listening = bind_sockets(0, "127.0.0.1")
    port = listening[0].getsockname()[1]
    server = serving.make_server("localhost", port, [], code, [])
    server.start()
    serving.receive(server, listening)
    rules = server._tornado.default_router.rules
    gates = [rule.target_kwargs["gate"] for rule in rules if "gate" in rule.target_kwargs]
    cookies = ["", f"Cookie: {COOKIE}={gates[0].token}\r\n"] if code else [""]
    # all that a page needs is there from now on
    assert await status(port, "GET", "/explorer?page=explore", cookies[-1]) == "200"
    routes = sorted(set(patterns(rules)))
    before, answers, broken = set(sys.modules), Counter[str](), []
    every = list(product(targets(routes), METHODS, SENT, cookies))
    for target, method, sent, cookie in compress(every, covered(every)):  # every two meet
        answer = await status(port, method, target, sent + cookie)
        answers[answer] += 1
        if answer.startswith("5") and answer != "503":  # 503: there is no room for more pages
            broken.append([method, target[:80], sent[:30], answer])
    imported = sorted(
        name for name in set(sys.modules) - before if name.split(".")[0] not in OWN and not name.startswith(SESSION)
    )
    found = await status(port, "GET", f"/components/{COMPONENT}", cookies[-1])
    told = {"routes": routes, "asked": answers.total(), "component": found, "imported": imported, "broken": broken}
    print(json.dumps(told))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
