"""The sweeps of the window as a table: where each stands, and how many of its runs are there."""

from __future__ import annotations

from subflow_app.features.sweeps.core.sweep_list import SweepEntry
from subflow_app.toolkit import format as fmt
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.tables import Column, NumberColumn


def done_text(entry: SweepEntry) -> str:
    """Runs that are there of all, and how many failed."""
    if entry.state == "checking":
        return tr("{count} points read", count=fmt.count(entry.checked))
    done = tr("{done} of {total}", done=fmt.count(entry.finished), total=fmt.count(entry.runs))
    return tr("{done}, {failed} failed", done=done, failed=fmt.count(entry.failed)) if entry.failed else done


COLUMNS: tuple[Column[SweepEntry], ...] = (
    Column(translatable("Sweep"), lambda e: e.name, widest="Two disjoint paths"),
    NumberColumn(translatable("Runs"), done_text, widest="100 of 100"),
    Column(translatable("State"), lambda e: tr(e.state), is_mark=True, widest="      interrupted"),
    NumberColumn(translatable("Time left"), lambda e: fmt.duration(e.eta_s) if e.goes_on else "", widest="00 min 00 s"),
    Column(translatable("Started"), lambda e: fmt.moment(e.created_at), widest="28 Nov 2026 09:12"),
)


def tip_of(entry: SweepEntry) -> str | None:
    """Why it failed, or that it can be taken up again."""
    if entry.message:
        return entry.message
    if entry.is_elsewhere:
        return tr("Another program is using it")
    return tr("Can be continued: it makes the missing runs") if entry.can_resume else None
