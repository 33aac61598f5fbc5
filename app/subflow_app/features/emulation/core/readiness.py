"""Checks of chosen programs before they run: the scenario, this computer, and the programs that it has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from subflow_app.features.catalog.core.uses import Use
from subflow_app.features.editor.core.scenario_source import ScenarioSource, source_of
from subflow_app.features.emulation.core.job_text import Program
from subflow_app.features.emulation.core.keeping import scenario_of_run
from subflow_app.features.emulation.core.network import check_router, plan_emulation
from subflow_app.features.emulation.core.presets import (
    EmulationDraft,
    Surroundings,
    file_bytes,
    missing_programs,
    programs_of,
)
from subflow_app.features.kernel.core import probe
from subflow_app.foundation.errors import InputError

if TYPE_CHECKING:
    from subflow_app.features.emulation.core.keeping import scenario_of_run
from subflow_app.features.emulation.core.network import EmulatedNetwork

_LATER_FOLDER = Path("FOLDER")
"""Stands for the folder of the web server, which is made at the start."""


@dataclass(frozen=True, slots=True)
class Readiness:
    """Result of a check.

    Attributes:
        programs: the programs in the order of their start.
        reasons: reasons against the run on this computer, as sentences.
        notes: differences from the scenario that people should know.
    """

    programs: tuple[Program, ...]
    reasons: tuple[str, ...]
    notes: tuple[str, ...] = ()


def with_length(text: str, seconds: float) -> ScenarioSource:
    """The scenario with the length of the run, without later events.

    If its flows do not allow this length, for example because one starts later, the scenario keeps its own length.

    Raises:
        ScenarioError: if the scenario has problems.
    """
    return scenario_of_run(source_of(Use.EMULATE, text), float(seconds))


def check_draft(text: str, draft: EmulationDraft) -> Readiness:
    """Check the contents of the dialog; takes a second for the first time, and starts a process.

    Args:
        text: TOML of the scenario, with the contents of its files.
        draft: the contents.

    Raises:
        InputError: if a choice is incomplete, or the emulator lacks a part of the scenario.
        ScenarioError: if the scenario has problems.
    """
    programs = programs_of(draft.choices, Surroundings(draft.seconds, _LATER_FOLDER))
    file_bytes(draft.choices)
    source = with_length(text, draft.seconds)
    reasons, notes = [], []
    try:
        network = plan_emulation(source.scenario)
        notes = [*network.notes, *_router_notes(network, programs)]
    except InputError as error:
        reasons.append(str(error))
    reasons += [*_machine_reasons(uses_mptcp=draft.mptcp), *missing_programs(programs)]
    return Readiness(programs, tuple(reasons), tuple(notes))


def _router_notes(network: EmulatedNetwork, programs: tuple[Program, ...]) -> Iterator[str]:
    for node in dict.fromkeys(program.node for program in programs):
        note = check_router(network, node)
        if note is not None:
            yield note


@lru_cache(maxsize=1)
def machine() -> probe.Machine:
    """This computer, which does not change while the program runs."""
    return probe.probe_machine()


def _machine_reasons(*, uses_mptcp: bool) -> list[str]:
    here = machine()
    reasons = here.reasons_against()
    if uses_mptcp and not reasons and "mptcp" in here.missing:
        reasons.append(here.missing["mptcp"])
    return reasons
