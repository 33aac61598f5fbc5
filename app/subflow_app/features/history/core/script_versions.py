"""Versions of a script, collected from the scenario texts of stored runs."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.measure import Measure
from subflow_sim.params import SCRIPT_SECTIONS
from subflow_sim.scenario_model import ScriptKind

if TYPE_CHECKING:
    from subflow_store import Store
    from subflow_store.values import RunRow

MOST_RUNS = 100
"""Maximum number of runs with a script that are searched for versions, the latest first."""


@dataclass(frozen=True, slots=True)
class ScriptVersion:
    """A version of a script, with its latest run.

    Attributes:
        number: number of the version, from 1, in the order in which the versions were first run.
        text: text of the script.
        run: latest run of the version, with its documents.
        count: number of runs of the version.
        flows: flows that use the script, from the summary of the run.
    """

    number: int
    text: str
    run: RunRow
    count: int
    flows: tuple[Mapping[str, Any], ...]

    def figure(self, measured: Measure) -> float | None:
        """A measure over all flows that use the script, in SI units; None if unknown."""
        return measured.of_parts(self.flows)


def script_versions(
    store: Store, kind: ScriptKind, name: str, scenario: str, is_given_up: Callable[[], bool] = lambda: False
) -> tuple[ScriptVersion, ...]:
    """The versions of a script in stored runs, the latest first.

    Args:
        store: database with the runs.
        kind: kind of the script.
        name: name of the script; a different script of the same name counts as a version.
        scenario: name of the scenario of the runs; results of different scenarios would not be comparable.
        is_given_up: returns True to cancel.

    Raises:
        InterruptedError: if the caller cancels.
        StoreError: if the store cannot be read.
    """
    key = f"{SCRIPT_SECTIONS[kind]}.{name}.content"
    numbers = sorted(store.values(key), reverse=True)[:MOST_RUNS]
    found: dict[str, list[RunRow]] = {}
    for number in numbers:
        if is_given_up():
            raise InterruptedError
        run = store.run(number)
        text = _text_of(run, kind, name)
        if text is not None and run.scenario_name == scenario and not run.deleted:
            found.setdefault(text, []).append(run)
    # The number of a version depends on its first run, which is the last in the list.
    order = sorted(found, key=lambda text: found[text][-1].id)
    versions = [_version(place, text, found[text], kind, name) for place, text in enumerate(order, start=1)]
    return tuple(sorted(versions, key=lambda each: -each.run.id))


def version_names(store: Store, runs: Sequence[RunRow]) -> dict[tuple[str, int], str]:
    """Names of the versions of scripts whose texts differ between runs: "my-aimd, version 3".

    Args:
        store: database with the runs.
        runs: runs with their documents.

    Returns:
        By the key of the script's content, such as "controllers.my-aimd.content", and the number of the run.

    Raises:
        StoreError: if the store cannot be read.
    """
    texts: dict[tuple[ScriptKind, str], dict[int, str]] = {}
    for run in runs:
        for kind, section in SCRIPT_SECTIONS.items():
            for name in _names_in(run, section):
                text = _text_of(run, kind, name)
                if text is not None:
                    texts.setdefault((kind, name), {})[run.id] = text
    found: dict[tuple[str, int], str] = {}
    scenarios = {run.id: run.scenario_name for run in runs}
    for (kind, name), by_run in texts.items():
        if len(set(by_run.values())) < 2:
            continue
        for scenario in {scenarios[number] for number in by_run}:
            numbers = {each.text: each.number for each in script_versions(store, kind, name, scenario)}
            for run_id, text in by_run.items():
                if scenarios[run_id] == scenario and text in numbers:
                    version = tr("{name}, version {number}", name=name, number=numbers[text])
                    found[f"{SCRIPT_SECTIONS[kind]}.{name}.content", run_id] = version
    return found


def _names_in(run: RunRow, section: str) -> list[str]:
    try:
        table = tomllib.loads(run.scenario_text or "").get(section, {})
    except tomllib.TOMLDecodeError:
        return []
    return list(table) if isinstance(table, dict) else []


def _text_of(run: RunRow, kind: ScriptKind, name: str) -> str | None:
    try:
        text = tomllib.loads(run.scenario_text or "")[SCRIPT_SECTIONS[kind]][name]["content"]
    except (tomllib.TOMLDecodeError, KeyError, TypeError):
        return None  # another program has modified the database
    return text if isinstance(text, str) else None


def _version(number: int, text: str, runs: Sequence[RunRow], kind: ScriptKind, name: str) -> ScriptVersion:
    return ScriptVersion(number, text, runs[0], len(runs), tuple(_flows_with(runs[0], kind, name)))


def _flows_with(run: RunRow, kind: ScriptKind, name: str) -> Iterator[dict[str, Any]]:
    """The flows that use the script, from the summary of the run."""
    for flow in (run.summary or {}).get("flows", ()):
        if isinstance(flow, dict) and flow.get(kind) == name:
            yield flow
