"""Scenario to tc to scenario, and scenario to Mininet to scenario: the same links, for all that both can express."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from subflow_app.features.editor.core.graph_import import import_graph
from subflow_app.features.testbed.core.formats import export_topology
from subflow_sim.scenario import LinkDirection, Scenario, parse_scenario

SCENARIOS = 500


class Draw:
    """Random links, from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def one_of(self, *choices: str) -> str:
        return self.random.choice(choices)

    def number(self, least: float, most: float, digits: int) -> str:
        return f"{round(self.random.uniform(least, most), digits):.{digits}f}"

    def plain_queue(self) -> str:
        return f'"{self.random.randint(1, 5000)}pkt"'

    def tc_queue(self) -> str:
        integer = self.random.randint
        match self.random.randrange(6):
            case 0:
                return f'"{integer(1, 9_000_000)}B"'
            case 1:
                ecn = self.one_of("true", "false")
                times = f'target = "{integer(1, 50_000)}us", interval = "{integer(1, 500)}ms"'
                step = f', ce_threshold = "{integer(1, 9000)}us"' if self.random.random() < 0.3 else ""
                return f'{{ discipline = "codel", limit = "{integer(1, 5000)}pkt", {times}, ecn = {ecn}{step} }}'
            case 2:
                ecn = self.one_of("true", "false")
                more = f'flows = {integer(1, 4096)}, quantum = "{integer(64, 9000)}B", ecn = {ecn}'
                return f'{{ discipline = "fq_codel", limit = "{integer(1, 20_000)}pkt", {more} }}'
            case 3:
                least = integer(1, 50)
                most = least + integer(1, 100)
                words = f'min = "{least}pkt", max = "{most}pkt", max_p = "{integer(1, 100)}%", gentle = false'
                return f'{{ discipline = "red", mode = "classic", limit = "{most + integer(1, 99)}pkt", {words} }}'
            case 4:
                words = (
                    f'delay_target = "{integer(1, 99)}ms", step = "{integer(100, 9000)}us", coupling = {integer(1, 9)}'
                )
                return f'{{ discipline = "dualpi2", limit = "{integer(1, 20_000)}pkt", {words} }}'
            case _:
                return self.plain_queue()

    def tc_direction(self) -> dict[str, str]:
        """Keys of a direction, each with its value in TOML."""
        values = {"delay": f'"{self.random.choice((0, self.random.randint(1, 10**6)))}us"'}
        if self.random.random() < 0.3:
            p, r = self.number(0.1, 100, 3), self.number(0.1, 100, 3)
            bad, good = self.number(0, 100, 2), self.number(0, 100, 2)
            values["loss"] = f'{{ model = "gilbert", p = "{p}%", r = "{r}%", bad = "{bad}%", good = "{good}%" }}'
        else:
            values["loss"] = f'"{self.number(0, 100, 4)}%"'
        if self.random.random() < 0.8:
            rate_bps = self.random.randint(10_000, 10**10)
            values |= {"rate": f'"{rate_bps}bit/s"', "queue": self.tc_queue()}
            if self.random.random() < 0.3:
                peak = (
                    f', peak = "{rate_bps + self.random.randint(0, 10**9)}bit/s"' if self.random.random() < 0.5 else ""
                )
                values["bucket"] = f'{{ burst = "{self.random.randint(1515, 10**6)}B"{peak} }}'
        else:
            values["rate"] = '"unlimited"'
        if self.random.random() < 0.3:
            kind = self.one_of("uniform", "normal", "pareto")
            values["jitter"] = f'{{ distribution = "{kind}", spread = "{self.random.randint(1, 400_000)}us" }}'
        return values

    def mininet_direction(self) -> dict[str, str]:
        values = {
            "delay": f'"{self.random.choice((0, self.random.randint(1, 10**6)))}us"',
            "loss": f'"{self.number(0, 100, 4)}%"',
            "rate": '"unlimited"',
        }
        if self.random.random() < 0.8:
            values |= {"rate": f'"{self.random.randint(10_000, 10**9)}bit/s"', "queue": self.plain_queue()}
        if self.random.random() < 0.3:
            values["jitter"] = f'{{ distribution = "normal", spread = "{self.random.randint(1, 400_000)}us" }}'
        return values

    def events(self, links: list[str], text: str) -> Iterator[str]:
        """Changes of rate, delay, loss, length of the queue and state, at whole milliseconds."""
        for _ in range(self.random.randrange(4)):
            yield "[[events]]"
            yield f'at = "{self.random.randrange(10_000)}ms"'
            link = self.random.choice(links)
            table = text.partition(f"[links.{link}]")[2].partition("[links.link-")[0]
            yield f'link = "{link}"'
            yield f'direction = "{self.one_of("both", "forward", "reverse")}"'
            changes = [
                f'delay = "{self.random.randint(0, 10**6)}us"',
                f'loss = "{self.number(0, 100, 4)}%"',
                'loss = { model = "gilbert", p = "1%", r = "25%" }',
                f"up = {self.one_of('true', 'false')}",
            ]
            if "bucket" not in table:
                changes.append(f'rate = "{self.random.randint(10_000, 10**10)}bit/s"')
            if "red" not in table:  # whose limit may not fall below its thresholds
                changes.append(f"queue = {self.plain_queue()}")
            chosen = {change.partition(" ")[0]: change for change in self.random.sample(changes, 2)}
            yield from chosen.values()

    def scenario(self, target: str) -> Scenario:
        """A tree of nodes with some more links, each with values for both directions."""
        names = [f"n{number}" for number in range(self.random.randint(2, 6))]
        kinds = {name: self.one_of("host", "router") for name in names}
        lines = ["format = 1", 'duration = "10s"']
        for name in names:
            lines += [f"[nodes.{name}]", f'kind = "{kinds[name]}"']
        ends = [(names[self.random.randrange(place)], names[place]) for place in range(1, len(names))]
        ends += [(one, other) for one, other in [self.random.sample(names, 2)] if self.random.random() < 0.5]
        for number, (one, other) in enumerate(ends):
            forward, reverse = (self.tc_direction() if target == "tc" else self.mininet_direction() for _ in range(2))
            if self.random.random() < 0.4:
                reverse = forward
            if reverse["rate"] == '"unlimited"':
                forward = {key: value for key, value in forward.items() if key != "bucket"}
            # A direction inherits what it does not set.
            for key, none in (("jitter", '{ spread = "0s" }'), ("bucket", '{ burst = "1514B" }')):
                if key in forward and key not in reverse:
                    reverse = {**reverse, key: none}
            lines += [f"[links.link-{number}]", f'ends = ["{one}", "{other}"]']
            lines += [f"{key} = {value}" for key, value in forward.items()]
            lines += [f"[links.link-{number}.reverse]"] + [f"{key} = {value}" for key, value in reverse.items()]
        if target == "tc":
            lines += self.events([f"link-{number}" for number in range(len(ends))], "\n".join(lines))
        lines += ["[nodes.z0]", "[nodes.z1]", "[links.flow]", 'ends = ["z0", "z1"]', 'rate = "1Mbit/s"']
        lines += ["[flows.f]", 'kind = "tcp"', 'from = "z0"', 'to = "z1"', 'paths = [["flow"]]']
        return parse_scenario("\n".join(lines))


