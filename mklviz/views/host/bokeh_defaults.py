"""Remembers the defaults of Bokeh's models by class.

Bokeh works them out anew for every model and each of its properties, although the class alone decides. The figures of a
race are some 700 models, and a class of thirty students opens thirty times as many. A third of what a page costs the
server went into the same answers.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from bokeh.core.has_props import HasProps
from bokeh.core.property.descriptors import PropertyDescriptor

__all__ = ["remember_defaults"]


@cache
def remember_defaults() -> None:
    """Let Bokeh remember the defaults of each class; done once per process."""
    models: Any = HasProps
    of_class, may_vary = models._overridden_defaults.__func__, PropertyDescriptor.has_unstable_default

    @cache
    def overridden(kind: Any) -> dict[str, Any]:
        defaults: dict[str, Any] = of_class(kind)
        return defaults

    @cache
    def varies(descriptor: Any, kind: Any) -> bool:
        return bool(may_vary(descriptor, kind))

    def has_unstable_default(descriptor: Any, model: Any) -> bool:
        kind: Any = type(model)
        return varies(descriptor, kind)

    def overridden_defaults(kind: Any) -> dict[str, Any]:
        return overridden(kind)

    models._overridden_defaults = classmethod(overridden_defaults)
    descriptors: Any = PropertyDescriptor
    descriptors.has_unstable_default = has_unstable_default
