"""Counterexamples: simplified and confirmed networks in which a claim fails, as documents of the store and as files.

In a folder, such as `assets/counterexamples`, each counterexample consists of two files. NAME.toml is an ordinary
scenario with the controller on its flows; NAME.claim.toml describes the failure:

format = 1
claim = "improve"                       # name of a shipped claim, or of the claim in [own]
entrant = "olia"                        # the controller, by its name in the arena

[confirmed]                             # margins of the claim, one for each of the seeds from 101 on
linux = [-0.92, -0.91]
textbook = [-0.88, -0.87]

The key `says` describes the failure in a sentence, such as "5 and 25 Mbit/s, ...: olia takes 0.40 of one NewReno on the
better path". The optional key `told` is the claim with its numbers, such as "5.3 Mbit/s >= 0.9 * 13.2 Mbit/s".

The runs of a counterexample become scenario files: one for the tested controller and one for each case of the claim.
Networks are described in words, such as "5 and 25 Mbit/s, 3 ms, buffers of 5 and 7 packets, the faster path loses
1.5 %". The description of a failed comparison contains both the measured and the claimed number.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from subflow_app.features.arena.core.entrants import Entrant, chosen_entrants, entrants
from subflow_app.features.breaking.core.claim_file import ENTRANT, Case, ClaimFile, claim_names, load_claim, read_claim
from subflow_app.features.breaking.core.shrinking import Shrinking, Tree, is_round, scenario_of
from subflow_app.features.breaking.core.trial import Trial, network_of, repetitions
from subflow_app.features.catalog.core.uses import Use, read_scenario
from subflow_app.features.editor.core.scenario_source import ScenarioSource, source_of
from subflow_app.foundation.claims import LARGEST_MARGIN
from subflow_app.foundation.errors import ClaimFileError, InputError
from subflow_app.foundation.expressions import UNIT_WORTH
from subflow_app.foundation.resources import file_or_shipped, resource_path
from subflow_app.foundation.toml_edit import (
    Lines,
    TomlValue,
    read_toml,
    remove_table,
    remove_value,
    render,
    render_key,
    set_value,
)
from subflow_app.foundation.toml_files import checked, read_text
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.number_text import counted
from subflow_app.vocabulary.plain_text import capitalised
from subflow_sim.arena.networks import Network
from subflow_sim.arena.path_facts import PathFacts, path_facts
from subflow_sim.draws import Draw
from subflow_sim.parameter import Param
from subflow_sim.scenario import Scenario
from subflow_sim.section_reader import Report, read_section
from subflow_sim.stats import Estimate
from subflow_sim.units import Dimension
from subflow_sim.whole_file import write_whole

_SIDE = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?: (?:%|[A-Za-z][A-Za-z/]*))?"
_PART = re.compile(
    rf"(?P<left>{_SIDE}) (?:(?P<sign>>=|<=|>|<|==) (?P<right>{_SIDE})|in (?P<low>{_SIDE}) \.\. (?P<high>{_SIDE}))"
)
_PHRASES = {
    ">=": translatable("{measured}, where at least {claimed} is claimed"),
    ">": translatable("{measured}, where more than {claimed} is claimed"),
    "<=": translatable("{measured}, where at most {claimed} is claimed"),
    "<": translatable("{measured}, where less than {claimed} is claimed"),
    "==": translatable("{measured}, where {claimed} is claimed"),
}
_BAND = translatable("{measured}, where {low} to {high} is claimed")
_OTHERWISE = translatable("not true: {claim}")


def measured_words(claim: str, say: Callable[..., str] = tr) -> str:
    """Describe the comparisons that make a claim fail: ``5.053 Mbit/s, where at least 11.87 Mbit/s is claimed``.

    Args:
        claim: claim with its measured numbers, see `Outcome.told`.
        say: formats the text: `tr` in the language of the window, or `str.format` in English for texts that are stored.
    """
    found = [_PART.fullmatch(part) for part in claim.split(" and ")]
    failing = [match for match in found if match is not None and not _holds(match)]
    if not failing or None in found:
        return say(_OTHERWISE, claim=claim)
    return "; ".join(_phrase(match, say) for match in failing)


def _holds(match: re.Match[str]) -> bool:
    left = _number(match["left"])
    if match["sign"] is None:
        return _number(match["low"]) <= left <= _number(match["high"])
    right = _number(match["right"])
    return {
        ">=": left >= right,
        ">": left > right,
        "<=": left <= right,
        "<": left < right,
        "==": left == right,
    }[match["sign"]]


def _number(side: str) -> float:
    number, _, unit = side.partition(" ")
    return float(number) * UNIT_WORTH.get(unit, 1.0)


def _phrase(match: re.Match[str], say: Callable[..., str]) -> str:
    if match["sign"] is None:
        return say(_BAND, measured=match["left"], low=match["low"], high=match["high"])
    return say(_PHRASES[match["sign"]], measured=match["left"], claimed=match["right"])


def network_words(net: Network) -> str:
    """Describe a network by the paths of its first tested flow, in words that fit within a sentence."""
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
        f"an RTT of {_listed(delays)}",
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
    """Join numbers as in "5 and 25 Mbit/s", with the unit once. If all numbers are equal, only one appears."""
    if len(set(texts)) == 1:
        return texts[0]
    numbers, units = zip(*(text.partition(" ")[::2] for text in texts), strict=True)
    if len(set(units)) > 1:  # "5 Mbit/s and unlimited"
        return f"{', '.join(texts[:-1])} and {texts[-1]}"
    return f"{', '.join(numbers[:-1])} and {numbers[-1]} {units[-1]}".rstrip()


def _bytes(size: int) -> str:
    return f"{size / 1e6:.3g} MB" if size >= 1e6 else f"{size / 1e3:.3g} kB"


SUFFIX = ".claim.toml"
UNSEEN_SEEDS = tuple(range(101, 111))
"""Seeds for confirmation, which no search uses."""

PROFILES = ("linux", "textbook")
_COMMENT_WIDTH = 116

_PARAMS = (
    Param("format", Dimension.COUNT, "Version of the file format.", required=True, minimum=1, maximum=1),
    Param("claim", Dimension.TEXT, "The claim that fails.", required=True),
    Param("entrant", Dimension.TEXT, "The entrant that it is about.", required=True),
    Param("says", Dimension.TEXT, "The failure in a sentence.", required=True),
    Param("told", Dimension.TEXT, "The claim with its numbers.", default=""),
)


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A network in which a claim fails.

    `says` describes the failure in a sentence. `told` is the claim with the numbers measured with the first unseen
    seed; it is empty in files of older versions.

    Attributes:
        claim: claim that fails.
        entrant: name of the controller in the arena.
        text: scenario file, with the controller on its flows.
        confirmed: margins of the claim by transport profile, one for each unseen seed.
        name: name of the two files without suffix; empty for a counterexample without files.
    """

    claim: ClaimFile
    entrant: str
    says: str
    told: str
    text: str
    confirmed: Mapping[str, tuple[float, ...]]
    name: str = ""

    @property
    def first_seed(self) -> int:
        """The seed that gave the numbers in `told`, and the first margin of each profile in `confirmed`."""
        return UNSEEN_SEEDS[0]

    @property
    def is_confirmed(self) -> bool:
        """True if the claim fails with every unseen seed in each profile."""
        return all(margin < 0 for margins in self.confirmed.values() for margin in margins)

    def estimate(self, profile: str) -> Estimate:
        """The mean margin in a profile, with its 95 % confidence interval."""
        return Estimate.of(self.confirmed[profile])

    def document(self) -> dict[str, Any]:
        """The document that the store keeps, and that `of_document` reads."""
        return {
            "claim": self.claim.name,
            "claim_text": self.claim.text,
            "entrant": self.entrant,
            "says": self.says,
            "told": self.told,
            "scenario": self.text,
            "confirmed": {profile: list(margins) for profile, margins in self.confirmed.items()},
        }

    def trial(self) -> Trial:
        """The claim paired with the controller.

        Raises:
            InputError: if the controller no longer exists; `ScenarioError` if the network is not usable.
        """
        return Trial(self.claim, chosen_entrants([self.entrant], scripts=self.network().scenario.scripts)[0])

    def network(self, profile: str = "") -> Network:
        """The network, with the given transport profile; empty for the profile of the file.

        Raises:
            ScenarioError: if the scenario is not usable.
        """
        overrides = [f"profile={profile}"] if profile else []
        file = self.name or "counterexample"
        return network_of(read_scenario(Use.BREAK, self.text, file=file, overrides=overrides))

    def again(self) -> Counterexample:
        """A copy with margins measured again by the current simulator."""
        return replace(self, confirmed=_confirmed(self.trial(), {each: self.network(each) for each in self.confirmed}))

    def write(self, folder: Path, name: str) -> tuple[Path, Path]:
        """Writes the scenario file and the claim file, and returns both paths.

        Raises:
            OSError: if the files cannot be written.
        """
        scenario, claim = folder / f"{name}.toml", folder / f"{name}{SUFFIX}"
        own = "" if self.claim.name in claim_names() else f"\n[own]\ntext = {render(Lines(self.claim.text))}\n"
        margins = "\n".join(
            f"{profile} = [{', '.join(f'{margin:.4f}' for margin in each)}]" for profile, each in self.confirmed.items()
        )
        lines = [f"{key} = {render(value)}" for key, value in self._headed().items()]
        write_whole(scenario, self.text.encode())
        write_whole(claim, ("\n".join(lines) + f"\n\n[confirmed]\n{margins}\n{own}").encode())
        return scenario, claim

    def _headed(self) -> dict[str, TomlValue]:
        return {"format": 1, "claim": self.claim.name, "entrant": self.entrant, "says": self.says, "told": self.told}


