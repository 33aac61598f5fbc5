"""The process of Ray's client: it takes tasks from a pipe, and returns their outcomes.

It discards all output of Ray. If Ray ends this process, the parent process detects it.
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
    """Ray is loaded, and the client begins to join the cluster."""


class Beat(NamedTuple):
    """The cluster has answered.

    Attributes:
        cores: cores of all nodes in the cluster now.
    """

    cores: int


class Made(NamedTuple):
    """Outcome of a task.

    Attributes:
        number: number of the task.
        packed: its pickled outcome; None if its worker was lost.
        loss: name of the error by which Ray reported the loss; empty if the task has an outcome.
    """

    number: int
    packed: bytes | None
    loss: str = ""


class Refused(NamedTuple):
    """The cluster cannot be joined, or can no longer be used.

    Attributes:
        problem: the reason in a few words.
    """

    problem: str


class _Line:
    """The pipe to the parent process, for use by several threads."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._lock = threading.Lock()

    def say(self, message: Joining | Beat | Made | Refused) -> None:
        with self._lock, contextlib.suppress(OSError):  # the parent has ended, and so will this process
            self._pipe.send(message)


def serve(pipe: Connection, address: str, beat_s: float, silent_s: float) -> None:
    """Join the cluster and carry out tasks there, until the other end of the pipe closes or sends None.

    Args:
        pipe: delivers pairs of a task number and pickled work, and takes messages for the parent process.
        address: address of the cluster in Ray's form.
        beat_s: time between two `Beat` messages, s.
        silent_s: the cluster counts as lost after this time without an answer from its head, s.
    """
    ignore_interrupts()
    threading.Thread(target=end_with_parent, daemon=True).start()
    _print_nothing()
    line = _Line(pipe)
    orders: queue.SimpleQueue[tuple[int, bytes] | None] = queue.SimpleQueue()
    # A separate thread receives messages even while a call of Ray blocks this one.
    threading.Thread(target=_receive, args=(pipe, orders), daemon=True).start()
    try:
        ray = _joined(line, address)
        threading.Thread(target=_beat, args=(ray, line, beat_s, silent_s), daemon=True).start()
        _work(ray, line, orders)
    except Exception as error:  # Ray has many errors without a common base; all mean an unusable cluster
        line.say(Refused(_first_line(error)))
    # Skips the interpreter's normal exit, where threads of Ray could wait for a lost cluster.
    os._exit(0)


def carry_out_packed(packed: bytes) -> bytes:
    """Carry out pickled work in a worker, and return its pickled outcome.

    The client only passes the bytes on, so it need not import the modules of the work.
    """
    return pickle.dumps(carry_out(pickle.loads(packed)))


def _joined(line: _Line, address: str) -> Any:
    # Set before the import, because Ray reports usage statistics by default.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    import ray

    # Suppress Ray's warning about use in a thread: this use is intended.
    logging.getLogger("ray").setLevel(logging.ERROR)
    line.say(Joining())
    if address == AUTO:
        _check_own_node()
    ray.init(address=address, log_to_driver=False, configure_logging=False, logging_level=logging.ERROR)
    line.say(Beat(_cores(ray)))
    return ray


def _check_own_node() -> None:
    """Check that the cluster that "auto" selects is alive, because Ray would wait for a cluster that has ended.

    Raises:
        ClusterError: if no server answers at the address of the cluster.
    """
    # WORKAROUND(ray 2.60.0): no public function returns the address of "auto" before joining.
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
                # Raises an error if not only the worker but the whole cluster is lost.
                _cores(ray)
                line.say(Made(number, None, type(error).__name__))


def _leave(ray: Any, references: list[Any]) -> None:
    for reference in references:
        with contextlib.suppress(Exception):  # the task may have ended, or the cluster may be lost
            ray.cancel(reference, force=True)
    with contextlib.suppress(Exception):
        ray.shutdown()


def _beat(ray: Any, line: _Line, beat_s: float, silent_s: float) -> None:
    """Report at regular intervals that the cluster answers, with the number of cores that its head reports.

    Ray itself detects a dead head only after a minute, so a timer reports a head that does not answer in `silent_s`.
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
    """Error text for a cluster or client that has been silent for `limit_s`."""
    return f"no answer within {limit_s:g} s"


def _cores(ray: Any) -> int:
    """Number of cores of all current nodes, at least 1; nodes may join and leave."""
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def _receive(pipe: Connection, orders: queue.SimpleQueue[tuple[int, bytes] | None]) -> None:
    try:
        while (order := pipe.recv()) is not None:
            orders.put(order)
    except (EOFError, OSError):
        pass
    orders.put(None)


def _print_nothing() -> None:
    """Keep Ray's messages off the terminal, including those of its native libraries."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
