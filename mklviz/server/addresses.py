"""Where the server listens, and the names by which browsers may ask for it."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence

from mklviz.errors import MklvizError
from mklviz.quoting import quote

__all__ = ["LOCAL", "check_address", "frame_origin", "is_local", "known_names", "own_addresses"]

LOCAL = "localhost"
_ANY = ("0.0.0.0", "::")
_NOWHERE = ("192.0.2.1", 9)  # an address reserved for documentation: nothing is sent there


def check_address(address: str, port: int) -> None:
    """Raise `MklvizError` where nobody can listen at this address and port."""
    try:
        addresses = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, ValueError):  # no name of a machine at all is a ValueError
        raise MklvizError(
            f"--address {quote(address)} is no address of this machine: give one, such as 0.0.0.0 for all, or leave it"
            " out for this machine only."
        ) from None
    for family, kind, protocol, _, socket_address in addresses:
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(socket_address)
            except OSError as error:
                if len(addresses) > 1 and family == socket.AF_INET6:
                    continue  # IPv6 names resolve here, but there is no IPv6
                where = f"Port {port}" if address == LOCAL else f"Port {port} of {quote(address)}"
                raise MklvizError(f"{where} cannot be used ({error.strerror}): choose another with --port.") from None


def is_local(address: str) -> bool:
    """Whether nobody but this machine reaches this address."""
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
