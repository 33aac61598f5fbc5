"""Claims about controllers as TOML files (`assets/claims/*.toml`), and the functions that claims may use.

format = 1
title = "Several paths carry at least what NewReno gets on the best of them"
source = "RFC 6356, section 2, goal 1"  # source of the claim
holds = "goodput() >= 0.9 * goodput('newreno')"     # in the language of `foundation.expressions`, with `MEASURES`
when = "path_loss(1) == 0 %"            # condition on the network; left out: all networks
ratio = "goodput() / goodput('newreno')"            # severity of a failure; left out: ratio of both sides
fails = "{network}: {entrant} takes {ratio} of one NewReno on the best path"  # sentence on a failure
spaces = ["two-links", "three-links"]   # networks to search; the first is the default

[cases.newreno]                         # an additional run, which the claim names
controller = "newreno"                  # an entry of the arena; left out: the entrant
path = "best"                           # use one path: its number, or "best" for the path with the highest goodput
alone = false                           # true: without competing flows

The entrant is the tested controller; it runs on all mptcp flows of a network. The tcp flows compete with them.

The functions measure the runs of a network in SI units. The first argument of most functions is a case, the name of a
run in the claim. Without a case, or with the case "entrant", they measure the run of the tested controller.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

from subflow_app.foundation.claims import Claim
from subflow_app.foundation.errors import ClaimFileError
from subflow_app.foundation.expressions import MOST_CHARACTERS, ClaimError, Expression, Function, Missing, Value
from subflow_app.foundation.resources import file_or_shipped, resource_path
from subflow_app.foundation.toml_edit import render
from subflow_app.foundation.toml_files import checked, prose, read_text
from subflow_app.vocabulary.measure import NotMeasuredError
from subflow_app.vocabulary.measures import NAMED as SHARED
from subflow_sim.arena.networks import Network
from subflow_sim.arena.path_facts import path_facts
from subflow_sim.arena.utility import fair_shares, queueing_of
from subflow_sim.errors import SimulationError
from subflow_sim.gate import is_there
from subflow_sim.parameter import Param, kind_name
from subflow_sim.script_reader import SUFFIX as SCRIPT_SUFFIX
from subflow_sim.section_reader import Report, named_tables, read_section
from subflow_sim.units import Dimension

Summary: TypeAlias = Mapping[str, Any]

_NOTHING_SENT = Missing("nothing was sent")

_INCOMPLETE = " An incomplete transfer counts up to the end of the run."
_OF_CASE = {
    "goodput": (SHARED["goodput"].expression_unit, SHARED["goodput"].definition),
    "each": ("Mbit/s", "Goodput of each of their connections, bit/s."),
    "beside": ("Mbit/s", "Goodput of each competing connection, bit/s."),
    "rtt": (SHARED["rtt"].expression_unit, SHARED["rtt"].definition),
    "queueing": ("", "Queueing delay over the round-trip time without queues, mean over their packets."),
    "loss": (SHARED["loss_ratio"].expression_unit, SHARED["loss_ratio"].definition),
    "jain": (SHARED["jain"].expression_unit, SHARED["jain"].definition),
    "utilisation": ("%", "Goodput of all flows over the sum of the fair shares of the network."),
    "completion": (SHARED["completion"].expression_unit, f"{SHARED['completion'].definition}{_INCOMPLETE}"),
    "makespan": (SHARED["makespan"].expression_unit, f"{SHARED['makespan'].definition}{_INCOMPLETE}"),
}
_OF_PATH = {
    "path_rate": ("Mbit/s", "Payload that the first, second … path of the first flow carries, bit/s."),
    "path_rtt": ("ms", "Round-trip time of that path without queues, s."),
    "path_loss": ("%", "Share of the packets that its links lose at random."),
}

MEASURES: Mapping[str, Function] = {
    **{name: Function(("text",), optional=1, unit=unit) for name, (unit, _) in _OF_CASE.items()},
    "carried": Function(("text", "number"), unit="Mbit/s"),
    "fair": Function((), unit="Mbit/s"),
    **{name: Function(("number",), unit=unit) for name, (unit, _) in _OF_PATH.items()},
}
"""Functions that claims may call."""

ABOUT: Mapping[str, str] = {
    **{name: about for name, (_, about) in _OF_CASE.items()},
    "carried": "Throughput of the first, second … path of the tested flows: carried('entrant', 1), bit/s.",
    "fair": "Total max-min fair share of the tested flows, bit/s.",
    **{name: about for name, (_, about) in _OF_PATH.items()},
}
"""Human-readable descriptions of the functions in `MEASURES`."""


def measure(net: Network, name: str, summary: Summary, *rest: Value) -> Value:
    """Call a function that measures a run.

    Args:
        net: network of the run.
        name: function of `MEASURES` that takes a case.
        summary: summary of the run, as returned by `Simulation.summary`.
        rest: arguments after the case.
    """
    return _CASE_BODIES[name](net, summary, *rest)


def measure_network(net: Network, name: str, arguments: Sequence[Value]) -> Value:
    """Call a function that describes a network; `Missing` if it lacks the path or fair shares cannot be computed.

    Args:
        net: network to describe.
        name: function of `MEASURES` that takes no case.
        arguments: arguments of the function.
    """
    if name == "fair":
        return _fair(net)
    number = arguments[0]
    facts = path_facts(net.scenario).get((net.competes[0], int(number)))  # type: ignore[arg-type]
    if facts is None or number != int(number):  # type: ignore[arg-type]
        return Missing(f"no path {number:g}")
    return {"path_rate": facts.capacity_bps, "path_rtt": facts.base_rtt_s, "path_loss": facts.loss}[name]


def is_of_case(name: str) -> bool:
    """True if the first argument of a function is a case."""
    return name in _CASE_BODIES


def goodput_bps(net: Network, summary: Summary) -> float:
    """Total goodput of the tested flows, bit/s."""
    return SHARED["goodput"].of_flows(_tried(net, summary))


def makespan_s(net: Network, summary: Summary) -> float:
    """Time from the first start of a tested flow to the last byte of all tested flows, or to the end of the run, s."""
    return SHARED["makespan"].of_flows(_ended(net, summary))


def completion_s(net: Network, summary: Summary) -> float:
    """Mean time from the start of a tested flow to its last byte, or to the end of the run, s."""
    return SHARED["completion"].of_flows(_ended(net, summary))


def _ended(net: Network, summary: Summary) -> list[Mapping[str, Any]]:
    """The tested flows. An incomplete flow counts as completed at the end of the run."""
    return [
        flow if flow["completion_s"] is not None else {**flow, "completion_s": summary["duration_s"] - flow["start_s"]}
        for flow in _tried(net, summary)
    ]


def _tried(net: Network, summary: Summary) -> list[Mapping[str, Any]]:
    names = set(net.connections)
    return [flow for flow in summary["flows"] if flow["name"] in names]


def _each(net: Network, summary: Summary) -> Value:
    return tuple(flow["goodput_bps"] for flow in _tried(net, summary))


def _beside(net: Network, summary: Summary) -> Value:
    names = {name for flow in net.beside for name in net.scenario.flows[flow].instances}
    found = tuple(flow["goodput_bps"] for flow in summary["flows"] if flow["name"] in names)
    return found or Missing("no flow competes with the tested flows")


def _rtt(net: Network, summary: Summary) -> Value:
    try:
        return SHARED["rtt"].of_flows(_tried(net, summary))
    except NotMeasuredError as error:
        return Missing(str(error))


def _queueing(net: Network, summary: Summary) -> Value:
    facts = path_facts(net.scenario)
    measured = []
    for flow in _tried(net, summary):
        base = flow["name"].partition(".")[0]
        paths = {path: facts[base, place] for place, path in enumerate(net.scenario.flows[base].paths, start=1)}
        measured += [(subflow, paths[tuple(subflow["path"])]) for subflow in flow["subflows"]]
    _, queueing = queueing_of(measured)
    return Missing("nothing arrived") if math.isnan(queueing) else queueing


def _loss(net: Network, summary: Summary) -> Value:
    flows = _tried(net, summary)
    return SHARED["loss_ratio"].of_flows(flows) if any(flow["packets_sent"] for flow in flows) else _NOTHING_SENT


def _jain(net: Network, summary: Summary) -> Value:
    index = SHARED["jain"].of_parts([flow for flow in _tried(net, summary) if flow["active_s"] > 0])
    return Missing("nothing arrived") if index is None else index


def _utilisation(net: Network, summary: Summary) -> Value:
    total = _total_bps(net)
    return total if isinstance(total, Missing) else math.fsum(f["goodput_bps"] for f in summary["flows"]) / total


def _carried(net: Network, summary: Summary, number: Value) -> Value:
    rates = []
    for flow in _tried(net, summary):
        subflows = flow["subflows"]
        if not isinstance(number, float) or number != int(number) or not 1 <= number <= len(subflows):
            return Missing(f"no path {number}")
        rates.append(subflows[int(number) - 1]["throughput_bps"])
    return math.fsum(rates)


def _fair(net: Network) -> Value:
    try:
        shares = fair_shares(net)
    except SimulationError as error:
        return Missing(str(error))
    return math.fsum(shares[name] for name in net.connections)


def _total_bps(net: Network) -> float | Missing:
    try:
        return math.fsum(fair_shares(net).values()) or Missing("the network carries nothing")
    except SimulationError as error:
        return Missing(str(error))


_CASE_BODIES: Mapping[str, Callable[..., Value]] = {
    "goodput": goodput_bps,
    "each": _each,
    "beside": _beside,
    "rtt": _rtt,
    "queueing": _queueing,
    "loss": _loss,
    "jain": _jain,
    "utilisation": _utilisation,
    "completion": completion_s,
    "makespan": makespan_s,
    "carried": _carried,
}


SUFFIX = ".toml"
OWN_NAME = "own"
"""Name of a claim that a person has typed."""

ENTRANT = ""
"""Name of the case of the tested controller."""

_PARAMS = (
    Param("format", Dimension.COUNT, "Version of the file format.", required=True, minimum=1, maximum=1),
    Param("title", Dimension.TEXT, "The claim, in a line.", required=True),
    Param("source", Dimension.TEXT, "Source of the claim.", default=""),
    Param("holds", Dimension.TEXT, "Condition that has to hold.", required=True, allows_lines=True),
    Param("when", Dimension.TEXT, "Condition for its networks; left out: all networks.", default="", allows_lines=True),
    Param("ratio", Dimension.TEXT, "Number that measures the failure.", default="", allows_lines=True),
    Param(
        "fails",
        Dimension.TEXT,
        "Sentence about a network in which it fails.",
        default="{network}: {entrant} does not keep it ({told})",
    ),
    Param("spaces", Dimension.LIST, "Spaces of networks in which it is tried.", default=()),
)
_CASE = (
    Param("controller", Dimension.TEXT, "An entry of the arena; left out: the entrant.", default=""),
    Param("alone", Dimension.FLAG, "Leave out competing flows.", default=False),
)
_MOST_PATHS = 64
_TRIED = "entrant"
_LETTERS = 48  # maximum number of characters of a controller's name in the name of a case; the path is appended
_CASE_NAME = re.compile(r"""(\(\s*)(?=['"])['"]([^'"]*)(['"])""")

WORDS = ("entrant", "ratio", "told", "network")
"""Words that a sentence on a failure may contain in braces: the controller, the severity, the claim with its measured
numbers, and the network.
"""

Place = int | Literal["best"] | None


@dataclass(frozen=True, slots=True)
class Case:
    """A run that a claim compares with the run of the entrant.

    Attributes:
        name: name in the claim.
        controller: entry of the arena; empty for the entrant.
        path: number of the single path to use, from 1, or "best" for the path with the highest goodput; None for all.
        is_alone: whether to leave out competing flows.
    """

    name: str
    controller: str = ""
    path: Place = None
    is_alone: bool = False


@dataclass(frozen=True, slots=True)
class ClaimFile:
    """A claim that has been read from a file and checked.

    Attributes:
        name: name of the file without its suffix: "rfc6356-improve".
        title: the claim in one line.
        source: source of the claim, such as a paper; empty if unknown.
        prose: comment at the start of the file; may be empty.
        holds: text of the claim.
        when: condition on the network; empty for all networks.
        ratio: expression for the severity of a failure; empty for the ratio of both sides of the claim.
        fails: sentence about a network in which the claim fails, with `WORDS` in braces.
        spaces: names of the spaces to search, the default first.
        cases: additional runs by name.
        text: content of the file.
    """

    name: str
    title: str
    source: str
    prose: str
    holds: str
    when: str
    ratio: str
    fails: str
    spaces: tuple[str, ...]
    cases: Mapping[str, Case] = field(hash=False)
    text: str = field(default="", repr=False)

    @property
    def claim(self) -> Claim:
        """The claim `holds`, parsed."""
        return _claim(self.holds)

    @property
    def condition(self) -> Claim | None:
        """Condition on the network; None for all networks."""
        return _claim(self.when) if self.when else None

    @property
    def how_bad(self) -> Expression | None:
        """Parsed `ratio`; None if it is empty."""
        return _number(self.ratio) if self.ratio else None


@lru_cache(maxsize=64)
def _claim(holds: str) -> Claim:
    return Claim(holds, MEASURES)


@lru_cache(maxsize=64)
def _number(text: str) -> Expression:
    return Expression(text, MEASURES)


def claim_names() -> tuple[str, ...]:
    """Names of the shipped claims, one for each file in the folder."""
    return tuple(sorted(path.stem for path in resource_path("claims").glob(f"*{SUFFIX}")))


def load_claim(name_or_path: str) -> ClaimFile:
    """Read a claim file, or a shipped claim by its name.

    Raises:
        InputError: if no such file or name exists; `ClaimFileError` with all problems of the file.
    """
    names = claim_names()
    listed = f"allowed: {', '.join(names)}"
    path = file_or_shipped(name_or_path, "claims", SUFFIX, names, "no such claim", listed)
    return read_claim(path.stem, read_text(path, ClaimFileError, "a claim"), path)


def read_claim(name: str, text: str, file: str | Path) -> ClaimFile:
    """Read a claim from the text of its file.

    Args:
        name: name of the claim.
        text: TOML.
        file: name of the file in error messages.

    Raises:
        ClaimFileError: with all problems of the text.
    """
    return checked(text, file, ClaimFileError, lambda tree, report: _read(name, text, tree, report))


def named_or_said(text: str) -> ClaimFile:
    """Read a claim that is given by its name, its file, or its formula.

    In a formula, cases are entries of the arena: 'lia', or 'newreno@best' and 'newreno@2' for a single path.

    Raises:
        InputError: if the name is unknown; `ClaimFileError` if the claim cannot be read.
    """
    if "(" not in text or is_there(Path(text)):
        return load_claim(text)
    return said_claim(text)


def said_claim(holds: str, when: str = "") -> ClaimFile:
    """Build a claim from a typed formula, in which cases are written as in `named_or_said`.

    Raises:
        ClaimFileError: if the formula cannot be read.
    """
    for text in (holds, when):
        if len(text) > MOST_CHARACTERS:  # checked before the regular expressions search the text
            raise ClaimFileError(f"{OWN_NAME}: {len(text)} characters are too long; allowed: {MOST_CHARACTERS}")
    lines = ["format = 1", f"title = {_quoted(holds)}"]
    cases: dict[tuple[str, str], str] = {}

    def named(match: re.Match[str]) -> str:
        entry, _, place = match[2].partition("@")
        controller = "" if entry == _TRIED else entry
        if not controller and not place:
            return match[0]
        # A script is named by its path, which is too long for a case.
        told = Path(entry).name if entry.endswith(SCRIPT_SUFFIX) else entry or _TRIED
        short = re.sub(r"[^A-Za-z0-9_-]", "-", told)[:_LETTERS]
        name = f"{short}-{place}" if place else short
        if name in cases.values() and (controller, place) not in cases:
            name = f"{name}-{len(cases) + 1}"
        return f"{match[1]}{match[3]}{cases.setdefault((controller, place), name)}{match[3]}"

    for key, text in (("holds", holds), ("when", when)):
        if text:
            lines.append(f"{key} = {_quoted(_CASE_NAME.sub(named, text))}")
    tables = [
        f"[cases.{name}]\ncontroller = {_quoted(controller)}\n"
        + (f"path = {place if place.isdecimal() else _quoted(place)}\n" if place else "")
        for (controller, place), name in cases.items()
    ]
    return read_claim(OWN_NAME, "\n".join((*lines, *tables)) + "\n", "claim")


def _quoted(text: str) -> str:
    return render(text)


def _read(name: str, text: str, tree: Mapping[str, Any], report: Report) -> ClaimFile | None:
    own = {key: value for key, value in tree.items() if key != "cases"}
    values = read_section(report, (), own, _PARAMS, kind="claim", also_known=("cases",))
    cases = {}
    for case, table in named_tables(report, tree, "cases", required=False):
        known = {key: value for key, value in table.items() if key != "path"}
        read = read_section(report, ("cases", case), known, _CASE, also_known=("path",))
        place = _path(report, case, table.get("path"))
        cases[case] = Case(case, read.get("controller", ""), place, read.get("alone", False))
    if "holds" not in values:
        return None
    for key, kind in (("holds", Claim), ("when", Claim), ("ratio", Expression)):
        if values.get(key):
            _check(report, key, kind, values[key], cases)
    fails = values.get("fails", "")
    try:
        fails.format(**dict.fromkeys(WORDS, ""))
    except (KeyError, IndexError, ValueError, AttributeError):
        allowed = ", ".join(f"{{{word}}}" for word in WORDS)
        report.add(("fails",), "unknown word in braces", allowed)
    if report.problems:
        return None
    return ClaimFile(
        name,
        values["title"],
        values.get("source", ""),
        prose(text),
        values["holds"],
        values.get("when", ""),
        values.get("ratio", ""),
        fails,
        tuple(report.names(("spaces",), list(values.get("spaces", ())))),
        cases,
        text,
    )


def _check(report: Report, key: str, kind: type[Expression], text: str, cases: Mapping[str, Case]) -> None:
    try:
        read = kind(text, MEASURES)
    except ClaimError as error:
        report.add((key,), error.message, error.allowed)
        return
    for call in read.calls():
        named = call.texts[0] if call.texts else None
        if MEASURES[call.name].arguments[:1] == ("text",) and named:
            report.check_names((key,), (named,), "case", [*cases, _TRIED])


def _path(report: Report, case: str, value: object) -> Place:
    if value is None or value == "best":
        return value
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _MOST_PATHS:
        return value
    shown = kind_name(value) if not isinstance(value, str | int) else repr(value)
    report.add(("cases", case, "path"), f"{shown} is not a path", f'"best", or a number from 1 to {_MOST_PATHS}')
    return None
