"""The process in which Ray's client runs: it takes tasks from a pipe, and gives what came of them.

Whatever Ray prints goes nowhere, and whatever it does to its process is seen by the one that started it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import queue
import threading
import time
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from subflow_app.foundation.interruption import ignore_interrupts
from subflow_app.foundation.jobs.cluster_address import AUTO, ClusterAddress
from subflow_app.foundation.jobs.process_pool import end_with_parent
from subflow_app.foundation.jobs.tasks import carry_out

_TURN_S = 0.1


class Joining(NamedTuple):
    """Ray is loaded."""


class Beat(NamedTuple):
    """The cluster answers.

    Attributes:
        cores: of all nodes that are there now.
    """

    cores: int


class Made(NamedTuple):
    """Outcome of a task.

    Attributes:
        number: of the task.
        packed: its pickled outcome; None: its worker was lost.
        loss: how that is known.
    """

    number: int
    packed: bytes | None
    loss: str = ""


class Refused(NamedTuple):
    """The cluster cannot be joined, or used any more.

    Attributes:
        problem: in a few words.
    """

    problem: str


class _Line:
    """The way to the process that started this one, for several threads."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._lock = threading.Lock()

    def say(self, message: Joining | Beat | Made | Refused) -> None:
        with self._lock, contextlib.suppress(OSError):  # whoever asked has ended, and so does this process
            self._pipe.send(message)


def serve(pipe: Connection, address: str, beat_s: float, silent_s: float) -> None:
    """Join the cluster and have tasks carried out there, until the other end of the pipe wants no more.

    Args:
        pipe: takes pairs of a number and pickled work, and gives messages.
        address: of the cluster, as Ray takes it.
        beat_s: time between two messages that the cluster answers, s.
        silent_s: time without an answer of its head after which the cluster is lost, s.
    """
    ignore_interrupts()
    threading.Thread(target=end_with_parent, daemon=True).start()
    _print_nothing()
    line = _Line(pipe)
    orders: queue.SimpleQueue[tuple[int, bytes] | None] = queue.SimpleQueue()
    # Always ready to receive, also while Ray waits.
    threading.Thread(target=_receive, args=(pipe, orders), daemon=True).start()
    try:
        ray = _joined(line, address)
        threading.Thread(target=_beat, args=(ray, line, beat_s, silent_s), daemon=True).start()
        _work(ray, line, orders)
    except Exception as error:  # Ray has many, of no common kind: all say that the cluster cannot be used
        line.say(Refused(_first_line(error)))
    # Not by way of the interpreter's own end: threads of Ray may wait for what is gone.
    os._exit(0)


def carry_out_packed(packed: bytes) -> bytes:
    """Do the work in a worker; pickled here and there, so that the client need not know what is in it."""
    return pickle.dumps(carry_out(pickle.loads(packed)))


def _joined(line: _Line, address: str) -> Any:
    # Said before it is imported: it tells its makers how it is used.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    import ray

    # It warns of being used in a thread, which is meant.
    logging.getLogger("ray").setLevel(logging.ERROR)
    line.say(Joining())
    if address == AUTO:
        _check_own_node()
    ray.init(address=address, log_to_driver=False, configure_logging=False, logging_level=logging.ERROR)
    line.say(Beat(_cores(ray)))
    return ray


def _check_own_node() -> None:
    """Refuse what is left on this machine of a cluster that has ended: Ray would wait for it.

    Raises:
        ClusterError: if nobody answers where the cluster was.
    """
    # WORKAROUND(ray 2.60.0): no public name says which address "auto" is before it is joined.
    from ray._private import services

    ClusterAddress.parse(services.get_ray_address_from_environment(AUTO, None)).check()


def _work(ray: Any, line: _Line, orders: queue.SimpleQueue[tuple[int, bytes] | None]) -> None:
    remote = ray.remote(num_cpus=1, max_retries=0)(carry_out_packed)
    numbers: dict[Any, int] = {}
    while True:
        with contextlib.suppress(queue.Empty):
            while True:
                order = orders.get(timeout=0 if numbers else _TURN_S)
                if order is None:
                    _leave(ray, list(numbers))
                    return
                numbers[remote.remote(order[1])] = order[0]
        if not numbers:
            continue
        ready, _ = ray.wait(list(numbers), num_returns=1, timeout=_TURN_S)
        for reference in ready:
            number = numbers.pop(reference)
            try:
                line.say(Made(number, ray.get(reference)))
            except ray.exceptions.LocalRayletDiedError:
                line.say(Refused("the node of this machine, through which it is reached, has ended"))
                return
            except ray.exceptions.RayError as error:
                # A worker is lost only if the cluster is there to tell.
                _cores(ray)
                line.say(Made(number, None, type(error).__name__))


def _leave(ray: Any, references: list[Any]) -> None:
    for reference in references:
        with contextlib.suppress(Exception):  # it may have ended, or the cluster may be gone
            ray.cancel(reference, force=True)
    with contextlib.suppress(Exception):
        ray.shutdown()


def _beat(ray: Any, line: _Line, beat_s: float, silent_s: float) -> None:
    """Report again and again that the cluster answers; the count of its cores comes from its head.

    Ray itself waits a minute for a head that has ended, and workers that are at a task carry on meanwhile.
    """
    while True:
        time.sleep(beat_s)
        watch = threading.Timer(silent_s, line.say, (Refused(no_answer(silent_s)),))
        watch.daemon = True
        watch.start()
        try:
            line.say(Beat(_cores(ray)))
        except Exception as error:
            line.say(Refused(_first_line(error)))
            return
        finally:
            watch.cancel()


def no_answer(limit_s: float) -> str:
    """The problem of a cluster, or of its client, that was silent for so long."""
    return f"no answer within {limit_s:g} s"


def _cores(ray: Any) -> int:
    """Cores of the nodes that are there now: nodes come and go."""
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def _receive(pipe: Connection, orders: queue.SimpleQueue[tuple[int, bytes] | None]) -> None:
    try:
        while (order := pipe.recv()) is not None:
            orders.put(order)
    except (EOFError, OSError):
        pass
    orders.put(None)


def _print_nothing() -> None:
    """Keep Ray's messages off the terminal, also those that its libraries write without Python."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
