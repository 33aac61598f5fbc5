"""A comparison with the kernel that can be watched and stopped: what the window starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from subflow_app.features.editor.core.scenario_source import ScenarioSource
from subflow_app.foundation.errors import KernelError
from subflow_app.foundation.jobs.job import Job

if TYPE_CHECKING:
    from subflow_store import Store

_SOCKET_BUFFER_BYTES = 32_000_000


class _StoppedError(KernelError):
    """Raised through the wait for the worker, which ends it on the way."""


class KernelStudy(Job):
    """One simulation and one run of the same scenario on this machine's kernel, both kept; nothing is if it is stopped.

    The kernel's side is a process of its own and runs in real time; while the time to go is unknown it has not begun.

    Args:
        source: the scenario.
        store: where both runs go.

    Attributes:
        run_ids: of the simulated run and of that of the kernel, once they are there.
    """

    def __init__(self, source: ScenarioSource, store: Store) -> None:
        super().__init__(name=source.scenario.name)
        self.run_ids: tuple[int, int] | None = None
        self._source = source
        self._store = store
        self._tell(share=0.0)

    def _work(self) -> None:
        """Run both sides.

        Raises:
            KernelError: if this machine cannot run it, with every reason, or the run fails.
            InputError: if the kernel has no counterpart of something in the scenario.
            StoreError: if the store cannot hold the runs.
        """
        from subflow_app.features.kernel.core import compare, probe
        from subflow_app.features.kernel.core.keeping import keep_both

        scenario = self._source.scenario
        case = compare.Case.of(scenario, seed=scenario.seed, socket_buffer_bytes=_SOCKET_BUFFER_BYTES)
        machine = probe.probe_machine()
        try:
            self._check()
            runs = compare.run_comparisons([case], machine, seeds=1, repetitions=1, progress=self._on_progress)
            (comparison,) = runs
            self._check()
        except _StoppedError:
            return
        kept = keep_both(comparison, self._source.text, machine.release, self._store, None)
        assert kept.run_ids is not None
        self.run_ids = kept.run_ids["simulated"], kept.run_ids["kernel"]
        self._tell(share=1.0)

    def _check(self) -> None:
        if self.is_stopped:
            raise _StoppedError

    def _on_progress(self, elapsed_s: float, total_s: float) -> None:
        self._check()
        self._tell(share=min(elapsed_s / total_s, 0.99), eta_s=max(0.0, total_s - elapsed_s))
