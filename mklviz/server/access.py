"""Where the server listens, the names by which browsers may ask for it, and the code that lets them in."""

from __future__ import annotations

import ipaddress
import secrets
import socket
from collections.abc import Callable, Sequence
from time import monotonic

from tornado.netutil import bind_sockets

from mklviz.errors import MklvizError
from mklviz.quoting import quote

LOCAL = "localhost"
_ANY = ("0.0.0.0", "::")
_NOWHERE = ("192.0.2.1", 9)  # an address reserved for documentation: nothing is sent there


def listen(address: str, port: int) -> list[socket.socket]:
    """Return sockets that listen at this address and port, or raise `MklvizError`."""
    try:
        return bind_sockets(port, address)
    except (socket.gaierror, ValueError):  # no name of a machine at all is a ValueError
        raise MklvizError(
            f"--address {quote(address)} is no address of this machine: give one, such as 0.0.0.0 for all, or leave it"
            " out for this machine only."
        ) from None
    except OSError as error:
        where = f"Port {port}" if address == LOCAL else f"Port {port} of {quote(address)}"
        raise MklvizError(f"{where} cannot be used ({error.strerror}): choose another with --port.") from None


def is_local(address: str) -> bool:
    """Whether this machine alone reaches this address."""
    try:
        return address == LOCAL or ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def own_addresses(address: str) -> list[str]:
    """Return the addresses by which others reach a server that listens at `address`, the likeliest first."""
    if address not in _ANY:
        return [address]
    names = [socket.gethostname()]
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(_NOWHERE)
            names.insert(0, probe.getsockname()[0])
    except OSError:  # no network
        pass
    return names


def known_names(address: str, port: int, others: Sequence[str]) -> list[str]:
    """Return the names, HOST:PORT, by which browsers may ask for the server; `others` may be patterns."""
    hosts = [LOCAL, "127.0.0.1", socket.gethostname(), *own_addresses(address)]
    own = [f"{host.lower()}:{port}" for host in hosts if ":" not in host]  # Bokeh knows no names in brackets
    for name in map(str.lower, others):
        host, mark, digits = name.partition(":")
        if not host or (mark and not (digits.isascii() and digits.isdecimal())):
            raise MklvizError(
                f"--allow-websocket-origin {quote(name)} is no name under which browsers reach this server: write"
                " HOST:PORT, such as lab.example.org:5006."
            )
        own.append(name if mark or name == "*" else f"{name}:80")
    return list(dict.fromkeys(own))


def frame_origin(origin: str) -> str:
    """Return the origin of pages that may frame the dashboard, or raise `MklvizError` if it is none."""
    scheme, mark, host = origin.partition("://")
    if scheme not in ("http", "https") or not mark or not host or set(host) & set(" ;,'\"/") or not host.isprintable():
        raise MklvizError(f"--allow-frame {quote(origin)} is no origin of a page: write https://HOST, without a path.")
    return origin


SHORTEST = 6
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none is mistaken for another
AT_ONCE = 60  # wrong codes that cost nothing: a class of 40 comes from one address, and people mistype
LONGEST_WAIT = 60.0  # seconds
MOST_PARTIES = 10_000  # remembered; beyond that the one whose last guess is oldest is forgotten


def new_code() -> str:
    """Return a code that cannot be guessed, and that a person can read out."""
    return "".join(secrets.choice(LETTERS) for _ in range(8))


def check_code(code: str) -> str:
    """Return a code that a person chose, without spaces around it; raise `MklvizError` if it is a bad one."""
    code = code.strip()
    if not code.isprintable() or len(code) < SHORTEST:
        raise MklvizError("--code must have at least six letters or digits, so that it is not guessed.")
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
