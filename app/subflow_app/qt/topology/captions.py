"""What the canvas says in words: the two lines beside a link, and for tooltips and screen readers the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from subflow_app.core.topology import PictureLink, SubflowPath, event_rows
from subflow_app.qt import format as fmt
from subflow_sim.scenario import Event, Link, LinkDirection, QueueSpec

_SEPARATOR = "  ·  "
_MOST_EVENTS = 12
_DATAGRAM_FLOWS = {"cbr": "Constant-rate flow", "onoff": "On-off flow"}


@dataclass(frozen=True, slots=True)
class LinkCaption:
    """The label of a link.

    Attributes:
        name: of the link.
        speed: rate and delay.
        buffer: queue and loss.
    """

    name: str
    speed: str
    buffer: str


def link_caption(link: Link, forward_arrow: str, reverse_arrow: str) -> LinkCaption:
    """Write the label of a link; where its directions differ, each value stands behind the arrow of its direction.

    Args:
        link: what to describe.
        forward_arrow: the arrow that points from the first end to the second on the canvas.
        reverse_arrow: the one that points back.
    """

    def both(of_direction: Sequence[str]) -> str:
        forward, reverse = of_direction
        if forward == reverse:
            return forward
        # A direction without loss or delay is not worth a word.
        ways = ((forward_arrow, forward), (reverse_arrow, reverse))
        return "  ".join(f"{arrow} {value}" for arrow, value in ways if value)

    directions = (link.forward, link.reverse)
    rate = both([_rate(d) for d in directions])
    delay = both([fmt.time(d.delay_s) if d.delay_s else "" for d in directions])
    queue = both([queue_text(d.queue) for d in directions])
    loss = both([fmt.ratio(d.loss) if d.loss else "" for d in directions])
    return LinkCaption(
        link.name,
        _SEPARATOR.join(filter(None, (rate, delay))),
        _SEPARATOR.join(filter(None, (f"queue {queue}", loss and f"loss {loss}"))),
    )


def queue_text(queue: QueueSpec) -> str:
    """Write a queue's limit."""
    if queue.limit_pkts is not None:
        return fmt.packets(queue.limit_pkts)
    if queue.limit_bytes is not None:
        return fmt.size(queue.limit_bytes)
    return fmt.UNLIMITED


def describe_link(item: PictureLink) -> str:
    """Write everything about a link, for its tooltip and for screen readers."""
    link = item.link
    first, second = link.ends
    lines = [f"Link {link.name}, {first} to {second}"]
    if link.forward == link.reverse:
        lines.append(f"both directions: {_direction(link.forward)}")
    else:
        lines.append(f"{first} → {second}: {_direction(link.forward)}")
        lines.append(f"{second} → {first}: {_direction(link.reverse)}")
    if item.events:
        lines += ["", *event_lines(item.events, link)]
    return "\n".join(lines)


def describe_path(path: SubflowPath) -> str:
    """Write what a subflow is and where it runs."""
    what = _DATAGRAM_FLOWS.get(path.kind, f"Subflow {path.ordinal} of {path.flow}")
    copies = f", {path.count} identical flows" if path.count > 1 else ", flows that arrive" if path.arrives else ""
    via = " → ".join(hop.link for hop in path.hops)
    lines = [f"{what} ({path.kind}){copies}", f"over {via}"]
    if path.events:
        lines += ["", *event_lines(path.events)]
    return "\n".join(lines)


def copies_text(path: SubflowPath) -> str:
    """Write how many flows take a path, if not just one: `×3`, or `×?` where it depends on the run."""
    return f"  ×{path.count}" if path.count > 1 else "  ×?" if path.arrives else ""


def event_lines(events: Sequence[Event], link: Link | None = None) -> list[str]:
    """Write one line for each timed event, e.g. `at 60 s: down`."""
    lines = []
    for row in event_rows(events[:_MOST_EVENTS]):
        words = [_change(what, value) for what, value in row.changes]
        direction = ""
        if row.direction != "both" and link is not None:
            first, second = link.ends if row.direction == "forward" else reversed(link.ends)
            direction = f" ({first} → {second})"
        lines.append(f"at {fmt.time(row.at_s, 6)}: {', '.join(words)}{direction}")
    if len(events) > _MOST_EVENTS:
        lines.append(f"and {len(events) - _MOST_EVENTS} more")
    return lines


def _change(what: str, value: float | str) -> str:
    if isinstance(value, str):
        return value if what == "link" else f"{what} {value}"
    number = {"rate": fmt.rate, "delay": fmt.time, "loss": fmt.ratio, "queue": fmt.packets, "queue size": fmt.size}
    return f"{what.removesuffix(' size')} {number[what](value)}"


def _rate(direction: LinkDirection) -> str:
    return fmt.UNLIMITED if direction.rate_bps is None else fmt.rate(direction.rate_bps)


def _direction(direction: LinkDirection) -> str:
    return (
        f"{_rate(direction)}, delay {fmt.time(direction.delay_s)}, "
        f"queue {queue_text(direction.queue)}, loss {fmt.ratio(direction.loss)}"
    )
