"""The two directions of a link in words: their ends, and whether they carry data or ACKs.

A file calls a direction forward or reverse by the order of the link's ends; data may go either way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from subflow_app.vocabulary.language import tr
from subflow_sim.scenario import Scenario

BOTH, FORWARD, REVERSE = "both", "forward", "reverse"
DIRECTIONS = (BOTH, FORWARD, REVERSE)
"""Directions of a change, as in files."""

WAY = "way"
"""Key of a described change for what the changed direction of a link carries, see `with_way`."""


def way_words(scenario: Scenario | None, link: str) -> dict[str, str]:
    """A label for each of `DIRECTIONS`: "phone → router: ACKs"; the words of files for an unknown link."""
    found = None if scenario is None else scenario.links.get(link)
    words = {BOTH: tr("Both directions"), FORWARD: tr("Forward only"), REVERSE: tr("Reverse only")}
    if scenario is None or found is None:
        return words
    first, second = found.ends
    data, acks = _carried(scenario, link)
    for direction, (start, end) in ((FORWARD, (first, second)), (REVERSE, (second, first))):
        words[direction] = _with_load(f"{start} → {end}", is_data=direction in data, is_acks=direction in acks)
    return words


def way_of(scenario: Scenario | None, link: str, direction: str) -> str:
    """Name of a single direction: "data" or "ACKs" if it carries one of them, else its ends, as in "phone → router".

    Empty for `BOTH` and for an unknown link.
    """
    found = None if scenario is None else scenario.links.get(link)
    if scenario is None or found is None or direction == BOTH:
        return ""
    has_data, has_acks = (direction in each for each in _carried(scenario, link))
    if has_data != has_acks:
        return "data" if has_data else "ACKs"
    start, end = found.ends if direction == FORWARD else reversed(found.ends)
    return f"{start} → {end}"


def with_way(scenario: Scenario | None, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Add `WAY` to a change of a single direction, so that its description needs no scenario."""
    way = way_of(scenario, str(changes.get("link", "")), changes.get("direction", BOTH))
    return {**changes, WAY: way} if way else dict(changes)


def loss_note(scenario: Scenario | None, link: str, direction: str) -> str:
    """Remark on the loss of a link: the direction to which it applies, `BOTH` if both have the same value.

    Empty without a scenario, or if no flow takes the link.
    """
    if scenario is None or link not in scenario.links or not any(_carried(scenario, link)):
        return ""
    words = way_words(scenario, link)
    if direction != BOTH:
        return words[direction]
    return tr("Each direction on its own: {forward}; {reverse}", forward=words[FORWARD], reverse=words[REVERSE])


def _with_load(way: str, *, is_data: bool, is_acks: bool) -> str:
    if is_data and is_acks:
        return tr("{way}: data and ACKs", way=way)
    if is_data:
        return tr("{way}: data", way=way)
    return tr("{way}: ACKs", way=way) if is_acks else way


def _carried(scenario: Scenario, link: str) -> tuple[set[str], set[str]]:
    """The directions of a link that carry data, and those that carry ACKs."""
    data, acks = set[str](), set[str]()
    ends = scenario.links[link].ends
    for flow in scenario.flows.values():
        for path in flow.paths:
            here = flow.source
            for name in path:
                first, second = scenario.links[name].ends
                if name == link:
                    data.add(FORWARD if here == ends[0] else REVERSE)
                    if not flow.sends_datagrams:
                        acks.add(REVERSE if here == ends[0] else FORWARD)
                here = second if here == first else first
    return data, acks
