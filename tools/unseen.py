"""Measure controllers on drawn networks that no training and no arena uses, with a row for each controller.

    python -m tools.unseen confluence bbr shy.py build/x/best.safetensors [--draws 90] [--first 1] [--jobs 2]

An entry has the form that `subflow arena` reads: the name of a controller with or without options, a policy file, or
a script. Of ten consecutive draws, six are a connection alone (`ALONE`), two a connection beside a NewReno, and two
four equal connections, of which every second has random loss. Receive buffers are unlimited, so that only the
controller limits a connection. The file of the outcomes holds each finished run: the same command simulates only what
is missing.

Columns: "alone" is the geometric mean of goodput over fair share without competitors, followed by that of the lowest
tenth, and of each group; "queue" is the mean queueing delay over the base RTT, and "loss" the mean loss beyond the
random loss, both alone. Beside a NewReno, "own" is the median of the own share, and "keeps" the goodput of the NewReno
over its goodput beside another NewReno: its median and the mean of the lowest tenth. "Jain" is the mean of Jain's
index of four connections, without and with random loss. "Alternating" is the goodput on the link of rlx-alternating.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import statistics
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path

from tools.policies.tables import markdown

from subflow_app.features.arena.core.entrants import Entrant, chosen_entrants
from subflow_app.features.traces.core.scenario_hash import scenario_hash, simulator_version
from subflow_app.foundation.errors import AppError
from subflow_app.terminal.terminal import print_tables
from subflow_app.vocabulary.number_text import NOTHING
from subflow_app.vocabulary.tables import TextColumn, TextTable
from subflow_sim.arena.networks import Network
from subflow_sim.arena.utility import finished, newreno_reference_bps, outcome, worst_decile_of
from subflow_sim.draws import Range, uniform
from subflow_sim.errors import SimError
from subflow_sim.params import HEADER_BYTES
from subflow_sim.scenario import Scenario, load_scenario, parse_scenario
from subflow_sim.shipped import shipped_scenarios

ROOT = Path(__file__).resolve().parents[1]
ALONE = ("clean", "lossy", "shallow")
_CYCLE = (*ALONE, "beside", "equal", *ALONE, "beside", "equal-lossy")
ALTERNATING = "alternating"
_ALTERNATING_SEEDS = (101, 102, 103)
_PACKET_BITS = 8 * (1448 + HEADER_BYTES)
_MOST_PACKETS = 700_000  # approximate limit per run
_RATES = {"clean": (2e6, 300e6), "lossy": (10e6, 500e6), "equal-lossy": (5e6, 200e6)}
_USUAL_RATES = (5e6, 100e6)
_RANDOM_LOSS = (0.003, 0.03)

Figures = Mapping[str, float]


def drawn_network(number: int) -> Network:
    """The network with this number, from 1; the same number always yields the same network.

    Raises:
        ValueError: if the number is less than 1.
    """
    if number < 1:
        raise ValueError(f"the number of a draw is {number}; allowed: 1 or more")
    group = _CYCLE[(number - 1) % len(_CYCLE)]
    text = _text(group, number)
    scenario = parse_scenario(text, file=f"{group}/{number}")
    beside = tuple(name for name, flow in scenario.flows.items() if flow.kind == "tcp")
    competes = tuple(name for name in scenario.flows if name not in beside)
    return Network(group, f"unseen/{group}/{number}", scenario, competes, beside, text=text)


def alternating_networks() -> list[Network]:
    """The scenario rlx-alternating with a connection of one path, with several seeds."""
    path = shipped_scenarios()["rlx-alternating"]
    overrides = ["flows.download.kind=mptcp", "flows.download.controller=lia"]
    scenario = load_scenario(path, overrides=overrides)
    return [
        Network(ALTERNATING, f"unseen/{ALTERNATING}/{seed}", replace(scenario, seed=seed), ("download",))
        for seed in _ALTERNATING_SEEDS
    ]


def _text(group: str, number: int) -> str:
    def drawn(what: str, low: float, high: float) -> float:
        return float(Range(low, high, is_log=True).value(uniform(number, 0, 0, f"unseen/{what}")))

    users = 4 if group.startswith("equal") else 1
    ways = 1 if group in ("beside", "equal", "equal-lossy") else 1 + number % 2
    links, rates, rtts = [], [], []
    for way in range(ways):
        rate = drawn(f"{way}/rate", *_RATES.get(group, _USUAL_RATES))
        rtt = drawn(f"{way}/rtt", 0.01, 0.12)
        bdp = rate * rtt / _PACKET_BITS
        if group == "shallow":
            queue = drawn(f"{way}/buffer", 0.1, 0.5) * bdp
        elif group == "beside":
            queue = drawn("packets", 3, 11) if number % 2 else drawn("buffer", 0.3, 2.0) * bdp
        else:
            queue = drawn(f"{way}/buffer", 0.5, 3.0) * bdp
        links += ["", f"[links.b{way}]", 'ends = ["server", "client"]', f'rate = "{rate / 1e6:.4g}Mbit/s"']
        links += [f'delay = "{1e3 * rtt / 2:.4g}ms"', f'queue = "{max(round(queue), 3)}pkt"']
        if group.endswith("lossy"):
            links += [f'loss = "{100 * drawn(f"{way}/loss", *_RANDOM_LOSS):.3g}%"', f"[links.b{way}.reverse]"]
            links.append("loss = 0")
        rates.append(rate)
        rtts.append(rtt)
    most_s = _MOST_PACKETS * _PACKET_BITS / sum(rates)
    warmup_s = max(min(150 * max(rtts), 10.0, most_s / 2), 4.0)
    duration_s = warmup_s + max(min(150 * max(rtts), 16.0, most_s / 2), 3.0)
    lines = ["format = 1", f'name = "Unseen {group} {number}"', f'duration = "{duration_s:.3f}s"']
    lines += [f'warmup = "{warmup_s:.3f}s"', 'start_jitter = "300ms"', f"seed = {number}"]
    lines += ["", "[nodes.server]", "[nodes.client]", *links]
    paths = ", ".join(f'["b{way}"]' for way in range(ways))
    for user in range(users):
        lines += ["", f"[flows.user{user}]", 'kind = "mptcp"', 'from = "server"', 'to = "client"']
        lines += ['controller = "lia"', f"paths = [{paths}]"]
    if group == "beside":
        lines += ["", "[flows.tcp]", 'kind = "tcp"', 'from = "server"', 'to = "client"']
        lines += ['controller = "newreno"', 'paths = [["b0"]]']
    return "\n".join(lines) + "\n"


def measured(net: Network, scenario: Scenario) -> Figures:
    """Figures of a run: utility, share, queue, loss, keeps (NaN without a NewReno), jain and goodput_bps.

    Shares are those of the fair rate, the queue is in base RTTs, and the loss is that beyond random loss, 0..1.

    Args:
        net: network of the run.
        scenario: the same network with the controller.

    Raises:
        SimError: if the run fails.
    """
    summary = finished(scenario).summary()
    result = outcome(net, summary, newreno_reference_bps(net))
    flows = [flow for flow in summary["flows"] if flow["name"] in net.connections]
    return {
        "utility": result.utility,
        "share": math.exp(result.throughput),
        "queue": result.queueing,
        "loss": result.excess_loss,
        "keeps": result.friendliness,
        "jain": jain([flow["active_goodput_bps"] for flow in flows]),
        "goodput_bps": statistics.fmean(flow["active_goodput_bps"] for flow in flows),
    }


def jain(goodputs: Sequence[float]) -> float:
    """Jain's index of goodputs; NaN if all are 0."""
    squares = math.fsum(each * each for each in goodputs)
    return math.fsum(goodputs) ** 2 / (len(goodputs) * squares) if squares > 0 else math.nan


