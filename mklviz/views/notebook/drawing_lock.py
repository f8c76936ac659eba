"""The lock of whoever touches a view or draws in a kernel: neither Panel nor its loading is made for threads."""

import threading

__all__ = ["LOCK"]

LOCK = threading.RLock()
