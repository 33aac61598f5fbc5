"""Groups of stored runs for comparison: by condition, controller, scenario or tag."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from subflow_app.features.forking.core.words import fork_text
from subflow_app.features.history.core.run_columns import Value, recorded_column
from subflow_app.features.history.core.run_comparison import run_parameters
from subflow_app.features.history.core.run_names import numbered
from subflow_app.features.traces.core.measured import MEASURED_TAGS, emulation_of, lateness_text, measured_tag
from subflow_app.features.traces.core.traces import stored_condition
from subflow_app.vocabulary.language import tr, translatable, trn
from subflow_app.vocabulary.means import repeated
from subflow_store.values import RunRow

By = Literal["condition", "controller", "scenario", "tag", "run"]

WAYS: Mapping[By, str] = {
    "condition": translatable("Condition (all but the seed)"),
    "controller": translatable("Controller"),
    "scenario": translatable("Scenario"),
    "tag": translatable("Tag"),
    "run": translatable("Run by run"),
}
"""Properties by which runs can be grouped, with their labels."""

_SCRIPT_TEXT = re.compile(r"(?:controllers|schedulers)\.(.+)\.content")
_MOST_TOLD = 2  # maximum number of parameters in a label


@dataclass(frozen=True, slots=True, eq=False)
class ConditionGroup:
    """Runs that count as repetitions of one experiment.

    Attributes:
        letter: name in tables: "A", "B", …
        label: text that distinguishes this group from the other groups.
        runs: runs with their documents, without bit-identical repetitions.
    """

    letter: str
    label: str
    runs: tuple[RunRow, ...]

    @property
    def seeds(self) -> tuple[int, ...]:
        """Seeds of the runs, in order."""
        return tuple(run.seed for run in self.runs)


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """The groups in the order of their first runs, and notices for the user."""

    groups: tuple[ConditionGroup, ...]
    notices: tuple[str, ...]


def group_runs(
    runs: Sequence[RunRow],
    by: By = "condition",
    *,
    conditions: Mapping[int, str] | None = None,
    versions: Mapping[tuple[str, int], str] | None = None,
) -> Grouping:
    """Group runs for a comparison.

    A run with the same signature as an earlier run of its group has identical figures. It adds no evidence, so it is
    left out, and a notice mentions it.

    Args:
        runs: runs with their documents.
        by: property that the runs of a group have in common; a run with several tags belongs to the group of each tag.
        conditions: `Traces.condition` by run number, where known; other conditions are computed from the scenarios.
        versions: names of script versions, from `version_names`; None to show hashes of their texts.
    """
    keyed: dict[str, list[RunRow]] = {}
    for run in runs:
        for key in [_condition_key(run, conditions)] if by == "condition" else _KEYS[by](run):
            keyed.setdefault(key, []).append(run)
    notices, kept = [], []
    repeating: dict[int, None] = {}
    for members in keyed.values():
        distinct, copies = _without_copies(members)
        kept.append(distinct)
        repeating |= dict.fromkeys(run.id for run in copies)
        if by not in ("condition", "run") and len({_condition_key(run) for run in distinct}) > 1:
            notices.append(
                tr(
                    "A group mixes runs of several conditions: its spread is not due to seeds alone. Group by "
                    "condition."
                )
            )
        releases = dict.fromkeys(run.version for run in distinct)
        if len(releases) > 1:
            notices.append(
                tr(
                    "Runs of several versions of Subflow are in one group: {versions}.",
                    versions=", ".join(each or "?" for each in releases),
                )
            )
    if repeating:
        notices.insert(
            0,
            trn(
                "Run {runs} is identical to another, although their seeds may differ. It is not counted.",
                "Runs {runs} are identical to others, although their seeds may differ. They are not counted.",
                len(repeating),
                runs=", ".join(map(str, repeating)),
            ),
        )
    notices += [
        tr("Run {number} is {lateness}.", number=run.id, lateness=lateness_text(emulation))
        for run in runs
        if (emulation := emulation_of(run)) is not None and not emulation.get("is_reliable", True)
    ]
    flows = [{str(flow.get("name")) for run in members for flow in flows_of(run)} for members in kept]
    if len(flows) > 1 and all(flows) and not set.intersection(*flows):
        notices.append(tr("These runs have no flow in common: only measures of whole runs can be compared."))
    labels = _labels(list(keyed), kept, by, versions or {})
    groups = tuple(
        ConditionGroup(_letter(place), label, tuple(members))
        for place, (label, members) in enumerate(zip(labels, kept, strict=True))
    )
    return Grouping(groups, tuple(dict.fromkeys(notices)))


def flows_of(run: RunRow) -> Sequence[Mapping[str, Any]]:
    """The flows of a run's summary; empty for a run without a summary."""
    flows: Sequence[Mapping[str, Any]] = (run.summary or {}).get("flows", ())
    return flows


