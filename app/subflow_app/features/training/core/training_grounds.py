"""The networks on which the episodes of a training take place, in words."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from subflow_agents import TrainingConfig, agents
from subflow_agents.config import ALL_FAMILIES
from subflow_app.vocabulary.language import tr, translatable
from subflow_sim.arena.families import FAMILIES
from subflow_sim.draws import is_draw
from subflow_sim.section_reader import toml_text

_MODE, _LOG = "mode", "offline_log"
"""Option of an agent, and its value with which the agent learns from a log instead of a simulation."""
_DRAWS = "draws"
"""Option of an agent that draws networks itself instead of using the scenario."""

_RANGES = {
    "uniform": translatable("{low} to {high}"),
    "log_uniform": translatable("{low} to {high}, logarithmic"),
    "integer": translatable("{low} to {high}"),
}


@dataclass(frozen=True, slots=True)
class TrainingGrounds:
    """Sources of the episodes of a training.

    Attributes:
        scenario: title of the scenario.
        text: TOML of the scenario with its `[training]` table; empty if it cannot be read.
        families: arena families whose networks are used in some episodes; "all" means every family.
        families_share: share of these episodes, 0 to 1.
        options: options of the agent, with the defaults.
    """

    scenario: str
    text: str = ""
    families: Sequence[str] = ()
    families_share: float = 0.0
    options: Mapping[str, Any] = field(default_factory=dict)


def grounds_of(config: TrainingConfig) -> TrainingGrounds:
    """The sources of the episodes of a configured training."""
    info = next((each for each in agents() if each.name == config.agent), None)
    defaults = {} if info is None else {option.name: option.default for option in info.options()}
    return TrainingGrounds(
        config.scenario_name,
        config.scenario,
        config.families,
        config.families_share if config.families else 0.0,
        {**defaults, **config.options},
    )


def grounds_text(grounds: TrainingGrounds) -> str:
    """The networks of the episodes, with the share of each kind of network, in one or two sentences."""
    scenario = f"“{grounds.scenario}”"
    if grounds.options.get(_MODE) == _LOG:
        return tr(
            "Learns from a log of monitor intervals, recorded on {scenario} before it begins. The log answers each "
            "rate with its nearest entry: no network is simulated.",
            scenario=scenario,
        )
    own = _own_networks(grounds)
    share = grounds.families_share if grounds.families else 0.0
    families = _families_text(grounds.families)
    if share <= 0:
        return tr("All episodes are on {networks}.", networks=own)
    if share >= 1:
        return tr(
            "All episodes are on {networks}. {scenario} only serves for evaluations.",
            networks=families,
            scenario=scenario,
        )
    if share == 0.5:
        text = tr("Half of the episodes are on {first}, half on {second}.", first=families, second=own)
    else:
        text = tr(
            "{share} % of the episodes are on {first}, {rest} % on {second}.",
            share=f"{100 * share:.3g}",
            first=families,
            rest=f"{100 - 100 * share:.3g}",
            second=own,
        )
    return f"{text} {tr('Goodput, RTT and loss of the training are means over all of them.')}"


def _families_text(families: Sequence[str]) -> str:
    if ALL_FAMILIES in families:
        return tr("networks of all {count} families of the arena", count=len(FAMILIES))
    return tr("networks of the arena ({families})", families=", ".join(families))


def _own_networks(grounds: TrainingGrounds) -> str:
    """The networks of the episodes that do not belong to a family."""
    if isinstance(drawn := grounds.options.get(_DRAWS), str):
        return tr("networks that the agent draws (draws = {kind})", kind=drawn)
    if draw_lines(grounds.text):
        return tr("{scenario} with these draws", scenario=f"“{grounds.scenario}”")
    return tr("{scenario}, each with new random numbers", scenario=f"“{grounds.scenario}”")


def uses_draws(grounds: TrainingGrounds) -> bool:
    """True if some episodes are drawn from the `[training]` table of the scenario."""
    is_used = grounds.options.get(_MODE) != _LOG and not isinstance(grounds.options.get(_DRAWS), str)
    return is_used and (grounds.families_share < 1 or not grounds.families) and bool(draw_lines(grounds.text))


def draw_lines(text: str) -> list[str]:
    """Each draw of a scenario's `[training]` table as a line: ``links.wifi.rate: 2Mbit/s to 16Mbit/s, logarithmic``.

    Args:
        text: TOML of the scenario; if it has no `[training]` table, or is not TOML, the list is empty.
    """
    try:
        training = tomllib.loads(text).get("training")
    except tomllib.TOMLDecodeError:
        return []
    if not isinstance(training, dict):
        return []
    draws, events = training.get("draws"), training.get("events")
    lines = [f"{key}: {_draw_text(value)}" for key, value in _flat(draws if isinstance(draws, dict) else {})]
    if "episode" in training:
        lines.append(tr("length of an episode: {time}", time=_draw_text(training["episode"])))
    for event in events if isinstance(events, list) else []:
        changes = ", ".join(f"{key} {_draw_text(value)}" for key, value in event.items())
        lines.append(tr("random event: {changes}", changes=changes))
    return lines


def grounds_lines(grounds: TrainingGrounds, most: int | None = None) -> list[str]:
    """The text of `grounds_text`, followed by a line for each draw that is used.

    Args:
        grounds: sources of the episodes.
        most: maximum number of draws; None: all.
    """
    lines = draw_lines(grounds.text) if uses_draws(grounds) else []
    shown = lines[:most]
    more = [tr("and {count} more", count=len(lines) - len(shown))] if len(shown) < len(lines) else []
    return [grounds_text(grounds), *shown, *more]


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict) and not is_draw(value):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _draw_text(value: object) -> str:
    """A draw or a plain value in words."""
    if not isinstance(value, dict):
        return value if isinstance(value, str) else toml_text(value)
    for kind, text in _RANGES.items():
        if isinstance(ends := value.get(kind), list) and len(ends) == 2:
            return tr(text, low=_draw_text(ends[0]), high=_draw_text(ends[1]))
    if isinstance(options := value.get("choice"), list):
        return tr(" or ").join(map(_draw_text, options))
    if "bdp" in value:
        return tr("bandwidth-delay product × {factor}", factor=_draw_text(value["bdp"]))
    if "of" in value:
        times = _draw_text(value["times"]) + " × " if "times" in value else ""
        return f"{times}{value['of']}"
    return toml_text(value)