def found_counterexample(
    trial: Trial, tree: Mapping[str, Any], draws: Mapping[str, Draw], is_stopped: Callable[[], bool] = lambda: False
) -> Counterexample | None:
    """Simplify and confirm a failure; None if stopped, or if it occurs only with exact numbers or particular seeds.

    Args:
        trial: claim and controller.
        tree: tables of a scenario file in which the claim fails.
        draws: random values of the scenario by key.
        is_stopped: polled repeatedly; True stops the work, and the result is None.
    """
    shrinking = Shrinking(trial, tree, draws, is_stopped)
    shrinking.run()
    small = shrinking.tree
    if not shrinking.margin < 0 or is_stopped() or not is_round(small):
        return None  # a failure that needs an exact number is no evidence against the controller
    nets = {profile: network_of(scenario_of({**small, "profile": profile})) for profile in PROFILES}
    net = network_of(scenario_of(small))
    verdicts = [trial.verdict(each) for each in repetitions(net, UNSEEN_SEEDS)]
    if not all(each.fails for each in verdicts):
        return None
    others = {profile: other for profile, other in nets.items() if profile != net.scenario.profile}
    known = _confirmed(trial, others) | {net.scenario.profile: tuple(each.margin for each in verdicts)}
    confirmed = {profile: known[profile] for profile in PROFILES}
    told = verdicts[0].told
    says = trial.claim.fails.format(
        entrant=trial.entrant.name,
        ratio=f"{Estimate.of(each.ratio for each in verdicts).mean:.2g}",
        told=measured_words(told, str.format),
        network=network_words(net),
    )
    says = capitalised(says)
    return Counterexample(
        trial.claim, trial.entrant.name, says, told, _text(trial, small, net.competes, says), confirmed
    )


