"""A TCP proxy that can be slow, mute, and lose its connections: the network between a browser and the server."""

import contextlib
import socket
import threading


class Proxy:
    """Forwards a free port to `target`, a port of this machine."""

    def __init__(self, target: int) -> None:
        self._target = target
        self.delay = 0.0  # seconds that each piece of data towards the browser takes, one after the other
        self._refuses = self._tears = False
        self._sockets: set[socket.socket] = set()
        self._mute: set[socket.socket] = set()
        self._speaks = threading.Event()
        self._speaks.set()
        self._closed = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Lose every connection after the header of the next message to the browser; take no new one until `mend`."""
        self._refuses = self._tears = True

    def silence(self) -> None:
        """Hold back all that is sent, the end of a connection too, until `mend` or `forget`."""
        self._speaks.clear()

    def forget(self) -> None:
        """Break a silence for new connections alone; those of before lead nowhere, and nobody is told."""
        self._mute |= self._sockets
        self.mend()

    def mend(self) -> None:
        """Take connections again, and pass on what was held back."""
        self._refuses = self._tears = False
        self._speaks.set()

    def close(self) -> None:
        """Lose every connection for good."""
        self._closed.set()
        self._refuses = True
        self._mute.clear()
        self._speaks.set()
        for connection in list(self._sockets):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                browser, _ = self._listener.accept()
                if self._refuses:
                    browser.close()
                    continue
                try:
                    server = socket.create_connection(("127.0.0.1", self._target))
                except OSError:  # the server is being started again
                    browser.close()
                    continue
                self._sockets |= {browser, server}
                for pair in ((browser, server, False), (server, browser, True)):
                    threading.Thread(target=self._forward, args=pair, daemon=True).start()

    def _forward(self, source: socket.socket, sink: socket.socket, delayed: bool) -> None:
        with contextlib.suppress(OSError):
            while True:
                data = source.recv(65536)
                self._speaks.wait()
                if source in self._mute:
                    if data:
                        continue
                    return  # the other end is not to know
                if not data:
                    break
                if delayed:
                    self._closed.wait(self.delay)
                if delayed and self._tears and (header := data.find(b'"msgtype"')) >= 0:
                    sink.sendall(data[: data.index(b"}", header) + 1])
                    break
                sink.sendall(data)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            self._sockets.discard(end)
            end.close()
