"""Keeps Panel from importing a module because an address names it.

Panel answers ``/components/MODULE/CLASS/ATTRIBUTE/FILE`` with a file that belongs to a component. It imports whatever
module is named there, which runs that module's code. Here it finds only components of Panel and of this package, in
modules that are loaded already.
"""

from __future__ import annotations

import sys

from panel.io.server import ComponentResourceHandler
from param import Parameterized
from tornado.web import HTTPError

__all__ = ["import_nothing_for_component_files"]

_PACKAGES = ("mklviz", "panel", "panel_material_ui")

_parse = ComponentResourceHandler.parse_url_path


def import_nothing_for_component_files() -> None:
    """Let every server of this process answer so, even one that runs already."""
    ComponentResourceHandler.parse_url_path = _parse_loaded


def _parse_loaded(handler: ComponentResourceHandler, path: str) -> str:
    module, *names = path.split("/")
    known = vars(sys.modules[module]) if module.split(".")[0] in _PACKAGES and module in sys.modules else {}
    component = known.get(names[0]) if names else None  # not by getattr: a module's own __getattr__ may import
    if not isinstance(component, type) or not issubclass(component, Parameterized):
        raise HTTPError(404, "There is no component of that name")
    try:
        return _parse(handler, path)
    except (TypeError, IndexError) as error:  # what the address names holds no files
        raise HTTPError(404, "There is no such file") from error