def _confirmed(trial: Trial, nets: Mapping[str, Network]) -> dict[str, tuple[float, ...]]:
    return {
        profile: tuple(trial.margin(each) for each in repetitions(net, UNSEEN_SEEDS)) for profile, net in nets.items()
    }


def of_document(document: Mapping[str, Any]) -> Counterexample:
    """Read a counterexample from a document of the store.

    Raises:
        ValueError: if the document is damaged.
    """
    try:
        claim = read_claim(str(document["claim"]), str(document["claim_text"]), str(document["claim"]))
        confirmed = {
            str(profile): tuple(map(float, margins)) for profile, margins in dict(document["confirmed"]).items()
        }
        entrant, says, told, text = (str(document[key]) for key in ("entrant", "says", "told", "scenario"))
    except (KeyError, TypeError, InputError) as error:
        raise ValueError(f"a counterexample is damaged: {error}") from error
    return Counterexample(claim, entrant, says, told, text, confirmed)


def shipped_counterexamples() -> list[Counterexample]:
    """Read the shipped counterexamples, sorted by name, one for each claim file in the folder.

    Raises:
        ClaimFileError: if a file is not usable, because the installation is damaged.
    """
    return [read_counterexample(path) for path in sorted(resource_path("counterexamples").glob(f"*{SUFFIX}"))]


