"""The queued runs as a table: where each stands, and why it failed."""

from __future__ import annotations

from subflow_app.features.running.core.run_queue import QueueEntry
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.toolkit import format as fmt
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.tables import Column, NumberColumn


def _kept(entry: QueueEntry) -> str:
    kept = "" if entry.run_id is None else tr("run {number}", number=entry.run_id)
    return ", ".join(text for text in (kept, entry.note) if text)


COLUMNS: tuple[Column[QueueEntry], ...] = (
    Column(translatable("Run"), lambda e: e.name, widest="Two disjoint paths, balia"),
    NumberColumn(translatable("Seed"), lambda e: e.seed, widest="12345"),
    Column(translatable("State"), lambda e: tr(e.state), is_mark=True, widest="      cancelled"),
    NumberColumn(translatable("Done"), lambda e: fmt.ratio(e.fraction, 2), widest="100 %"),
    NumberColumn(
        translatable("Time left"),
        lambda e: fmt.duration(e.eta_s) if e.state is JobState.RUNNING else "",
        widest="00 min 00 s",
    ),
    Column(translatable("Tag"), lambda e: e.tag, widest="batch of 12"),
    Column(translatable("Kept as"), _kept, widest="run 12345"),
)
