"""State of a link direction after the events up to a given time."""

from __future__ import annotations

from dataclasses import dataclass, replace

from subflow_sim.params import EVENT_CHANGES, params_by_key
from subflow_sim.scenario_model import Event, LinkDirection


@dataclass(frozen=True, slots=True)
class LiveLink:
    """The current values of a link direction, and whether it is in service.

    Attributes:
        side: current values of the direction.
        is_up: whether the direction is in service.
    """

    side: LinkDirection
    is_up: bool

    def values(self) -> dict[str, str | bool]:
        """Values that events can change, by key, in the notation of scenario files."""
        params = params_by_key("link")
        found: dict[str, str | bool] = {"up": self.is_up}
        for key in (change.key for change in EVENT_CHANGES["link"] if change.key in params):
            value = getattr(self.side, params[key].attribute)
            found[key] = value if isinstance(value, bool) else params[key].format(value)
        return found


def changed_link(link: LiveLink, event: Event) -> LiveLink:
    """The state of a link direction after an event that changes it."""
    given = {change.attribute: getattr(event, change.attribute) for change in EVENT_CHANGES["link"]}
    changes = {name: value for name, value in given.items() if value is not None}
    is_up = changes.pop("up", link.is_up)
    if event.rate_bps is not None:
        changes |= {"trace": None, "bucket": None}
    if event.delay_s is not None:
        changes["delay_trace"] = None
    if event.loss is not None:
        changes |= {"loss_model": event.loss_model, "loss_trace": None}
    if event.queue is not None:
        queue, new = link.side.queue, event.queue
        changes["queue"] = replace(queue, limit_pkts=new.limit_pkts, limit_bytes=new.limit_bytes)
    return LiveLink(replace(link.side, **changes), is_up)