def named_counterexample(name_or_path: str) -> Counterexample:
    """Read a shipped counterexample by its name, or any counterexample by the path of either of its two files.

    Raises:
        InputError: if no such file or name exists; `ClaimFileError` with all problems of the file.
    """
    names = sorted(path.name.removesuffix(SUFFIX) for path in resource_path("counterexamples").glob(f"*{SUFFIX}"))
    listed = f"allowed: {', '.join(names)}, or a file NAME{SUFFIX}"
    path = file_or_shipped(name_or_path, "counterexamples", SUFFIX, names, "no such counterexample", listed)
    return read_counterexample(path if path.name.endswith(SUFFIX) else path.with_name(f"{path.stem}{SUFFIX}"))


def read_counterexample(path: Path) -> Counterexample:
    """Read a counterexample from its two files.

    Args:
        path: path of NAME.claim.toml.

    Raises:
        ClaimFileError: with all problems of the file.
    """
    name = path.name.removesuffix(SUFFIX)
    text = read_text(path, ClaimFileError, "a counterexample")
    scenario = read_text(path.with_name(f"{name}.toml"), ClaimFileError, "a scenario")
    return checked(text, path, ClaimFileError, lambda tree, report: _read(name, scenario, tree, report))


def _read(name: str, scenario: str, tree: Mapping[str, Any], report: Report) -> Counterexample | None:
    others = ("confirmed", "own")
    values = read_section(
        report, (), {key: value for key, value in tree.items() if key not in others}, _PARAMS, also_known=others
    )
    confirmed = report.expect_table(("confirmed",), tree.get("confirmed"), "a table [confirmed]") or {}
    margins: dict[str, tuple[float, ...]] = {}
    for profile, numbers in confirmed.items():
        if profile not in PROFILES:
            report.unknown_key(("confirmed", profile), PROFILES)
        elif not isinstance(numbers, list) or not all(isinstance(each, int | float) for each in numbers):
            report.add(("confirmed", profile), "these are not margins", "a list of numbers, one for each seed")
        else:
            margins[profile] = tuple(map(float, numbers))
    own = tree.get("own", {}).get("text") if isinstance(tree.get("own", {}), dict) else None
    if report.problems or not margins:
        return None
    try:
        claim = load_claim(values["claim"]) if own is None else read_claim(values["claim"], str(own), f"{name}: [own]")
    except InputError as error:
        report.add(("claim",), str(error))
        return None
    return Counterexample(claim, values["entrant"], values["says"], values.get("told", ""), scenario, margins, name)


# ---- text of the scenario ----


def _text(trial: Trial, tree: Tree, tried: Sequence[str], says: str) -> str:
    """The scenario file of a network, with the controller on the tested flows."""
    lines = [f"# {line}" for line in _wrapped(says)]
    source = f" ({trial.claim.source})" if trial.claim.source else ""
    lines += ["#", *(f"# {line}" for line in _wrapped(f"So this does not hold: {trial.claim.title}{source}."))]
    plain = {key: value for key, value in tree.items() if not isinstance(value, Mapping | list)}
    plain["name"] = f"{trial.claim.name}: {trial.entrant.name}"
    lines += [f"{render_key(key)} = {render(value)}" for key, value in plain.items() if key != "seed"]
    if "transport" in tree:
        lines += ["", "[transport]", *_rows(tree["transport"])]
    for section in ("nodes", "links", "flows", "controllers", "schedulers"):
        for name, table in tree.get(section, {}).items():
            lines += ["", f"[{section}.{render_key(name)}]", *_rows(table)]
    for section in ("events", "notes"):
        for table in tree.get(section, ()):
            lines += ["", f"[[{section}]]", *_rows(table)]
    return trial.entrant.put_into("\n".join(lines) + "\n", tried)


