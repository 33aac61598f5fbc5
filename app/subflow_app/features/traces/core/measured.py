"""Runs that were measured on real systems, not simulated: their tags, and the accuracy of an emulated network."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.number_text import rounded_text

if TYPE_CHECKING:
    from subflow_store.values import RunRow

MEASURED_TAG = "measured"
"""Tag of runs imported from measurements."""
KERNEL_TAG = "kernel"
"""Tag of runs of the kernel's TCP and MPTCP."""
EMULATED_TAG = "emulated"
"""Tag of runs of real programs over an emulated network."""
UNRELIABLE_TAG = "unreliable"
"""Further tag of such a run whose packets were too late."""
MEASURED_TAGS = (MEASURED_TAG, KERNEL_TAG, EMULATED_TAG)
"""Tags of runs that were not simulated, and so never count as repetitions of simulated runs of the same scenario."""

# Keys of the summaries of such runs. Tags alone would not suffice, because people can remove them.
_SUMMARY_KEYS = frozenset({"measured", "kernel", "emulation"})


def measured_tag(tags: Collection[str]) -> str:
    """The tag among these that marks a measured run; empty for a simulated one."""
    return next((tag for tag in MEASURED_TAGS if tag in tags), "")


def is_measured(row: RunRow) -> bool:
    """True if a run was measured, not simulated, so that it can be neither replayed nor forked."""
    return bool(measured_tag(row.tags)) or not _SUMMARY_KEYS.isdisjoint(row.summary or {})


def is_cut(row: RunRow) -> bool:
    """True if a simulated run ended before its end, so that it can be simulated again and completed."""
    return row.status in ("stopped", "interrupted") and not is_measured(row)


def emulated_tags(summary: Mapping[str, Any]) -> tuple[str, ...]:
    """Tags of a run of real programs: that of its kind, and a second one if its delays cannot be relied on."""
    is_reliable = (summary.get("emulation") or {}).get("is_reliable", True)
    return (EMULATED_TAG,) if is_reliable else (EMULATED_TAG, UNRELIABLE_TAG)


def emulation_of(row: RunRow) -> Mapping[str, Any] | None:
    """The section about the emulated network in the summary of a run; None for other runs."""
    section = (row.summary or {}).get("emulation")
    return section if isinstance(section, Mapping) else None


def lateness_text(emulation: Mapping[str, Any]) -> str:
    """The accuracy of an emulated network in words, e.g. "99 % of packets at most 0.06 ms late, all at most 0.3 ms".

    Args:
        emulation: the section of the summary; `lateness` has the keys `p99_s` and `max_s`, s.
    """
    lateness = emulation.get("lateness")
    if not lateness:
        return tr("unreliable, the lateness of its packets is unknown")
    p99, most = (rounded_text(float(lateness[key]) * 1e3) for key in ("p99_s", "max_s"))
    text = tr("99 % of packets at most {p99} ms late, all at most {most} ms", p99=p99, most=most)
    if emulation.get("is_reliable", True):
        return text
    return tr("unreliable, this computer was too slow or too busy: {lateness}", lateness=text)