def key_of(entrant: Entrant, net: Network) -> str:
    """A hash of all that determines a run of an entrant in a network.

    Raises:
        ArenaError: if the entrant is not usable.
    """
    parts = (simulator_version(), entrant.sends(net.scenario.profile), scenario_hash(net.scenario), net.scenario.seed)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]


def read_outcomes(path: Path) -> dict[str, Figures]:
    """Finished runs by their keys; a line cut off by an interruption is ignored."""
    known: dict[str, Figures] = {}
    if path.exists():
        for line in path.read_text("utf-8").splitlines():
            try:
                row = json.loads(line)
                known[row["key"]] = {name: math.nan if x is None else x for name, x in row["figures"].items()}
            except (ValueError, KeyError):
                continue
    return known


def measure(entrants: Sequence[Entrant], nets: Sequence[Network], path: Path, jobs: int) -> dict[str, Figures]:
    """Simulate all missing runs and return the figures of all runs by their keys.

    Raises:
        SimError: if a run fails.
        ArenaError: if an entrant is not usable.
    """
    known = read_outcomes(path)
    missing = {key_of(each, net): (net, each.scenario(net)) for each in entrants for net in nets}
    missing = {key: run for key, run in missing.items() if key not in known}
    path.parent.mkdir(parents=True, exist_ok=True)
    is_cut_off = path.exists() and not path.read_bytes().endswith(b"\n")
    with path.open("a", encoding="utf-8") as file, ProcessPoolExecutor(jobs) as pool:
        if is_cut_off:
            file.write("\n")
        runs = {pool.submit(measured, replace(net, text=""), run): key for key, (net, run) in missing.items()}
        for done in as_completed(runs):
            figures = known[runs[done]] = done.result()
            shown = {name: x if math.isfinite(x) else None for name, x in figures.items()}
            file.write(json.dumps({"key": runs[done], "figures": shown}) + "\n")
            file.flush()
    return known