def _rows(table: Mapping[str, Any]) -> Iterator[str]:
    return (f"{render_key(key)} = {render(value)}" for key, value in table.items())


def _wrapped(text: str) -> Sequence[str]:
    return textwrap.wrap(text, _COMMENT_WIDTH)


class CaseRun(NamedTuple):
    """A run of a counterexample.

    Attributes:
        name: name of the case in the claim; empty for the tested controller, and for the second controller of a claim
            without cases.
        title: displayed name of the controller.
        source: scenario of the run.
    """

    name: str
    title: str
    source: ScenarioSource


def case_runs(each: Counterexample) -> list[CaseRun]:
    """The runs of a counterexample: the tested controller first, then each case of the claim.

    Their seed is the first unseen seed, so that they show the numbers of the counterexample.

    For a claim without cases, the second run uses the first controller of the catalogue, other than learning agents,
    that satisfies the claim in this network. The run is omitted if no controller does.

    Raises:
        InputError: if the controller no longer exists.
        ScenarioError: if the scenario is not usable.
        SimError: if a run that determines the best path or the second controller fails.
    """
    trial, net = each.trial(), repetitions(each.network(), [each.first_seed])[0]
    written = set_value(each.text, ("seed",), each.first_seed)
    if net.scenario.start_jitter_s > 0:
        written = set_value(written, ("start_jitter",), f"{net.scenario.start_jitter_s:g}s")
    runs = [CaseRun(ENTRANT, trial.entrant.name, _source(each, written))]
    cases = [case for case in each.claim.cases.values() if not _entrant(trial, case).is_blind]
    for case in cases:
        text = _with_flows(written, net, trial.scenario(net, case.name))
        entrant = _entrant(trial, case)
        text = entrant.put_into(text, net.competes)
        runs.append(CaseRun(case.name, _title(entrant, case), _source(each, text, case.name)))
    keeper = None if cases else _keeper(trial, net)
    if keeper is not None:
        text = keeper.put_into(written, net.competes)
        runs.append(CaseRun(ENTRANT, keeper.name, _source(each, text, keeper.name)))
    return runs


def _title(entrant: Entrant, case: Case) -> str:
    title = entrant.name
    if case.path is not None:
        place = case.path
        title = (
            tr("{controller} on the best path", controller=title)
            if place == "best"
            else tr("{controller} on path {number}", controller=title, number=place)
        )
    return tr("{controller} without the others", controller=title) if case.is_alone else title


def _entrant(trial: Trial, case: Case) -> Entrant:
    return chosen_entrants([case.controller])[0] if case.controller else trial.entrant


def _keeper(trial: Trial, net: Network) -> Entrant | None:
    """Find the first controller, but no learning agent, that satisfies the claim in a network; None if all fail."""
    able = (each for each in entrants() if not (each.problem or each.is_blind or each.learns))
    return next((each for each in able if 0 <= Trial(trial.claim, each).margin(net) <= LARGEST_MARGIN), None)


def _source(each: Counterexample, text: str, case: str = "") -> ScenarioSource:
    if case:
        text = set_value(text, ("name",), f"{read_toml(text)['name']}: {case}")
    return source_of(Use.BREAK, text, file=each.name or "counterexample")


def _with_flows(text: str, net: Network, wanted: Scenario) -> str:
    """Change the kinds and paths of flows in a scenario text to those in ``wanted``, and remove all other flows."""
    for name in net.scenario.flows:
        new = wanted.flows.get(name)
        if new is None:
            events = read_toml(text).get("events", ())
            for number in reversed([place for place, row in enumerate(events) if row.get("flow") == name]):
                text = remove_table(text, "events", number)
            text = remove_value(text, ("flows", name))
        elif name in net.competes:
            text = set_value(text, ("flows", name, "kind"), new.kind)
            text = set_value(text, ("flows", name, "paths"), [list(path) for path in new.paths])
            if not new.backup and "backup" in read_toml(text)["flows"][name]:
                text = remove_value(text, ("flows", name, "backup"))
    return text