def _condition_key(run: RunRow, conditions: Mapping[int, str] | None = None) -> str:
    outside = measured_tag(run.tags)
    condition = (conditions or {}).get(run.id) or stored_condition(run.scenario_text, run.id)
    return f"{outside} {condition}"


_KEYS: Mapping[By, Callable[[RunRow], Sequence[str]]] = {
    "controller": lambda run: (run.controllers,),
    "scenario": lambda run: (run.scenario_name,),
    "tag": lambda run: run.tags or ("",),
    "run": lambda run: (str(run.id),),
}


def copies_among(runs: Sequence[RunRow | None]) -> frozenset[int]:
    """Positions of the runs that repeat an earlier run bit for bit, and therefore add no evidence.

    Args:
        runs: rows of the runs; None for a run in progress, whose signature is unknown.
    """
    return repeated(["" if run is None else run.signature for run in runs])


def _without_copies(runs: Sequence[RunRow]) -> tuple[list[RunRow], list[RunRow]]:
    """The runs that repeat no earlier run, and the repetitions."""
    copies = copies_among(runs)
    return [run for place, run in enumerate(runs) if place not in copies], [runs[place] for place in sorted(copies)]


def _labels(
    keys: Sequence[str], groups: Sequence[Sequence[RunRow]], by: By, versions: Mapping[tuple[str, int], str]
) -> list[str]:
    """A unique label for each group."""
    firsts = [members[0] for members in groups]
    if by == "condition":
        return numbered([_told(run, firsts, versions) for run in firsts])
    if by == "run":
        return [tr("run {number}: {name}", number=run.id, name=run.name) for run in firsts]
    nameless = {"controller": tr("no controller"), "tag": tr("no tag")}.get(by, tr("no name"))
    return [key or nameless for key in keys]


def _told(run: RunRow, firsts: Sequence[RunRow], versions: Mapping[tuple[str, int], str]) -> str:
    """Properties that distinguish this run from the first runs of other groups, e.g. its scenario or parameters."""
    parts = [tag for tag in MEASURED_TAGS if tag in run.tags]
    if len({each.scenario_name for each in firsts}) > 1:
        parts.append(run.scenario_name)
    if len({each.controllers for each in firsts}) > 1 and run.controllers:
        parts.append(_controllers_told(run, firsts))
    alike = [each for each in firsts if _first_told(each) == _first_told(run)]
    if len(alike) > 1 and any(each.fork is not None for each in alike):
        parts.append(_fork_told(run))
    elif len(alike) > 1:
        parts += _own_parameters(run, alike, versions)
    return " · ".join(parts) or run.controllers or run.scenario_name


def _controllers_told(run: RunRow, firsts: Sequence[RunRow]) -> str:
    """Controllers of the flows whose controllers differ between these runs; all if the runs have different flows."""
    every = [{str(flow.get("name")): str(flow.get("controller")) for flow in flows_of(each)} for each in (run, *firsts)]
    ours, *others = every
    differing = [name for name in ours if any(each.get(name) != ours[name] for each in others)]
    if not differing or any(each.keys() != ours.keys() for each in others):
        return run.controllers
    return ", ".join(dict.fromkeys(ours[name] for name in differing))


def _fork_told(run: RunRow) -> str:
    """Label that describes the changes of a fork, because scenario events are hard to read; else "Original"."""
    if run.fork is None:
        return tr("Original")
    return tr("Fork {changes}", changes=fork_text(run.fork.forked_at_s, run.fork.changes))


def _first_told(run: RunRow) -> tuple[object, ...]:
    return (run.scenario_name, run.controllers, measured_tag(run.tags))


def _own_parameters(run: RunRow, alike: Sequence[RunRow], versions: Mapping[tuple[str, int], str]) -> list[str]:
    values = [run_parameters(each) for each in alike]
    ours = run_parameters(run)
    keys = [key for key in dict.fromkeys(key for each in values for key in each) if _differs(key, values)]
    shown = [versions.get((key, run.id)) or _parameter_text(key, ours.get(key)) for key in keys[:_MOST_TOLD]]
    return [*shown, "…"] if len(keys) > _MOST_TOLD else shown


def _parameter_text(key: str, value: Value) -> str:
    """A parameter with its value; a script without a known version as its name and the hash of its text."""
    script = _SCRIPT_TEXT.fullmatch(key)
    return f"{script[1]} ({value})" if script else f"{key} = {_value_text(key, value)}"


def _differs(key: str, values: Sequence[Mapping[str, Value]]) -> bool:
    return len({each.get(key) for each in values}) > 1


def _value_text(key: str, value: Value) -> str:
    column = recorded_column(key)
    text = column.text(value)
    return f"{text} {column.unit}" if column.unit and not isinstance(value, str) and value is not None else text


def _letter(place: int) -> str:
    """A to Z, then AA, AB …, like the columns of a spreadsheet."""
    letters = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
