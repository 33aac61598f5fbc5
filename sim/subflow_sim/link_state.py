"""State of a link direction at a time, after events."""

from __future__ import annotations

from dataclasses import dataclass, replace

from subflow_sim.scenario_model import Event, LinkDirection


@dataclass(frozen=True, slots=True)
class LiveLink:
    """A link direction at a time.

    Attributes:
        side: current values of the direction.
        is_up: whether it is in service.
    """

    side: LinkDirection
    is_up: bool


def changed_link(link: LiveLink, event: Event) -> LiveLink:
    """The link direction after an event that applies to it."""
    side, is_up = link.side, link.is_up
    if event.rate_bps is not None:
        side = replace(side, rate_bps=event.rate_bps, trace=None, bucket=None)
    if event.delay_s is not None:
        side = replace(side, delay_s=event.delay_s, delay_trace=None)
    if event.loss is not None:
        side = replace(side, loss=event.loss, loss_model=event.loss_model)
    if event.queue is not None:
        queue = replace(side.queue, limit_pkts=event.queue.limit_pkts, limit_bytes=event.queue.limit_bytes)
        side = replace(side, queue=queue)
    if event.up is not None:
        is_up = event.up
    return LiveLink(side, is_up)
