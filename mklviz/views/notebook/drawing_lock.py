"""The lock for changing a view or drawing in a kernel: neither Panel nor its loading is thread-safe."""

import threading

__all__ = ["LOCK"]

LOCK = threading.RLock()
