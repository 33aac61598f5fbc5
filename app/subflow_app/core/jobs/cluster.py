"""Tasks on a Ray cluster: the same code in the workers of its nodes, which need Subflow installed and nothing else.

Ray tries nothing a second time here: what is lost is told, and the job decides, as with processes of its own.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Sequence
from typing import Any

from subflow_app.core.errors import ClusterError
from subflow_app.core.jobs.tasks import Answer, Task, carry_out
from subflow_app.distribution import install_command

# A worker has the next task at hand when it ends one.
_TASKS_EACH = 2
# How often it is asked how many cores there are.
_COUNT_S = 5.0
# Losses one after the other that say that no worker can carry any task out.
_MOST_LOSSES = 50


class RayCluster:
    """Carries tasks out in the workers of a cluster, one on each of its cores."""

    def __init__(self, address: str) -> None:
        """Join the cluster.

        Raises:
            ClusterError: if Ray is not installed, or there is no cluster at that address.
        """
        self._address = address
        self._ray = _ray()
        self._numbers: dict[Any, int] = {}
        self._losses = 0
        self._is_stopped = False
        self._is_ours = not self._ray.is_initialized()
        if self._is_ours:
            _print_nothing(self._ray)
            try:
                self._ray.init(address=address, log_to_driver=False, configure_logging=False, logging_level="error")
            except Exception as error:  # Ray has many, of no common kind: all say that it cannot be had
                raise ClusterError(f"there is no Ray cluster at {address}: {_first_line(error)}") from error
        self._carry_out = self._ray.remote(num_cpus=1, max_retries=0)(carry_out)
        self._counted_at = time.monotonic()
        self.jobs = self._cores()
        self.slots = self.jobs * _TASKS_EACH

    def submit(self, task: Task) -> None:
        """Take a task."""
        try:
            self._numbers[self._carry_out.remote(task.work)] = task.number
        except Exception as error:
            raise self._gone(error) from error

    def wait(self, timeout_s: float) -> Sequence[Answer]:
        """What has come since."""
        answers: list[Answer] = []
        try:
            # One after the other: each is stored before the next is fetched into the memory of this machine.
            ready, _ = self._ray.wait(list(self._numbers), num_returns=1, timeout=timeout_s)
        except Exception as error:
            raise self._gone(error) from error
        for reference in ready:
            number = self._numbers.pop(reference)
            try:
                answers.append(Answer(number, self._ray.get(reference)))
                self._losses = 0
            except self._ray.exceptions.RayError as error:
                if self._is_stopped:
                    return ()
                self._losses += 1
                if self._losses >= _MOST_LOSSES:
                    raise self._gone(error) from error
                answers.append(Answer(number, None, f"its worker was lost ({type(error).__name__})"))
        if time.monotonic() - self._counted_at > _COUNT_S:
            self.jobs = self._cores()
            self.slots = self.jobs * _TASKS_EACH
            self._counted_at = time.monotonic()
        return answers

    def stop(self) -> None:
        """End what is under way."""
        self._is_stopped = True
        for reference in list(self._numbers):
            with contextlib.suppress(Exception):  # it may have ended, or the cluster may be gone
                self._ray.cancel(reference, force=True)

    def close(self) -> None:
        """Leave the cluster; it goes on without us."""
        self.stop()
        if self._is_ours:
            self._ray.shutdown()

    def _cores(self) -> int:
        """Cores of the nodes that are there now: nodes come and go."""
        try:
            return max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        except Exception as error:
            raise self._gone(error) from error

    def _gone(self, error: Exception) -> ClusterError:
        return ClusterError(
            f"the Ray cluster at {self._address} cannot be used any more: {_first_line(error)}; the runs that have "
            "ended are kept, and what is missing can be made later"
        )


def _ray() -> Any:
    # Said before it is imported: it tells its makers how it is used.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError as error:
        raise ClusterError(f"a cluster needs Ray, which is not installed: {install_command('cluster')}") from error
    # It warns of being used in a thread, which is meant.
    logging.getLogger("ray").setLevel(logging.ERROR)
    return ray


def _print_nothing(ray: Any) -> None:
    """Keep Ray's own messages off stdout, where a document may be printed."""
    # WORKAROUND(ray 2.60.0): what nodes tell of dead workers is printed to stdout even with log_to_driver=False, and no
    # public option changes that; this switch is the one that its debugger turns off. The job tells of losses itself.
    ray._private.worker._worker_logs_enabled = False


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