_COLUMNS: tuple[tuple[str, str, str], ...] = (
    ("Alone", "", ".2f"),
    ("worst tenth", "", ".2f"),
    *((name, "", ".2f") for name in ALONE),
    ("queue", "", ".2f"),
    ("loss", "%", ".1f"),
    ("own", "", ".2f"),
    ("keeps", "", ".2f"),
    ("worst tenth", "", ".3f"),
    ("Jain", "", ".2f"),
    ("lossy", "", ".2f"),
    ("Alternating", "Mbit/s", ".1f"),
)


def row(figures: Iterable[tuple[str, Figures]]) -> list[float]:
    """The numbers of a row of the table from pairs of group and figures; NaN where a group is missing."""
    by_group: dict[str, list[Figures]] = {}
    for group, each in figures:
        by_group.setdefault(group, []).append(each)

    def all_of(name: str, *groups: str) -> list[float]:
        return [each[name] for group in groups for each in by_group.get(group, ()) if math.isfinite(each[name])]

    def logs(*groups: str) -> list[float]:
        return [math.log(max(share, 1e-4)) for share in all_of("share", *groups)]

    keeps = all_of("keeps", "beside")
    return [
        math.exp(_mean(logs(*ALONE))),
        math.exp(worst_decile_of(logs(*ALONE))),
        *(math.exp(_mean(logs(group))) for group in ALONE),
        _mean(all_of("queue", *ALONE)),
        100 * _mean(all_of("loss", *ALONE)),
        _median(all_of("share", "beside")),
        _median(keeps),
        worst_decile_of(keeps),
        _mean(all_of("jain", "equal")),
        _mean(all_of("jain", "equal-lossy")),
        _mean(all_of("goodput_bps", ALTERNATING)) / 1e6,
    ]


def _mean(values: Sequence[float]) -> float:
    return statistics.fmean(values) if values else math.nan


def _median(values: Sequence[float]) -> float:
    return statistics.median(values) if values else math.nan


def table(entrants: Sequence[Entrant], nets: Sequence[Network], known: Mapping[str, Figures]) -> TextTable:
    """A row for each entrant."""
    rows = []
    for entrant in entrants:
        numbers = row((net.family, known[key_of(entrant, net)]) for net in nets)
        cells = [
            f"{x:{form}}" if math.isfinite(x) else NOTHING
            for x, (_title, _unit, form) in zip(numbers, _COLUMNS, strict=True)
        ]
        rows.append((entrant.name, *cells))
    columns = (TextColumn("Controller", is_number=False), *(TextColumn(title, unit) for title, unit, _ in _COLUMNS))
    return TextTable("", columns, tuple(rows))


def main(arguments: Sequence[str]) -> None:
    """Measure the entries and print the table."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m tools.unseen", description=__doc__, formatter_class=plain)
    parser.add_argument("entries", nargs="+", metavar="ENTRY")
    parser.add_argument("--draws", type=int, default=90, metavar="N", help="number of networks (default: 90)")
    parser.add_argument("--first", type=int, default=1, metavar="N", help="number of the first network (default: 1)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes at once (default: 1)")
    parser.add_argument("--file", type=Path, default=ROOT / "build" / "unseen.jsonl", help="file of the outcomes")
    parser.add_argument("--each", action="store_true", help="also print the figures of each network")
    parser.add_argument("--markdown", action="store_true", help="print the table for the guide")
    asked = parser.parse_args(arguments)
    for name in ("draws", "first", "jobs"):
        if getattr(asked, name) < 1:
            parser.error(f"--{name} {getattr(asked, name)}; allowed: 1 or more")
    try:
        entrants = chosen_entrants(asked.entries)
        nets = [drawn_network(number) for number in range(asked.first, asked.first + asked.draws)]
        nets += alternating_networks()
        known = measure(entrants, nets, asked.file, asked.jobs)
    except (AppError, SimError) as error:
        sys.exit(str(error))
    if asked.each:
        for net in nets:
            for entrant in entrants:
                figures = known[key_of(entrant, net)]
                shown = " ".join(f"{name}={x:.4g}" for name, x in figures.items())
                sys.stdout.write(f"{net.name} {entrant.name} {shown}\n")
    result = table(entrants, nets, known)
    if asked.markdown:
        sys.stdout.write(markdown(result))
    else:
        print_tables(result)


if __name__ == "__main__":
    main(sys.argv[1:])