def plain(side: LinkDirection) -> LinkDirection:
    """The direction without tables that have no effect: jitter of 0, a bucket of one packet, a queue without rate."""
    jitter = side.jitter if side.jitter is not None and side.jitter.spread_s > 0 else None
    bucket = side.bucket
    if side.rate_bps is None or (bucket is not None and bucket.burst_bytes <= 1514):
        bucket = None
    queue = side.queue if side.rate_bps is not None else None
    return replace(side, jitter=jitter, bucket=bucket, queue=queue)  # type: ignore[arg-type] # for the comparison alone


State = tuple[LinkDirection, bool]


def states(scenario: Scenario, times: Sequence[float]) -> Iterator[dict[tuple[str, str], State]]:
    """The directions of all links that are up, after the events of each time."""
    sides: dict[tuple[str, str], State] = {}
    for link in scenario.links.values():
        sides |= {(link.name, "forward"): (link.forward, True), (link.name, "reverse"): (link.reverse, True)}
    for time in times:
        for event in (each for each in scenario.events if each.at_s == time):
            for way in ("forward", "reverse") if event.direction == "both" else (event.direction,):
                side, is_up = sides[event.link or "", way]
                if event.rate_bps is not None:
                    side = replace(side, rate_bps=event.rate_bps)
                if event.delay_s is not None:
                    side = replace(side, delay_s=event.delay_s)
                if event.loss is not None:
                    side = replace(side, loss=event.loss, loss_model=event.loss_model)
                if event.queue is not None:
                    limits = (event.queue.limit_pkts, event.queue.limit_bytes)
                    queue = replace(side.queue, limit_pkts=limits[0], limit_bytes=limits[1])
                    side = replace(side, queue=queue)
                sides[event.link or "", way] = side, is_up if event.up is None else event.up
        yield {key: (plain(side), is_up) for key, (side, is_up) in sides.items() if is_up}


def again(scenario: Scenario, format_name: str, path: Path) -> Scenario:
    """The scenario after an export and an import, with a flow added again."""
    export_topology(scenario, {}, path, format_name)
    flow_link = "flow" if format_name == "tc" else "z0_z1"
    flow = f'\n[flows.f]\nkind = "tcp"\nfrom = "z0"\nto = "z1"\npaths = [["{flow_link}"]]\n'
    text = import_graph(path).text.replace('[nodes.z0]\nkind = "router"', "[nodes.z0]")
    return parse_scenario(text + flow)


@pytest.mark.parametrize("format_name", ["tc", "mininet"])
def test_links_survive_the_way_there_and_back(format_name: str, tmp_path: Path) -> None:
    for seed in range(SCENARIOS):
        scenario = Draw(seed).scenario(format_name)
        found = again(scenario, format_name, tmp_path / "net")
        assert [link.ends for link in found.links.values()] == [link.ends for link in scenario.links.values()]
        if format_name == "tc":
            assert list(found.links) == list(scenario.links)
        else:
            assert {name: node.kind for name, node in found.nodes.items()} == {
                name: node.kind for name, node in scenario.nodes.items()
            }
        if format_name == "tc":
            # An event at 0 is part of the beginning.
            times = sorted({0.0, *(event.at_s for event in scenario.events)})
            for time, before_it, after_it in zip(times, states(scenario, times), states(found, times), strict=True):
                assert after_it == before_it, f"seed {seed}, at {time} s"
            if any(event.at_s == 0 for event in scenario.events):
                continue
        for before, after in zip(scenario.links.values(), found.links.values(), strict=True):
            assert plain(after.forward) == plain(before.forward), f"seed {seed}, {before.name} forward"
            assert plain(after.reverse) == plain(before.reverse), f"seed {seed}, {before.name} reverse"
