"""Commands of `tc` for the links of a scenario, one set for each direction.

The reader of such files makes the same links of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from subflow_app.features.editor.core.tc_reader import ETHERNET_BYTES, NAMESPACE_PREFIX
from subflow_app.features.testbed.core.testbed import Shape, Testbed, comment, link_text


def tc_script(testbed: Testbed) -> str:
    """The commands as a shell script."""
    return "\n".join([*_head(testbed), *_links(testbed), *_changes(testbed), ""])


def limits(testbed: Testbed) -> tuple[str, ...]:
    """Parts of a scenario that the commands leave out, one sentence each."""
    found = [text for text in testbed.shortcomings if not text.startswith("flows.")]
    if testbed.scenario.flows:
        found.append("flows, addresses and routes are left out; --format netns writes them")
    if any(change.commands for change in testbed.changes):
        found.append("events of subflows are left out")
    found.append(f"tc counts {ETHERNET_BYTES} bytes of the Ethernet header as part of each packet")
    return tuple(found)


def _head(testbed: Testbed) -> Iterator[str]:
    yield "#!/bin/sh"
    yield f"# {comment(testbed.scenario.name)}: the links of a scenario of Subflow, as commands of tc."
    yield "#"
    yield f"# -n {NAMESPACE_PREFIX}NODE runs a command in the network namespace of a node, and dev names the interface;"
    yield "# both are those of --format netns. For interfaces of your own, leave out -n and change the names."
    yield "#"
    yield "# Other than in the simulation:"
    yield from (f"#  - {comment(text)}" for text in limits(testbed))
    yield ""
    yield "set -eu"


def _links(testbed: Testbed) -> Iterator[str]:
    shapes = {(shape.interface.link, shape.interface.direction): shape for shape in testbed.shapes}
    for link in testbed.scenario.links.values():
        yield ""
        yield f"# {comment(link_text(link))}"
        for direction in ("forward", "reverse"):
            yield from _lines(shapes[link.name, direction])


def _lines(shape: Shape) -> Iterator[str]:
    place = f"tc -n {NAMESPACE_PREFIX}{shape.interface.node} qdisc replace dev {shape.interface.name}"
    lines = ("root blackhole",) if shape.shaping is None else shape.shaping.lines
    yield from (f"{place} {line}" for line in lines)


def _changes(testbed: Testbed) -> Iterator[str]:
    before_s = 0.0
    changes = [change for change in testbed.changes if change.shapes]
    if changes:
        yield ""
        yield "# Changes, at their times after the start"
    for change in changes:
        if change.at_s > before_s:
            yield f"sleep {change.at_s - before_s:.9g}"
            before_s = change.at_s
        yield f"# {comment(change.comment)}"
        for shape in change.shapes:
            yield from _lines(shape)
