"""The bandwidth-delay product of a link, the usual measure for the size of its queue."""

from __future__ import annotations

from dataclasses import dataclass

from subflow_app.features.editor.core.flow_draft import facts_of
from subflow_sim.params import HEADER_BYTES
from subflow_sim.scenario import Scenario


@dataclass(frozen=True, slots=True)
class BandwidthDelay:
    """A bandwidth-delay product.

    Attributes:
        rate_bps: rate of the link, bit/s.
        rtt_s: round-trip time without queues, s.
        packets: packets of full size that the link carries in this time.
    """

    rate_bps: float
    rtt_s: float
    packets: float


def bandwidth_delay(scenario: Scenario, link: str) -> BandwidthDelay | None:
    """Return the product of a link's forward rate and the longest round-trip time of the paths over the link.

    Without a path over the link, the round trip is that of the link alone. None if the rate or the delay is unknown,
    varies or is zero.
    """
    found = scenario.links.get(link)
    if found is None or not found.forward.rate_bps:
        return None
    trips = [
        facts_of(scenario, flow.source, path).delay_s + facts_of(scenario, flow.destination, path[::-1]).delay_s
        for flow in scenario.flows.values()
        for path in flow.paths
        if link in path
    ]
    rtt_s = max(trips, default=found.forward.delay_s + found.reverse.delay_s)
    rate_bps = found.forward.rate_bps
    packets = rate_bps * rtt_s / (8 * (scenario.mss_bytes + HEADER_BYTES))
    return BandwidthDelay(rate_bps, rtt_s, packets) if packets > 0 else None
