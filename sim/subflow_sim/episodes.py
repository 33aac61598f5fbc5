"""Builds an episode's scenario from the draws of a `[training]` block with the scenario reader."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, TypeAlias

from subflow_sim.draws import BdpShare, Independent, Multiple, multiplied
from subflow_sim.errors import ParamError, ScenarioError
from subflow_sim.overrides import set_value
from subflow_sim.params import HEADER_BYTES, SECTIONS
from subflow_sim.receive_buffer import connection_buffer_bytes
from subflow_sim.scenario_model import Flow, Link, LinkDirection
from subflow_sim.scenario_reader import read_tree
from subflow_sim.section_reader import Report
from subflow_sim.training_model import DrawnEvents, Training
from subflow_sim.training_params import TRAINING, TRAINING_EVENT
from subflow_sim.whole_scenario import Scenario

Chooser: TypeAlias = Callable[[str, Independent], Any]
"""Function from a key and its draw to a value: a random value, or one of the draw's `trials`."""

_TIMES = {param.key: param for param in (*TRAINING, *TRAINING_EVENT)}
_LARGEST_QUEUE_PKTS = int(next(param.maximum or 0 for param in SECTIONS["link"] if param.key == "queue"))
TOGGLES = ("up", "open", "backup")
"""Keys of boolean changes, which `undone` reverses."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """Drawn values of an episode.

    Attributes:
        episode_s: duration of the episode, s; None: the duration of the scenario.
        values: values by dotted key, in the notation of a scenario file. For a queue or a buffer drawn in multiples of
            the bandwidth-delay product, the value is the factor.
        events: tables of the changes at random times, in the form of `[[events]]`.
    """

    episode_s: float | None
    values: Mapping[str, Any]
    events: tuple[dict[str, Any], ...] = ()


def draw_values(training: Training, choose: Chooser) -> dict[str, Any]:
    """A value for each key of the block, in the block's order.

    Raises:
        ParamError: if the base of a multiple is not a number.
    """
    values: dict[str, Any] = {}
    for key, draw in training.draws.items():
        match draw:
            case Multiple():
                values[key] = None  # reserves the position; the base of the multiple may follow later
            case BdpShare(times):
                values[key] = choose(key, times)
            case _:
                values[key] = choose(key, draw)
    for key, draw in training.draws.items():
        if isinstance(draw, Multiple):
            value = values[draw.of]
            values[key] = value if draw.times is None else multiplied(value, choose(key, draw.times))
    return values


def draw_episode_s(training: Training, choose: Chooser) -> float | None:
    """Duration of the episode, s; None: the duration of the scenario."""
    return None if training.episode is None else _seconds("episode", choose("episode", training.episode))


def draw_events(training: Training, choose: Chooser, chance: Callable[[str], float], end_s: float) -> Iterator[Any]:
    """The changes at random times until the end of the episode, as `[[events]]` tables in the order of the rows.

    Args:
        training: the `[training]` block.
        choose: function that turns a draw into a value.
        chance: function from a key to a number in [0, 1).
        end_s: end of the episode, s; later changes are omitted.
    """
    for index, row in enumerate(training.events):
        key = f"training.events.{index}"
        if chance(f"{key}.probability") < row.probability:
            yield from _changes(row, key, choose, end_s)


def _changes(row: DrawnEvents, key: str, choose: Chooser, end_s: float) -> Iterator[dict[str, Any]]:
    time_s = 0.0
    for number in count():
        here = f"{key}.{number}"
        draw = row.at or row.every
        assert draw is not None
        time_s += _seconds("at" if row.at else "every", choose(f"{here}.time", draw))
        if time_s > end_s:
            return
        change = {name: choose(f"{here}.{name}", draw) for name, draw in row.values.items()}
        yield {"at": time_s, **change}
        if row.lasts is not None:
            time_s += _seconds("lasts", choose(f"{here}.lasts", row.lasts))
            if time_s <= end_s:
                yield undone(change) | {"at": time_s}
        if row.at is not None:
            return


def undone(change: Mapping[str, Any]) -> dict[str, Any]:
    """The change with the opposite value for each key of `TOGGLES`."""
    return {key: not value if key in TOGGLES else value for key, value in change.items()}


def _seconds(key: str, value: object) -> float:
    seconds: Any = _TIMES[key].read(value)
    return float(seconds)


def build(training: Training, drawn: Drawn) -> Scenario:
    """The scenario of an episode.

    Raises:
        ScenarioError: if the drawn values do not form a valid scenario. Problems name the key of the scenario file.
    """
    return build_with_tree(training, drawn)[0]


def build_with_tree(training: Training, drawn: Drawn) -> tuple[Scenario, dict[str, Any]]:
    """The scenario of an episode, and the tables of a scenario file with the drawn values and changes.

    If a queue or a buffer is drawn as a multiple of the bandwidth-delay product, the tables keep the limit of the file;
    if the episode is shorter than the scenario, they keep the full duration. Only the scenario contains the computed
    limits and the earlier end.

    Raises:
        ScenarioError: as `build`.
    """
    template = training.template
    tree: dict[str, Any] = _copied(template.tree)
    report = Report(template.file, dict, tree)
    for key, value in drawn.values.items():
        if not isinstance(training.draws[key], BdpShare):
            set_value(tree, key, _copied(value), report)
    _leave_out_absent(tree, training)
    if drawn.events:
        tree["events"] = [*tree.get("events", ()), *drawn.events]
    end_s = drawn.episode_s
    if end_s is not None:
        # Reads with the longer duration and cuts afterwards, because events may follow the end of the episode.
        tree["duration"] = max(_seconds("episode", tree["duration"]), end_s)
    scenario = read_tree(tree, template.file, report, template.algorithms, template.folder)
    if not report.problems:
        scenario = replace(scenario, links=_sized_queues(scenario, training, drawn, tree, report))
        # After the queues, because a buffer holds what arrives during a round trip with a full queue
        scenario = replace(scenario, flows=_sized_buffers(scenario, training, drawn, report))
        scenario = _cut(scenario, end_s, report)
    if report.problems:
        raise ScenarioError(report.problems)
    return scenario, tree


def _copied(value: Any) -> Any:
    """A deep copy of a parsed TOML value."""
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


def _leave_out_absent(tree: dict[str, Any], training: Training) -> None:
    """Removes flows with a drawn count of 0, and their events."""
    for key in training.draws:
        section, _, rest = key.partition(".")
        name, _, last = rest.partition(".")
        flow = tree["flows"].get(name) if section == "flows" and last == "count" else None
        if isinstance(flow, dict) and flow.get("count") == 0 and not isinstance(flow["count"], bool):
            del tree["flows"][name]
            events = tree.get("events", [])
            tree["events"] = [event for event in events if str(event.get("flow")).partition(".")[0] != name]


def _sized_queues(
    scenario: Scenario, training: Training, drawn: Drawn, tree: Mapping[str, Any], report: Report
) -> dict[str, Link]:
    """The links, with queue limits computed from the drawn multiples of the bandwidth-delay product."""
    links = dict(scenario.links)
    for key, value in drawn.values.items():
        path = key.split(".")
        if path[0] != "links" or not isinstance(training.draws[key], BdpShare):
            continue
        link = links.get(path[1])
        if link is None:
            report.add(("links", path[1]), f'unknown link "{path[1]}"')
            continue
        reverse_is_own = "queue" in tree["links"][path[1]].get("reverse", {})
        side = link.reverse if path[2] == "reverse" else link.forward
        if side.rate_bps is None:
            report.add(tuple(path[:3]), "an unlimited link holds nothing to measure its queue by", "a link with a rate")
            continue
        packet_bits = (scenario.mss_bytes + HEADER_BYTES) * 8
        held_pkts = side.rate_bps * _longest_round_trip_s(scenario, link) / packet_bits
        limit = max(round(min(value * held_pkts, _LARGEST_QUEUE_PKTS)), 1)
        if path[2] == "reverse":
            links[link.name] = replace(link, reverse=_with_limit(link.reverse, limit))
        else:
            reverse = link.reverse if reverse_is_own else _with_limit(link.reverse, limit)
            links[link.name] = replace(link, forward=_with_limit(link.forward, limit), reverse=reverse)
    return links


def _sized_buffers(scenario: Scenario, training: Training, drawn: Drawn, report: Report) -> dict[str, Flow]:
    """The flows, with buffers computed from the drawn multiples of the bandwidth-delay product of their paths."""
    flows = dict(scenario.flows)
    for key, value in drawn.values.items():
        path = key.split(".")
        if path[0] != "flows" or not isinstance(training.draws[key], BdpShare):
            continue
        if path[1] not in training.template.tree.get("flows", {}):
            report.add(tuple(path), f'unknown flow "{path[1]}"', "a flow of the file")
            continue
        flow = flows.get(path[1])
        if flow is None:  # left out of this episode
            continue
        if flow.sends_datagrams:
            report.add(tuple(path), f"{path[2]} does not apply to {flow.kind}", "a flow of kind tcp or mptcp")
            continue
        try:
            size = connection_buffer_bytes(scenario, flow.name, value)
        except ParamError as error:
            report.add(tuple(path), error.message, error.allowed)
            continue
        is_received = path[2] == "recv_buffer"
        flows[flow.name] = (
            replace(flow, recv_buffer_bytes=size) if is_received else replace(flow, send_buffer_bytes=size)
        )
    return flows


def _with_limit(side: LinkDirection, limit_pkts: int) -> LinkDirection:
    return replace(side, queue=replace(side.queue, limit_pkts=limit_pkts, limit_bytes=None))


def _longest_round_trip_s(scenario: Scenario, link: Link) -> float:
    """Longest round-trip propagation delay of the paths over this link, s; of the link itself if no path uses it."""
    paths = {path for flow in scenario.flows.values() for path in flow.paths if link.name in path}
    ways = [[scenario.links[name] for name in path] for path in paths] or [[link]]
    return max(sum(each.forward.delay_s + each.reverse.delay_s for each in way) for way in ways)


def _cut(scenario: Scenario, end_s: float | None, report: Report) -> Scenario:
    """The scenario cut off at `end_s`, if given; reports a problem if flows could not start before that time."""
    if end_s is None or end_s == scenario.duration_s:
        return scenario
    flows = {name: flow for name, flow in scenario.flows.items() if flow.start_s < end_s}
    if not flows:
        report.add(("training", "episode"), "over before the first flow starts", "a longer episode")
    if scenario.start_jitter_s >= end_s:
        report.add(("training", "episode"), "over before flows with a start jitter may start", "a longer episode")
    return replace(
        scenario,
        duration_s=end_s,
        warmup_s=scenario.warmup_s if scenario.warmup_s < end_s else 0.0,
        flows=flows,
        events=tuple(
            event
            for event in scenario.events
            if event.at_s <= end_s and (event.flow is None or event.flow.partition(".")[0] in flows)
        ),
    )
