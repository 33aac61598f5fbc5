"""A network in words: "5 and 25 Mbit/s, 3 ms, buffers of 5 and 7 packets, the faster path loses 1.5 %"."""

from __future__ import annotations

from collections.abc import Sequence

from subflow_app.vocabulary.number_text import counted
from subflow_sim.arena.networks import Network
from subflow_sim.arena.path_facts import PathFacts, path_facts


def network_words(net: Network) -> str:
    """What a network is, in a part of a sentence: by the paths of its first flow that is tried."""
    flow = net.scenario.flows[net.competes[0]]
    facts = path_facts(net.scenario)
    paths = [facts[flow.name, place] for place in range(1, len(flow.paths) + 1)]
    slowest = [_slowest(net, path) for path in flow.paths]
    sides = [net.scenario.links[name].forward for name in slowest]
    if len(set(slowest)) == 1:
        sides = sides[:1]
    rates = ["unlimited" if side.rate_bps is None else f"{side.rate_bps / 1e6:.3g} Mbit/s" for side in sides]
    delays = [f"{1e3 * _delays_s(net, path):.3g} ms" for path in flow.paths]
    parts = [
        f"{_listed(rates)}{' shared by all paths' if len(sides) < len(paths) else ''}",
        f"{_listed(delays)} there and back",
    ]
    buffers = [side.queue.limit_pkts for side in sides]
    if all(buffers):
        parts.append(f"buffers of {_listed([str(each) for each in buffers])} packets")
    parts += _losses(paths)
    if flow.size_bytes is not None:
        parts.append(f"a document of {_bytes(flow.size_bytes)}")
    connections = len(net.connections)
    if connections > 1:
        parts.append(f"{connections} connections")
    company = sum(net.scenario.flows[name].count for name in net.beside)
    if company:
        parts.append(f"{counted(company, 'TCP connection')} beside")
    return ", ".join(parts)


def _slowest(net: Network, path: Sequence[str]) -> str:
    return min(path, key=lambda name: net.scenario.links[name].forward.rate_bps or float("inf"))


def _delays_s(net: Network, path: Sequence[str]) -> float:
    links = [net.scenario.links[name] for name in path]
    return sum(link.forward.delay_s + link.reverse.delay_s for link in links)


def _losses(paths: Sequence[PathFacts]) -> list[str]:
    losses = [path.loss for path in paths]
    if not any(losses):
        return []
    shown = [f"{100 * loss:.3g} %" for loss in losses]
    if len(set(losses)) == 1:
        return [f"{shown[0]} random loss"]
    if len(paths) == 2 and min(losses) == 0:
        lossy = losses.index(max(losses))
        mine, other = paths[lossy].capacity_bps, paths[1 - lossy].capacity_bps
        what = "faster" if mine > 1.05 * other else "slower" if other > 1.05 * mine else f"{('first', 'second')[lossy]}"
        return [f"the {what} path loses {shown[lossy]}"]
    return [f"random loss of {_listed(shown)}"]


def _listed(texts: Sequence[str]) -> str:
    """As in "5 and 25 Mbit/s": the unit once, and the number once where all are the same."""
    if len(set(texts)) == 1:
        return texts[0]
    numbers, units = zip(*(text.partition(" ")[::2] for text in texts), strict=True)
    return f"{', '.join(numbers[:-1])} and {numbers[-1]} {units[-1]}".rstrip()


def _bytes(size: int) -> str:
    return f"{size / 1e6:.3g} MB" if size >= 1e6 else f"{size / 1e3:.3g} kB"
