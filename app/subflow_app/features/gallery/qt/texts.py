"""How the gallery says things: verdicts with their signs, states, times."""

from __future__ import annotations

import math
from collections.abc import Mapping

from subflow_app.features.gallery.core.exhibits import Exhibit
from subflow_app.features.gallery.core.report_tables import mark, settled_mark, shown_text
from subflow_app.features.gallery.core.reproduction import expected_s
from subflow_app.features.gallery.core.reproduction_queue import QueuedState
from subflow_app.features.gallery.core.results import SETTLEMENTS, Settled, Settlement, Verdict, VerdictKind
from subflow_app.toolkit import format as fmt
from subflow_app.vocabulary.language import tr, translatable

VERDICTS: Mapping[VerdictKind, str] = {
    VerdictKind.INSIDE: translatable("inside band"),
    VerdictKind.OUTSIDE: translatable("outside band"),
    VerdictKind.HOLDS: translatable("claim holds"),
    VerdictKind.FAILS: translatable("claim fails"),
    VerdictKind.NOT_MEASURED: translatable("not measured"),
}


def verdict_text(kind: VerdictKind) -> str:
    """``✓ inside band``: the sign tells it without colours."""
    return f"{mark(kind)} {tr(VERDICTS[kind])}"


def cause_text(verdict: Verdict) -> str:
    """``reading, shown``; empty of what is met, or has no cause."""
    told = verdict.explanation
    if told is None:
        return ""
    return f"{tr(told.cause.kind.value)}, {tr(shown_text(told))}"


def badges(counts: Mapping[Settled, int]) -> list[tuple[str, str]]:
    """Signs, and signs with counts: met, not met for a cause that is shown, not explained, not measured."""
    found: dict[str, int] = {}
    for way in SETTLEMENTS:
        found[settled_mark(way)] = found.get(settled_mark(way), 0) + counts.get(way, 0)
    return [(sign, f"{sign} {fmt.count(count)}") for sign, count in found.items() if count]


def counts_text(counts: Mapping[Settled, int]) -> str:
    """``5 of 9 checks met, 3 noise, 1 not explained``; empty without any."""
    total = sum(counts.values())
    if not total:
        return ""
    met = tr("{met} of {total} checks met", met=fmt.count(counts.get(Settlement.MET, 0)), total=fmt.count(total))
    others = [f"{fmt.count(counts[way])} {tr(way.value)}" for way in SETTLEMENTS[1:] if counts.get(way)]
    return ", ".join((met, *others))


def takes_text(exhibit: Exhibit) -> str:
    """How long quick and full runs take."""
    if exhibit.recipe is None:
        return ""
    quick, full = (expected_s(exhibit.recipe, is_quick=is_quick) for is_quick in (True, False))
    parts = []
    if math.isfinite(quick):
        parts.append(tr("quick {time}", time=fmt.duration(quick)))
    if math.isfinite(full):
        parts.append(tr("full {time}", time=fmt.duration(full)))
    return tr("Takes about: {times}", times=", ".join(parts)) if parts else ""


def state_text(exhibit: Exhibit, queued: QueuedState | None) -> str:
    """Where an experiment stands, in a line."""
    if exhibit.problem:
        return exhibit.problem.splitlines()[0]
    if queued is not None and not queued.is_over:
        length = tr("quick") if queued.is_quick else tr("full")
        if queued.state == "running":
            told = tr("{length} run: {percent} %", length=length, percent=round(100 * queued.fraction))
            if math.isfinite(queued.eta_s) and queued.eta_s > 0:
                return tr("{done}, {time} left", done=told, time=fmt.duration(queued.eta_s))
            return told
        return tr("{length} run: {state}", length=length, state=tr(queued.state))
    if queued is not None and queued.state == "failed":
        return tr("failed: {reason}", reason=queued.problem.splitlines()[0] if queued.problem else "–")
    results = exhibit.results
    if results is None:
        return tr("not run yet") if exhibit.is_read else ""
    told = _there_text(exhibit, tr("quick") if results.is_quick else tr("full"))
    return tr("{state}, shipped with Subflow", state=told) if exhibit.is_shipped else told


def _there_text(exhibit: Exhibit, length: str) -> str:
    """How much of it was run."""
    if exhibit.is_begun:
        return tr(
            "{length} run: {done} of {total} runs exist",
            length=length,
            done=fmt.count(exhibit.finished),
            total=fmt.count(exhibit.wanted),
        )
    return tr("{length} run", length=length)


def spoken(exhibit: Exhibit, queued: QueuedState | None) -> str:
    """What a screen reader says of an experiment."""
    figure = "" if exhibit.recipe is None else tr("figure {figure}", figure=exhibit.recipe.figure)
    parts = [exhibit.title, figure, state_text(exhibit, queued), counts_text(exhibit.counts)]
    return ". ".join(part for part in parts if part)
