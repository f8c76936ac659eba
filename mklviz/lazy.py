"""Libraries that only some problems need are imported when such a problem is posed: no other waits for them.

Not while a solver runs: its clock would count it.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

__all__ = ["Later"]


class Later:
    """Stands for a module until it is loaded, or until one of its names is asked for.

    `module`: the module's full name.
    """

    def __init__(self, module: str) -> None:
        self._module = module

    def load(self) -> ModuleType:
        """Import the module now."""
        return importlib.import_module(self._module)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # inspecting or copying it needs no module
            raise AttributeError(name)
        value = getattr(self.load(), name)
        setattr(self, name, value)
        return value
