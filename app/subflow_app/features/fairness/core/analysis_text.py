"""The fairness analysis in words and tables, for the terminal and the window alike."""

from __future__ import annotations

import math
from collections.abc import Sequence

from subflow_app.features.fairness.core.analysis import Bottleneck, ConnectionShare, FairnessAnalysis, PoolingGain
from subflow_app.vocabulary.language import tr, trn
from subflow_app.vocabulary.number_text import NOTHING, fixed, mbit_text, percent_text
from subflow_app.vocabulary.tables import Column, NumberColumn, TextTable

_NEAR = 0.1  # a distance below which shares count as reached


def share_table(analysis: FairnessAnalysis) -> TextTable:
    """A row per connection."""
    columns: tuple[Column[ConnectionShare], ...] = (
        Column("Connection", lambda each: each.name),
        Column("Controller", lambda each: each.controller),
        NumberColumn("Goodput", lambda each: each.goodput_bps, rate_text, "active Mbit/s"),
        NumberColumn("Max-min", lambda each: each.max_min_bps, rate_text, "Mbit/s"),
        NumberColumn("Goodput", lambda each: each.of_max_min, percent_text, "% of max-min"),
        NumberColumn("Proportional", lambda each: each.proportional_bps, rate_text, "Mbit/s"),
        NumberColumn("Goodput", lambda each: each.of_proportional, percent_text, "% of prop."),
        NumberColumn("One path", lambda each: each.single_path_bps, rate_text, "Mbit/s"),
        NumberColumn("Pooling", lambda each: each.pooling.gain if each.pooling is not None else None, fixed(2), "×"),
        Column("Limited by", lambda each: ", ".join(each.bottlenecks) or NOTHING),
    )
    return TextTable.of(analysis.connections, columns)


def bottleneck_table(analysis: FairnessAnalysis) -> TextTable:
    """A row per link that limits somebody."""
    columns: tuple[Column[Bottleneck], ...] = (
        Column("Bottleneck", lambda each: each.name),
        NumberColumn("of the time", lambda each: each.time_share, percent_text, "%"),
        NumberColumn("limits", lambda each: each.connections, unit="connections"),
        NumberColumn("1 bit/s more gives each", lambda each: each.price, fixed(3), "bit/s"),
    )
    return TextTable.of(analysis.bottlenecks, columns)


def rate_text(rate_bps: float) -> str:
    """A rate in Mbit/s, "unlimited" for an infinite one, a dash for none."""
    return tr("unlimited") if math.isinf(rate_bps) else mbit_text(rate_bps)


def window_text(analysis: FairnessAnalysis) -> str:
    """The window, and how many connections send in it."""
    return trn(
        "{begin} s to {end} s, {count} connection",
        "{begin} s to {end} s, {count} connections",
        len(analysis.connections),
        begin=f"{analysis.from_s:.3g}" if analysis.from_s < 1 else f"{analysis.from_s:.1f}",
        end=f"{analysis.to_s:.1f}",
    )


def meaning(analysis: FairnessAnalysis) -> str:
    """What the numbers mean, in a sentence or two of plain words."""
    if not analysis.connections:
        return tr("No connection sends in this interval.")
    if not analysis.is_run:
        return tr("This is what would be fair; run the scenario to see what its connections get.")
    sentences = []
    known = [each for each in analysis.connections if math.isfinite(each.of_max_min)]
    if math.isfinite(analysis.to_max_min) and known:
        sentences.append(_shares_text(analysis, known))
    if analysis.pooling is not None:
        sentences.append(pooling_text(analysis.pooling))
    return " ".join(sentences)


def _shares_text(analysis: FairnessAnalysis, known: Sequence[ConnectionShare]) -> str:
    """How far the connections are from their max-min fair shares.

    The words follow the percentages that the table shows: a connection at 109 % has more than its own share.
    """
    least, most = (pick(known, key=lambda each: each.of_max_min) for pick in (min, max))
    unused = _unused(analysis)
    if analysis.to_max_min < _NEAR:
        return tr("Shares are close to the max-min fair split.")
    if most.of_max_min <= 1 + _NEAR and least.of_max_min >= most.of_max_min - _NEAR and unused > 0:
        return tr("All get equal shares, but {lost} % of the usable capacity is not used.", lost=_percent(unused))
    if _percent(least.of_max_min) == _percent(most.of_max_min):
        return tr("Each connection has {share} % of its fair share.", share=_percent(most.of_max_min))
    if most.of_max_min > 1 + _NEAR:
        return tr(
            "{winner} takes {more} % of its fair share, while {loser} has {less} % of its own.",
            winner=most.name,
            more=_percent(most.of_max_min),
            loser=least.name,
            less=_percent(least.of_max_min),
        )
    said = tr(
        "{loser} has {less} % of its fair share, and {winner} has {more} % of its own.",
        loser=least.name,
        less=_percent(least.of_max_min),
        winner=most.name,
        more=_percent(most.of_max_min),
    )
    if unused < _NEAR / 2:
        return said
    return " ".join((said, tr("{lost} % of the usable capacity is not used.", lost=_percent(unused))))


def pooling_text(gain: PoolingGain) -> str:
    """The pooling gain in words."""
    if math.isnan(gain.gain):
        if not math.isfinite(gain.efficiency) and abs(gain.potential - 1) < 1e-3:
            return tr("Pooling gains nothing here: one path is as good as all of them.")
        return tr(
            "Pooling could bring {potential} times the goodput of a single path.", potential=f"{gain.potential:.2f}"
        )
    if math.isnan(gain.efficiency):
        return tr(
            "Pooling: {gain} times the best single path; all paths together could not bring more than one.",
            gain=f"{gain.gain:.2f}",
        )
    return tr(
        "Pooling: {gain} times the best single path, where {potential} times would be fair.",
        gain=f"{gain.gain:.2f}",
        potential=f"{gain.potential:.2f}",
    )


def _unused(analysis: FairnessAnalysis) -> float:
    known = [each for each in analysis.connections if math.isfinite(each.of_max_min)]
    fair = math.fsum(each.max_min_bps for each in known)
    return 1 - math.fsum(each.goodput_bps for each in known) / fair


def _percent(share: float) -> str:
    return f"{share * 100:.0f}"
