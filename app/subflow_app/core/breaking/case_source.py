"""The runs of a counterexample as scenario files: the controller that is tried, and what it is measured against."""

from __future__ import annotations

from subflow_app.core.breaking.claim_file import ENTRANT
from subflow_app.core.breaking.counterexample import Counterexample
from subflow_app.core.catalog import app_catalog
from subflow_app.core.scenarios.scenario_source import ScenarioSource, with_contents
from subflow_app.core.scenarios.toml_edit import TomlValue, read_toml, remove_table, remove_value, set_value
from subflow_sim.scenario import Choice, Scenario, parse_scenario


def case_sources(each: Counterexample) -> list[ScenarioSource]:
    """What is run of a counterexample: the controller that is tried first, then each case of the claim.

    Raises:
        InputError: if there is no such controller any more.
        ScenarioError: if it is not usable.
        SimError: if a run fails that it takes to know.
    """
    return [case_source(each, case) for case in (ENTRANT, *each.claim.cases)]


def case_source(each: Counterexample, case: str) -> ScenarioSource:
    """What is run for a case, with the text that says so.

    Raises:
        as `case_sources`.
    """
    text = each.text
    if case != ENTRANT:
        before, wanted = each.network().scenario, each.case_scenario(case)
        text = set_value(_changed(text, before, wanted), ("name",), f"{wanted.name}: {case}")
    scenario = parse_scenario(text, file=each.name or "counterexample", algorithms=app_catalog())
    return ScenarioSource(scenario, with_contents(text, scenario))


def _changed(text: str, before: Scenario, wanted: Scenario) -> str:
    for name, flow in before.flows.items():
        new = wanted.flows.get(name)
        if new is None:
            events = read_toml(text).get("events", ())
            for number in reversed([place for place, row in enumerate(events) if row.get("flow") == name]):
                text = remove_table(text, "events", number)
            text = remove_value(text, ("flows", name))
        elif new != flow:
            text = set_value(text, ("flows", name, "kind"), new.kind)
            text = set_value(text, ("flows", name, "paths"), [list(path) for path in new.paths])
            text = set_value(text, ("flows", name, "controller"), _written(new.controller))
            own = read_toml(text)["flows"][name]
            if new.kind == "mptcp":
                text = set_value(text, ("flows", name, "scheduler"), _written(new.scheduler))
            elif "scheduler" in own:
                text = remove_value(text, ("flows", name, "scheduler"))
            if "backup" in own and not new.backup:
                text = remove_value(text, ("flows", name, "backup"))
    return text


def _written(choice: Choice) -> TomlValue:
    return {"name": choice.name, **choice.options} if choice.options else choice.name
