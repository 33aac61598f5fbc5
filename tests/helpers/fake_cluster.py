"""A fake head with Ray's answers, and a fake module `ray` whose cluster is its own process, with realistic faults.

If the real Ray is installed, `tests/features/sweeps/cli/test_sweep_cluster.py` compares both with `--full`.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

GRPC = b"\x00\x00\x00\x04\x00\x00\x00\x00\x00" + b"\x00\x00\x01\x01\x04\x00\x00\x00\x01" + b"\x88"
"""SETTINGS, then HEADERS of stream 1 with ":status: 200"."""
NOT_FOUND = GRPC[:-1] + b"\x8d"
WEB_SERVER = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"


@contextmanager
def head(answer: bytes | None = GRPC) -> Iterator[str]:
    """The address of a head that sends this answer to every client; None: it listens and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        if answer is not None:
            threading.Thread(target=_answer, args=(server, answer), daemon=True).start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)  # the thread would keep it open


def _answer(server: socket.socket, answer: bytes) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection:
            connection.recv(1000)
            connection.sendall(answer)


FAKE_RAY = '''
"""The parts of Ray that Subflow uses. FAULT selects a fault and its time: "name" or "name:tasks"."""

import os
import sys
import time

_fault, _, _after = os.environ.get("FAULT", "").partition(":")
_after = int(_after or 0)
_tasks = 0


class exceptions:
    class RayError(Exception):
        pass

    class WorkerCrashedError(RayError):
        pass

    class LocalRayletDiedError(RayError):
        pass


def _at(name):
    return _fault == name and _tasks >= _after


def init(**_options):
    print("Ray says hello", flush=True)
    print("Ray warns", file=sys.stderr, flush=True)
    if _at("join-hangs"):
        time.sleep(1000)
    if _at("join-fails"):
        raise ConnectionError("Ray was not found\\nat all")
    if _at("join-ends"):
        os._exit(1)


def cluster_resources():
    if _at("silent") or _at("headless"):
        time.sleep(1000)
    return {"CPU": 2.0}


def remote(**_options):
    def decorated(function):
        class Remote:
            @staticmethod
            def remote(*arguments):
                return (function, arguments)

        return Remote

    return decorated


def wait(references, num_returns, timeout):
    return references[:1], references[1:]


def get(reference):
    global _tasks
    _tasks += 1
    if _at("ends"):
        os._exit(1)
    if _at("silent"):
        time.sleep(1000)
    if _at("node-ends"):
        raise exceptions.LocalRayletDiedError("the raylet died")
    if _fault == "worker-ends" and _tasks == _after:
        raise exceptions.WorkerCrashedError("it died")
    function, arguments = reference
    return function(*arguments)


def cancel(reference, force):
    pass


def shutdown():
    pass
'''
