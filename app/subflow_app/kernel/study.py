"""A comparison with the kernel that can be watched and stopped: what the window starts."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from subflow_app.core.errors import KernelError
from subflow_app.core.scenarios.scenario_source import ScenarioSource

if TYPE_CHECKING:
    from subflow_store import Store

_SOCKET_BUFFER_BYTES = 32_000_000


class KernelStoppedError(KernelError):
    """A person stopped it; nothing of it is kept."""


class KernelStudy:
    """One simulation and one run of the same scenario on this machine's kernel, both kept.

    Args:
        source: the scenario.
        store: where both runs go.
    """

    def __init__(self, source: ScenarioSource, store: Store) -> None:
        self._source = source
        self._store = store
        self._is_stopped = threading.Event()
        self._elapsed_s = 0.0
        self._total_s = 0.0

    @property
    def name(self) -> str:
        """Of the scenario."""
        return self._source.scenario.name

    @property
    def times_s(self) -> tuple[float, float]:
        """Wall time so far and in all, s; the kernel runs in real time, and 0 in all means that it has not begun."""
        return self._elapsed_s, self._total_s

    def stop(self) -> None:
        """Ends it soon; may be called from any thread."""
        self._is_stopped.set()

    def run(self) -> tuple[int, int]:
        """Runs both sides, in the thread that calls; the kernel's side is a process of its own.

        Returns:
            Numbers of the simulated run and of that of the kernel.

        Raises:
            KernelStoppedError: if it was stopped.
            KernelError: if this machine cannot run it, with every reason, or the run fails.
            InputError: if the kernel has no counterpart of something in the scenario.
            StoreError: if the store cannot hold the runs.
        """
        from subflow_app.kernel import compare, probe
        from subflow_app.kernel.keeping import keep_both

        scenario = self._source.scenario
        case = compare.Case.of(scenario, seed=scenario.seed, socket_buffer_bytes=_SOCKET_BUFFER_BYTES)
        machine = probe.probe_machine()
        self._check()
        comparisons = compare.run_comparisons([case], machine, seeds=1, repetitions=1, progress=self._on_progress)
        (comparison,) = comparisons
        self._check()
        kept = keep_both(comparison, self._source.text, machine.release, self._store, None)
        assert kept.run_ids is not None
        return kept.run_ids["simulated"], kept.run_ids["kernel"]

    def _on_progress(self, elapsed_s: float, total_s: float) -> None:
        self._elapsed_s, self._total_s = elapsed_s, total_s
        # Raised through the wait for the worker, which ends it on the way.
        self._check()

    def _check(self) -> None:
        if self._is_stopped.is_set():
            raise KernelStoppedError("the comparison with the kernel was stopped; nothing of it was kept")
