"""Observations and actions of learning agents in words and physical units.

Agents observe scaled numbers. The description of each feature in a run contains its formula: "lowest RTT of the epoch /
lowest RTT". A feature whose maximum is ln(11) is the ln of 1 + this ratio.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.number_text import rounded_text, signed_percent_text

if TYPE_CHECKING:
    from subflow_sim.agent_steps import RunAgent, SeenSubflow
    from subflow_sim.vec_env import AgentNumber

_LOG_MAXIMUM = math.log(11.0)
_TOLERANCE = 1e-5

Figures = Mapping[str, float]


def seen_text(feature: AgentNumber, value: float, figures: Figures | None = None) -> str:
    """Meaning of an observed number: ``1 × lowest RTT (50 ms)``; empty if the description has no formula.

    Args:
        feature: the observed feature.
        value: its value as the policy receives it.
        figures: measurements of the epoch by the names of `EPOCH_FIGURES`, for physical units; None for an earlier
            epoch, of which they are unknown.
    """
    if not math.isfinite(value):
        return ""
    is_log = abs(feature.maximum - _LOG_MAXIMUM) < _TOLERANCE
    ratio = math.expm1(value) if is_log else value
    text = next((text for pattern, tell in _FORMULAS if (text := _told(pattern, tell, feature, ratio, figures))), "")
    # A number at its bound may have been larger.
    return f"≥ {text}" if text and is_log and value >= feature.maximum - _TOLERANCE else text


Tell = Callable[[re.Match[str], float, Figures], str]


def _told(pattern: re.Pattern[str], tell: Tell, feature: AgentNumber, ratio: float, figures: Figures | None) -> str:
    match = pattern.search(feature.help)
    return tell(match, ratio, figures or {}) if match is not None else ""


def _with(text: str, physical: str) -> str:
    return f"{text} ({physical})" if physical else text


def _milliseconds(time_s: float) -> str:
    return f"{rounded_text(time_s * 1e3)} ms" if math.isfinite(time_s) else ""


def _megabits(rate_bps: float) -> str:
    return f"{rounded_text(rate_bps / 1e6)} Mbit/s" if math.isfinite(rate_bps) else ""


def _packets(count: float) -> str:
    return f"{rounded_text(count)} pkt" if math.isfinite(count) else ""


def _percent(ratio: float) -> str:
    return f"{rounded_text(100 * ratio)} %"


def _figure(figures: Figures, name: str) -> float:
    return figures.get(name, math.nan)


def _of_lowest_rtt(_match: re.Match[str], ratio: float, figures: Figures) -> str:
    text = tr("{ratio} × lowest RTT", ratio=rounded_text(ratio))
    return _with(text, _milliseconds(ratio * _figure(figures, "min_rtt_s")))


def _over_lowest_rtt(_match: re.Match[str], ratio: float, figures: Figures) -> str:
    text = tr("{ratio} × lowest RTT in excess of it", ratio=rounded_text(ratio))
    return _with(text, _milliseconds(ratio * _figure(figures, "min_rtt_s")))


def _of_reference_rate(match: re.Match[str], ratio: float, figures: Figures) -> str:
    rate_bps = _figure(figures, "sending_rate_bps" if match[1].startswith("sending") else "goodput_bps")
    # The figures hold no maximum over several epochs.
    return _with(
        tr("{ratio} × reference rate", ratio=rounded_text(ratio)),
        "" if match[1].startswith("largest") else _megabits(rate_bps),
    )


def _of_reference_bdp(_match: re.Match[str], ratio: float, figures: Figures) -> str:
    text = tr("{ratio} × reference rate × lowest RTT", ratio=rounded_text(ratio))
    return _with(text, _packets(_figure(figures, "cwnd_before_pkts")))


def _of_log2(match: re.Match[str], ratio: float, figures: Figures) -> str:
    is_window = match[1].startswith("the cwnd")
    physical = _packets(_figure(figures, "cwnd_before_pkts")) if is_window else ""
    return _with(f"{rounded_text(2 ** (4 * ratio))} × {match[2].strip('()')}", physical)


def _of_ten_packets(_match: re.Match[str], ratio: float, _figures: Figures) -> str:
    return _packets(10 / ratio - 10) if ratio > 0 else ""


def _of_other(match: re.Match[str], ratio: float, _figures: Figures) -> str:
    return f"{rounded_text(ratio)} × {match[1]}"


_FORMULAS: tuple[tuple[re.Pattern[str], Tell], ...] = tuple(
    (re.compile(pattern), tell)
    for pattern, tell in (
        (r"^1 (?:for|in) ", lambda _m, ratio, _f: tr("yes") if ratio >= 0.5 else tr("no")),
        (r"^lowest RTT / 100 ms$", lambda _m, ratio, _f: _milliseconds(0.1 * ratio)),
        (r" / lowest RTT - 1$", _over_lowest_rtt),
        (r"^(?:change of) .* / lowest RTT$", _of_lowest_rtt),
        (r"^cwnd / \(reference rate \* lowest RTT\)$", _of_reference_bdp),
        (r"^log2 of (.+) / (.+), divided by 4$", _of_log2),
        (r"^10 / \(10 \+ window\)$", _of_ten_packets),
        (r"^ln of sent rate / delivered rate$", lambda _m, r, _f: f"{rounded_text(math.exp(r))} × delivered rate"),
        (r"^(?:queue,|average distance of the queue)", _over_lowest_rtt),
        (r" / lowest RTT(?: of this subflow)?$", _of_lowest_rtt),
        (r"^(.*) / reference rate$", _of_reference_rate),
        (r"^(?:share (?:lost|of)|lost / )", lambda _m, ratio, _f: _percent(ratio)),
        (r"^(?:square root of the share|the same for the share)", lambda _m, ratio, _f: _percent(ratio * ratio)),
        (r"^part of a change of the cwnd ", lambda _m, ratio, _f: _percent(ratio)),
        (r"^change of the cwnd .* / cwnd$", lambda _m, ratio, _f: _percent(ratio)),
        (r"^rate of this subflow / ", lambda _m, ratio, _f: _percent(ratio)),
        (r"^exponent by which", lambda _m, ratio, _f: f"× {rounded_text(2**ratio)}"),
        (r" / ((?:the )?largest .+)$", _of_other),
    )
)


def action_text(agent: RunAgent, subflow: SeenSubflow) -> str:
    """An action in words and numbers: ``window_change +0.42: cwnd 20 → 24.2 pkt``.

    Args:
        agent: the agent that decided.
        subflow: a subflow for which it decided.
    """
    done = ", ".join(agent.action_texts(subflow.action))
    effect = effect_text(subflow)
    return f"{done}: {effect}" if effect else done


def action_sentence(agent: RunAgent, subflow: SeenSubflow) -> str:
    """The meaning of an action, such as "On download/1: raises the cwnd from 20 to 24.2 pkt (+21.0 %)".

    Args:
        agent: the agent that decided.
        subflow: a subflow for which it decided.

    Returns:
        The sentence, which ends with the action itself; without measurements, it has only the action.
    """
    done = ", ".join(agent.action_texts(subflow.action))
    effects = [text for text in (_effect(subflow.figures, *each) for each in _CHANGES) if text]
    if not effects:
        return tr("On {subflow}: {action}.", subflow=subflow.name, action=done)
    return tr("On {subflow}: {effects} ({action}).", subflow=subflow.name, effects=", ".join(effects), action=done)


def _effect(figures: Figures, title: str, before: str, after: str, scale: float, unit: str) -> str:
    """How an action changes the cwnd or the pacing rate, with a verb and percent; empty if this is unknown."""
    first, second = _figure(figures, before), _figure(figures, after)
    if not (math.isfinite(first) and math.isfinite(second)) or not (first or second):
        return ""
    texts = {"name": tr(title), "first": rounded_text(first * scale), "second": rounded_text(second * scale)}
    if first == second:
        return tr("keeps the {name} at {first} {unit}", **texts, unit=unit)
    percent = f" ({signed_percent_text(second / first - 1)} %)" if first else ""
    if second > first:
        return tr("raises the {name} from {first} to {second} {unit}", **texts, unit=unit) + percent
    return tr("lowers the {name} from {first} to {second} {unit}", **texts, unit=unit) + percent


def effect_text(subflow: SeenSubflow) -> str:
    """Window and pacing rate before and after an action: ``cwnd 20 → 24.2 pkt``; empty if they are unknown."""
    return ", ".join(text for text in (_change(subflow.figures, *each) for each in _CHANGES) if text)


_CHANGES: tuple[tuple[str, str, str, float, str], ...] = (
    ("cwnd", "cwnd_before_pkts", "cwnd_after_pkts", 1.0, "pkt"),
    ("pacing rate", "rate_before_bps", "rate_after_bps", 1e-6, "Mbit/s"),
)


def _change(figures: Figures, title: str, before: str, after: str, scale: float, unit: str) -> str:
    """A number before and after the action; empty if it is unknown, or 0 like the rate of a subflow without pacing."""
    first, second = _figure(figures, before), _figure(figures, after)
    if not (math.isfinite(first) and math.isfinite(second)) or not (first or second):
        return ""
    if first == second:
        return tr("{name} stays {value} {unit}", name=tr(title), value=rounded_text(first * scale), unit=unit)
    return f"{tr(title)} {rounded_text(first * scale)} → {rounded_text(second * scale)} {unit}"
