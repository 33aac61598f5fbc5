"""A scenario as a document that the core can read without Python, for example when it runs as WebAssembly."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from subflow_sim import _core
from subflow_sim.catalog import controllers, resolved, schedulers
from subflow_sim.core_document import choice_fields, decider_fields
from subflow_sim.errors import SimulationError
from subflow_sim.lowering import lower
from subflow_sim.params import Algorithm
from subflow_sim.policy import Policy
from subflow_sim.scenario_model import Choice, Flow, Profile
from subflow_sim.whole_scenario import Scenario

Document: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PortableScenario:
    """All inputs of a run except the core and a seed.

    Attributes:
        document: document in the format of the core; an agent's policy is its index in `policies`.
        policies: content of the policy files, each once.
        flows: by flow index, its name ("download.1") and the flow of the file with all options of its algorithms.
        subflows: by subflow index, its name ("download.1/2") and the names of its links.
        links: by link-direction index, its name ("wifi/forward").
    """

    document: Document
    policies: tuple[bytes, ...]
    flows: tuple[tuple[str, Flow], ...]
    subflows: tuple[tuple[str, tuple[str, ...]], ...]
    links: tuple[str, ...]


def portable(scenario: Scenario, seed: int) -> PortableScenario:
    """The scenario of a run with this seed; the document contains the values drawn from the seed, such as arrivals."""
    lowered = lower(scenario, seed)
    document: Document = json.loads(lowered.core.to_json())
    policies: dict[int, bytes] = {}
    for told, (_, flow) in zip(document["scenario"].get("flows", ()), lowered.flows, strict=True):
        number = told.get("decider", {}).get("policy")
        if number is not None and flow.controller.policy is not None:
            policies[number] = flow.controller.policy.content
    return PortableScenario(
        document,
        tuple(policies[number] for number in range(len(policies))),
        lowered.flows,
        lowered.subflows,
        lowered.links,
    )


def links_document(scenario: Scenario, seed: int) -> str:
    """JSON text of the links of a scenario and their events, without flows, for `link_emulator`."""
    document: Document = json.loads(lower(scenario, seed).core.to_json())
    fields = document["scenario"]
    fields["events"] = [event for event in fields.get("events", ()) if event.get("link") is not None]
    fields["flows"] = []
    return json.dumps(document)


def signature_of(portable_scenario: PortableScenario, seed: int) -> str:
    """Runs the document in this core, and returns the signature of the run, 16 hexadecimal digits.

    Raises:
        SimulationError: if the document was not written by this version of the core.
    """
    policies = [Policy.from_bytes(content).core for content in portable_scenario.policies]
    try:
        core = _core.read_scenario(portable_scenario.document, policies)
        simulation = _core.Simulation(core, seed, 1_000_000_000)
    except (_core.CoreScenarioJsonError, _core.CoreScriptProgramError, _core.CoreScenarioError) as error:
        raise SimulationError(str(error)) from error
    simulation.run_until(simulation.duration_ns)
    return f"{simulation.signature():016x}"


@dataclass(frozen=True, slots=True)
class PortableChoice:
    """A controller or scheduler that can replace the algorithm of a flow in a document.

    Attributes:
        name: name of the algorithm.
        choice: the algorithm in document form, with all its options.
        decider: source of its agent's decisions in document form; None: the core's default, or no agent.
        is_coupled: whether it runs over the subflows of a connection jointly.
    """

    name: str
    choice: Document
    decider: Document | None
    is_coupled: bool


def portable_choices(kind: Literal["controller", "scheduler"], profile: Profile) -> tuple[PortableChoice, ...]:
    """All built-in algorithms except controllers whose default policy is a file."""
    algorithms = controllers() if kind == "controller" else schedulers()
    return tuple(made for algorithm in algorithms if (made := _portable_choice(kind, algorithm, profile)) is not None)


def _portable_choice(
    kind: Literal["controller", "scheduler"], algorithm: Algorithm, profile: Profile
) -> PortableChoice | None:
    choice = resolved(Choice(algorithm.name), profile)
    if choice.policy is not None or choice.script is not None:
        return None
    return PortableChoice(algorithm.name, choice_fields(choice), decider_fields(choice), algorithm.is_coupled)
