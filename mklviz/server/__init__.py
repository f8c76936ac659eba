"""The dashboard for whoever may see it: addresses, the gate before every page, and the server itself."""

from mklviz.server.dispatcher import processes_for
from mklviz.server.serving import serve

__all__ = ["processes_for", "serve"]
