"""Bokeh works out anew, for every model and each of its properties, what its class alone decides.

The figures of a race are some 700 models, and a class of thirty opens thirty times as many: a third of what a page
costs the server went into the same answers again.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from bokeh.core.has_props import HasProps
from bokeh.core.property.descriptors import PropertyDescriptor

__all__ = ["remember_defaults"]


@cache
def remember_defaults() -> None:
    """Let Bokeh keep these answers, by class; done once per process."""
    bokehs: Any = HasProps
    of_class, may_vary = bokehs._overridden_defaults.__func__, PropertyDescriptor.has_unstable_default

    @cache
    def overridden(kind: Any) -> dict[str, Any]:
        found: dict[str, Any] = of_class(kind)
        return found

    @cache
    def varies(descriptor: Any, kind: Any) -> bool:
        return bool(may_vary(descriptor, kind))

    def has_unstable_default(descriptor: Any, model: Any) -> bool:
        kind: Any = type(model)
        return varies(descriptor, kind)

    def overridden_defaults(kind: Any) -> dict[str, Any]:
        return overridden(kind)

    bokehs._overridden_defaults = classmethod(overridden_defaults)
    descriptors: Any = PropertyDescriptor
    descriptors.has_unstable_default = has_unstable_default
