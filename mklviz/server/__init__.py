"""The dashboard for whoever may see it: addresses, the gate before every page, and the server itself."""

from mklviz.server.serving import serve

__all__ = ["serve"]
