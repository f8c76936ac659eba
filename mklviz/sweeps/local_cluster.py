"""A Dask cluster of this process: a scheduler in it, and workers that are processes with one thread each.

The workers are no children of `multiprocessing`, which would run an unguarded script again in each, and end at once
when this process is gone. Whoever connects says a secret first, which workers read from their input: on a machine with
several accounts a port alone would let all of them run code here.
"""

from __future__ import annotations

import asyncio
import atexit
import hmac
import json
import logging
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from typing import Any

import dask
from distributed import Client, LocalCluster, Worker
from distributed.comm import registry, tcp

from mklviz.errors import SolverError

HINT = "perhaps there is not enough memory, or their error stream says more."
MOST_LOST = 12
SECRET_SECONDS = 10.0
FEW = 10  # messages that the scheduler remembers: those with steps are large
SCHEME, HOST = "mklviz", "127.0.0.1"
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
_ENVIRONMENT = {**dict.fromkeys(_THREADS, "1"), "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False"}
_PROGRAM = "from mklviz.sweeps.local_cluster import main; main()"
_secret = secrets.token_bytes(32)


class _SecretConnector(tcp.TCPConnector):
    prefix = f"{SCHEME}://"

    async def connect(self, address: str, deserialize: bool = True, **arguments: Any) -> Any:
        comm = await super().connect(address, deserialize, **arguments)
        await comm.stream.write(_secret)
        return comm


class _SecretListener(tcp.TCPListener):
    prefix = f"{SCHEME}://"

    async def _prepare_stream(self, stream: Any, address: str) -> Any:
        with suppress(OSError, TimeoutError):
            given = await asyncio.wait_for(stream.read_bytes(len(_secret)), SECRET_SECONDS)
            if hmac.compare_digest(given, _secret):
                return stream
        stream.close()
        return None


class _SecretBackend(tcp.TCPBackend):
    _connector_class, _listener_class = _SecretConnector, _SecretListener


registry.backends[SCHEME] = _SecretBackend()


class LocalWorkers:
    """The workers, and a client that gives them work; `count`: how many there are at first."""

    def __init__(self, count: int) -> None:
        self._processes = [_started() for _ in range(count)]  # which import while the scheduler starts
        self._folder = tempfile.TemporaryDirectory(prefix="mklviz-sweep-", ignore_cleanup_errors=True)
        with dask.config.set({"distributed.admin.low-level-log-length": FEW}):
            self._cluster = LocalCluster(
                n_workers=0,
                protocol=SCHEME,
                dashboard_address=None,
                silence_logs=logging.CRITICAL,
                scheduler_kwargs={"local_directory": self._folder.name, "dashboard_address": f"{HOST}:0"},
            )
        self._cluster.scheduler.http_server.stop()  # which answers without a dashboard, too
        self.client = Client(self._cluster, set_as_default=False)
        self._lost = self._ended = 0  # processes lost since a run has ended, and how many had
        atexit.register(self.end)
        for process in self._processes:
            self._tell(process)

    @property
    def pids(self) -> list[int]:
        return [process.pid for process in [*self._processes]]

    def keep(self, count: int, ended: int) -> None:
        """Start as many processes as are missing; `ended`: how many runs have ended until now."""
        alive = [process for process in self._processes if process.poll() is None]
        self._lost = len(self._processes) - len(alive) + (self._lost if ended == self._ended else 0)
        self._ended = ended
        if self._lost >= MOST_LOST:
            raise SolverError(f"{MOST_LOST} processes ended one after another, and none has solved anything: {HINT}")
        new = [_started() for _ in range(count - len(alive))]
        for process in new:
            self._tell(process)
        self._processes = alive + new

    def end(self) -> None:
        """End the processes and the scheduler."""
        atexit.unregister(self.end)
        for process in self._processes:
            process.kill()
            process.communicate()
        self._processes = []
        self.client.close()
        self._cluster.close()
        self._folder.cleanup()

    def _tell(self, process: subprocess.Popen[bytes]) -> None:
        """Say where the scheduler is, and the secret."""
        words = json.dumps([self._cluster.scheduler_address, self._folder.name, _secret.hex()])
        assert process.stdin is not None
        with suppress(OSError):  # it has ended, which is seen soon
            process.stdin.write(f"{words}\n".encode())
            process.stdin.flush()


def _started() -> subprocess.Popen[bytes]:
    path = os.pathsep.join(map(os.path.abspath, sys.path))
    return subprocess.Popen(
        [sys.executable, "-c", _PROGRAM],
        stdin=subprocess.PIPE,
        env={**os.environ, **_ENVIRONMENT, "PYTHONPATH": path},
        start_new_session=True,  # Ctrl-C is for the process that started it, which asks it to end
    )


def main() -> None:
    """Be a worker until the process that started this one is gone."""
    global _secret
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever a plug-in prints
    address, folder, secret = json.loads(sys.stdin.readline())
    _secret = bytes.fromhex(secret)
    threading.Thread(target=_end_with_input, args=(folder,), daemon=True).start()
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    asyncio.run(_work(address, folder))


def _end_with_input(folder: str) -> None:
    sys.stdin.read()
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


async def _work(address: str, folder: str) -> None:
    worker = Worker(address, host=HOST, nthreads=1, memory_limit=0, local_directory=folder, dashboard=False)
    async with worker:
        worker.http_server.stop()
        await worker.finished()
