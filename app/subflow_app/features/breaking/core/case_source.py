"""The runs of a counterexample as scenario files: the controller that is tried, and what it is measured against."""

from __future__ import annotations

from typing import NamedTuple

from subflow_app.features.arena.core.entrants import Entrant, chosen_entrants, entrants
from subflow_app.features.breaking.core.claim_file import ENTRANT, Case
from subflow_app.features.breaking.core.counterexample import Counterexample
from subflow_app.features.breaking.core.trial import Trial
from subflow_app.features.catalog.core.uses import Use
from subflow_app.features.editor.core.scenario_source import ScenarioSource, source_of
from subflow_app.foundation.claims import LARGEST_MARGIN
from subflow_app.foundation.toml_edit import read_toml, remove_table, remove_value, set_value
from subflow_app.vocabulary.language import tr
from subflow_sim.arena.networks import Network
from subflow_sim.scenario import Scenario


class CaseRun(NamedTuple):
    """What is run of a counterexample.

    Attributes:
        name: of the case as the claim has it; empty: the controller that is tried, or one that keeps a claim that has
            no case.
        title: who runs it, for people.
        source: the scenario.
    """

    name: str
    title: str
    source: ScenarioSource


def case_runs(each: Counterexample) -> list[CaseRun]:
    """What is run of a counterexample: the controller that is tried first, then each case of the claim.

    Of a claim that has none, the first controller of the catalogue with which it holds in this network; nothing, if
    there is none.

    Raises:
        InputError: if there is no such controller any more.
        ScenarioError: if it is not usable.
        SimError: if a run fails that it takes to know.
    """
    trial, net = each.trial(), each.network()
    runs = [CaseRun(ENTRANT, trial.entrant.name, _source(each, each.text))]
    cases = [case for case in each.claim.cases.values() if not _entrant(trial, case).is_blind]
    for case in cases:
        text = _with_flows(each.text, net, trial.scenario(net, case.name))
        entrant = _entrant(trial, case)
        text = entrant.put_into(text, net.competes)
        runs.append(CaseRun(case.name, _title(entrant, case), _source(each, text, case.name)))
    keeper = None if cases else _keeper(trial, net)
    if keeper is not None:
        text = keeper.put_into(each.text, net.competes)
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
    """The first controller with which the claim holds in a network."""
    able = (each for each in entrants() if not (each.problem or each.is_blind or each.learns))
    return next((each for each in able if 0 <= Trial(trial.claim, each).margin(net) <= LARGEST_MARGIN), None)


def _source(each: Counterexample, text: str, case: str = "") -> ScenarioSource:
    if case:
        text = set_value(text, ("name",), f"{read_toml(text)['name']}: {case}")
    return source_of(Use.BREAK, text, file=each.name or "counterexample")


def _with_flows(text: str, net: Network, wanted: Scenario) -> str:
    """The text of a network with the kinds and paths that flows have in another; without those that are not there."""
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
