"""A run of real programs in the window: its samples are drawn as they arrive, and its links can be changed."""

from __future__ import annotations

import logging
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from subflow_app.features.emulation.core.emulation import SAMPLE_INTERVAL_S, EmulationJob
from subflow_app.features.emulation.core.keeping import keep_emulation
from subflow_app.features.emulation.core.network import plan_emulation
from subflow_app.features.emulation.core.presets import (
    EmulationDraft,
    Surroundings,
    file_bytes,
    programs_of,
    write_web_file,
)
from subflow_app.features.emulation.core.program_log import ProgramLog
from subflow_app.features.emulation.core.readiness import with_length
from subflow_app.features.emulation.core.recording import EmulationRecording
from subflow_app.features.running.core.runs import RunJob, RunResult
from subflow_store.errors import StoreError

if TYPE_CHECKING:
    from subflow_app.features.emulation.core.job_text import Program
    from subflow_store import Store

_log = logging.getLogger(__name__)


class EmulationRun(RunJob):
    """A run of chosen programs. `log` holds their output.

    Args:
        text: TOML of the scenario, with the contents of its files.
        draft: the chosen programs and the length of the run.
        store: store for the run; None keeps it in memory.

    Raises:
        InputError: if a choice is incomplete, or the emulator lacks a part of the scenario.
        ScenarioError: if the scenario has problems.
    """

    def __init__(self, text: str, draft: EmulationDraft, store: Store | None) -> None:
        source = with_length(text, draft.seconds)
        size_bytes = file_bytes(draft.choices)
        network = plan_emulation(source.scenario)
        self._folder = tempfile.TemporaryDirectory(prefix="subflow-web-")
        folder = Path(self._folder.name)
        try:
            programs = programs_of(draft.choices, Surroundings(draft.seconds, folder))
            if size_bytes:
                write_web_file(folder, size_bytes)
        except BaseException:
            self._folder.cleanup()
            raise
        self.log = ProgramLog(programs)
        self._source, self._kept_in = source, store
        job = EmulationJob(
            network, source.scenario.seed, programs, seconds=float(draft.seconds), uses_mptcp=draft.mptcp
        )
        self._recording = EmulationRecording(job, self.log.take)
        super().__init__(
            source.scenario,
            source.text,
            sample_interval_s=SAMPLE_INTERVAL_S,
            simulation_maker=lambda *_: self._recording,
            is_measured=True,
        )

    def start_program(self, program: Program) -> None:
        """Start a further program; no effect before the network is ready, or after the run."""
        self._recording.emulation.start_program(program)

    def end_program(self, number: int) -> None:
        """End a program."""
        self._recording.emulation.end_program(number)

    def run(self) -> RunResult:
        """Run the programs to the end, or until `stop`, and store the run with the tag `emulated`.

        Raises:
            RuntimeError: if the method was called before.
        """
        with self._folder:
            result = super().run()
        if self._kept_in is None or result.error is not None:
            return result
        return self._keep(self._kept_in, result)

    def _keep(self, store: Store, result: RunResult) -> RunResult:
        """Store the run with all its flows: those outside the scenario are unknown while it runs."""
        try:
            kept = keep_emulation(self._recording.complete(), self._source, store, None)
            assert kept.run_ids is not None
            row = store.run(kept.run_ids["emulated"])
        except StoreError as error:
            _log.error("the run stays in memory only: %s", error)
            return replace(result, store_error=error)
        self.traces.close(row)
        return replace(result, summary=dict(row.summary or {}), run_id=row.id)
