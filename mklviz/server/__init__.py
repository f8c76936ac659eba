"""The server of the dashboard: its addresses, the gate before every page, and the processes that share a port."""

from mklviz.server.dispatcher import processes_for
from mklviz.server.serving import serve

__all__ = ["processes_for", "serve"]
