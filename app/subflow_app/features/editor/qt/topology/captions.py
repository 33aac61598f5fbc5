"""What the canvas says in words: the two lines beside a link, and for tooltips and screen readers the rest."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from subflow_app.features.editor.core.event_words import change_words, entry_of
from subflow_app.features.editor.core.topology import PictureLink, SubflowPath
from subflow_app.toolkit import format as fmt
from subflow_app.vocabulary.language import tr, translatable
from subflow_sim.scenario import Event, Link, LinkDirection, QueueSpec

_SEPARATOR = "  ·  "
_MOST_EVENTS = 12
UNREAD = "?"
"""Written in place of a value that cannot be read and never could."""

_DATAGRAM_FLOWS = {"cbr": translatable("Constant-rate flow"), "onoff": translatable("On-off flow")}


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


def link_caption(link: Link, forward_arrow: str, reverse_arrow: str, unread: Collection[str] = ()) -> LinkCaption:
    """Write the label of a link; where its directions differ, each value stands behind the arrow of its direction.

    Args:
        link: what to describe.
        forward_arrow: the arrow that points from the first end to the second on the canvas.
        reverse_arrow: the one that points back.
        unread: keys whose values cannot be read.
    """

    def both(of_direction: Sequence[str]) -> str:
        forward, reverse = of_direction
        if forward == reverse:
            return forward
        # A direction without loss or delay is not worth a word.
        ways = ((forward_arrow, forward), (reverse_arrow, reverse))
        return "  ".join(f"{arrow} {value}" for arrow, value in ways if value)

    directions = (link.forward, link.reverse)
    rate, delay, queue, loss = (
        UNREAD if key in unread else both(texts)
        for key, texts in (
            ("rate", [_rate(d) for d in directions]),
            ("delay", [fmt.time(d.delay_s) if d.delay_s else "" for d in directions]),
            ("queue", [queue_text(d.queue) for d in directions]),
            ("loss", [fmt.ratio(d.loss) if d.loss else "" for d in directions]),
        )
    )
    return LinkCaption(
        link.name,
        _SEPARATOR.join(filter(None, (rate, delay))),
        _SEPARATOR.join(filter(None, (tr("queue {value}", value=queue), loss and tr("loss {value}", value=loss)))),
    )


def queue_text(queue: QueueSpec) -> str:
    """Write a queue's limit."""
    if queue.limit_pkts is not None:
        return fmt.packets(queue.limit_pkts)
    if queue.limit_bytes is not None:
        return fmt.size(queue.limit_bytes)
    return tr(fmt.UNLIMITED)


def describe_link(item: PictureLink) -> str:
    """Write everything about a link, for its tooltip and for screen readers."""
    link = item.link
    first, second = link.ends
    lines = [tr("Link {name}, {first} to {second}", name=link.name, first=first, second=second)]
    if link.forward == link.reverse:
        lines.append(tr("both directions: {what}", what=_direction(link.forward, item.unread)))
    else:
        lines.append(f"{first} → {second}: {_direction(link.forward, item.unread)}")
        lines.append(f"{second} → {first}: {_direction(link.reverse, item.unread)}")
    if item.events:
        lines += ["", *event_lines(item.events, link)]
    return "\n".join(lines)


def describe_path(path: SubflowPath) -> str:
    """Write what a subflow is and where it runs."""
    if path.kind in _DATAGRAM_FLOWS:
        what = tr(_DATAGRAM_FLOWS[path.kind])
    else:
        what = tr("Subflow {number} of {flow}", number=path.ordinal, flow=path.flow)
    copies = ""
    if path.count > 1:
        copies = tr(", {count} identical flows", count=path.count)
    elif path.arrives:
        copies = tr(", flows that arrive")
    via = " → ".join(hop.link for hop in path.hops)
    lines = [f"{what} ({path.kind}){copies}", tr("over {links}", links=via)]
    if path.events:
        lines += ["", *event_lines(path.events)]
    return "\n".join(lines)


def copies_text(path: SubflowPath) -> str:
    """Write how many flows take a path, if not just one: `×3`, or `×?` where it depends on the run."""
    return f"  ×{path.count}" if path.count > 1 else "  ×?" if path.arrives else ""


def event_lines(events: Sequence[Event], link: Link | None = None) -> list[str]:
    """Write one line for each timed event, e.g. `at 60 s: down`."""
    lines = []
    for event in events[:_MOST_EVENTS]:
        direction = ""
        if event.direction != "both" and link is not None:
            first, second = link.ends if event.direction == "forward" else reversed(link.ends)
            direction = f" ({first} → {second})"
        change = f"{', '.join(change_words(entry_of(event)))}{direction}"
        lines.append(tr("at {time}: {what}", time=fmt.time(event.at_s, 6), what=change))
    if len(events) > _MOST_EVENTS:
        lines.append(tr("and {count} more", count=len(events) - _MOST_EVENTS))
    return lines


def _rate(direction: LinkDirection) -> str:
    return tr(fmt.UNLIMITED) if direction.rate_bps is None else fmt.rate(direction.rate_bps)


def _direction(direction: LinkDirection, unread: Collection[str]) -> str:
    values = {
        "rate": _rate(direction),
        "delay": fmt.time(direction.delay_s),
        "queue": queue_text(direction.queue),
        "loss": fmt.ratio(direction.loss),
    }
    return tr("{rate}, delay {delay}, queue {queue}, loss {loss}", **{**values, **dict.fromkeys(unread, UNREAD)})
