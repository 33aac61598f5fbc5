"""Warnings about valid scenarios whose results will probably mislead."""

from __future__ import annotations

from collections import Counter
from math import inf

from subflow_sim.catalog import controllers, resolved
from subflow_sim.scenario_model import Choice, Flow
from subflow_sim.units import Dimension, format_quantity
from subflow_sim.whole_scenario import Scenario

__all__ = ["scenario_warnings"]

# Controllers whose option `probe` is a share of the total rate of the connection instead of the path's rate.
_PROBING = ("mpcc-loss", "mpcc-latency")
# Maximum distance of a tried rate from the current one, relative to the rate of the slowest path. Measured with
# mpcc-loss over 8 to 32 equal paths of 5 Mbit/s, with minrtt and mpcc-rate: at 0.9 and above, 10 to 28 % of the packets
# are lost; between 0.45 and 0.8, at most 6 % and mostly none.
_OVERLOADING = 0.85
_FITTING = 0.5


def scenario_warnings(scenario: Scenario) -> tuple[str, ...]:
    """Warnings, each a sentence without its full stop; empty if none apply.

    Covers flows with MPCC over many paths, or with one path much slower than the others. MPCC tries rates that exceed
    its own by a share of the total rate, which can be as large as the whole rate of a slow path. See
    `Mpcc::probe_rates` of the core. Also covers controllers whose scheduler differs from that in their publication.
    """
    found: list[str] = []
    for flow in scenario.flows.values():
        choices = [flow.controller, *(e.controller for e in scenario.events if e.controller and e.flow == flow.name)]
        for choice in choices:
            for warning in (_overload_by_probing(scenario, flow, choice), _other_scheduler(flow, choice)):
                if warning is not None and warning not in found:
                    found.append(warning)
    return tuple(found)


def _other_scheduler(flow: Flow, choice: Choice) -> str | None:
    meant = next((each.scheduler for each in controllers() if each.name == choice.name), "")
    if not meant or len(flow.paths) < 2 or flow.scheduler.name == meant:
        return None
    return (
        f'flow "{flow.name}": {choice.name} was designed for the scheduler {meant} but runs with '
        f"{flow.scheduler.name}: this is not the published system"
    )


def _overload_by_probing(scenario: Scenario, flow: Flow, choice: Choice) -> str | None:
    if choice.name not in _PROBING or len(flow.paths) < 2:
        return None
    share = float(resolved(choice, scenario.profile).options["probe"])
    bottlenecks = [_bottleneck(scenario, flow, path) for path in flow.paths]
    crowd = Counter(side for side, _ in bottlenecks)
    rates = [rate_bps / crowd[side] for side, rate_bps in bottlenecks]
    width_bps = share * sum(rates)
    slowest = min(range(len(rates)), key=rates.__getitem__)
    if width_bps <= _OVERLOADING * rates[slowest] * (1 + 1e-9):
        return None

    def rate_text(rate_bps: float) -> str:
        return format_quantity(float(f"{rate_bps:.2g}"), Dimension.RATE)

    return (
        f'flow "{flow.name}": {choice.name} tries rates {rate_text(width_bps)} above its own, {100 * share:g}% of the '
        f"total of its paths, where path {', '.join(flow.paths[slowest])} carries {rate_text(rates[slowest])}: "
        f"its trials overload that; a probe of {100 * _FITTING * rates[slowest] / sum(rates):.2g}% suits these paths, "
        "and the usual one fewer of them"
    )


def _bottleneck(scenario: Scenario, flow: Flow, path: tuple[str, ...]) -> tuple[tuple[str, str], float]:
    """The slowest link direction on a path, as (link, direction), and its initial rate, bit/s."""
    at, sides = flow.source, []
    for name in path:
        link = scenario.links[name]
        outward = at == link.ends[0]
        at = link.ends[1] if outward else link.ends[0]
        side = link.forward if outward else link.reverse
        sides.append(((name, "forward" if outward else "reverse"), inf if side.rate_bps is None else side.rate_bps))
    return min(sides, key=lambda each: each[1])
