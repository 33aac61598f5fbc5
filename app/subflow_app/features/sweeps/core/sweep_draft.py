"""A sweep while it is put together in the window: what is typed, what is wrong with it, and what it would take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from subflow_app.features.sweeps.core.axes import Range, overlaps, read_range, read_values, split_list, typed_value
from subflow_app.features.sweeps.core.plan_file import read_plan, read_seeds
from subflow_app.features.sweeps.core.sweep_estimate import SweepEstimate, SweepLimits, estimate_sweep
from subflow_app.features.sweeps.core.sweep_plan import SweepKind, SweepPlan, check_points
from subflow_app.foundation.errors import AppError, SweepError, TooLargeSweepError
from subflow_app.foundation.problem_texts import error_text, problem_text
from subflow_app.vocabulary.language import tr, trn
from subflow_app.vocabulary.number_text import count_text, duration_text
from subflow_sim.errors import ParamError, SimError
from subflow_sim.limits import bytes_text

SEEDS, DRAWS, NAME, ALL = "seeds", "draws", "name", ""
"""Fields that problems belong to besides the swept keys; ALL: to the sweep as a whole."""

# Points whose scenarios are read while one types; all of them are before the sweep starts.
_MOST_CHECKED = 400
_LOG = " log"
_MOST_NAMED = 3  # keys


@dataclass(frozen=True, slots=True)
class SweepDraft:
    """What the dialog holds.

    Attributes:
        name: of the sweep; empty: that of the scenario.
        axes: key and values of each parameter, as they are typed.
        seeds: as they are typed.
        kind: whether all combinations are run, the values side by side, or draws.
        draws: how many, of random points.
        keeps_traces: whether traces are kept beside the figures.
        sample_interval_s: of the traces.
    """

    name: str
    axes: tuple[tuple[str, str], ...]
    seeds: str
    kind: SweepKind = "grid"
    draws: int = 100
    keeps_traces: bool = True
    sample_interval_s: float = 0.1


@dataclass(frozen=True, slots=True)
class DraftCheck:
    """What is known of a draft.

    Attributes:
        problems: by field.
        counts: how many values each swept key has, as far as they can be read.
        points: combinations; 0 while there is no telling.
        runs: in all.
    """

    problems: Mapping[str, str]
    counts: Mapping[str, int]
    points: int = 0
    runs: int = 0


@dataclass(frozen=True, slots=True)
class DraftEstimate:
    """What a draft would take, as far as it can be run.

    Attributes:
        plan: of the sweep; None if there is a problem.
        told: the estimate.
        problems: why it cannot be run as it is, by field.
    """

    plan: SweepPlan | None
    told: SweepEstimate | None
    problems: Mapping[str, str] = field(default_factory=dict)

    def text(self, jobs: int) -> str:
        """The estimate in a line."""
        told = self.told
        if told is None:
            return ""
        return tr(
            "{runs}, about {time} with {jobs} at once, {disk} in the database",
            runs=trn("{count} run", "{count} runs", told.runs),
            time=_time_text(told.wall_s(jobs)),
            jobs=jobs,
            disk=bytes_text(told.disk_bytes),
        )


def suggested_name(title: str, keys: Sequence[str]) -> str:
    """What a sweep is called that nobody gave a name: the scenario, and what varies."""
    parts = list(dict.fromkeys(key.rpartition(".")[2] for key in keys))
    told = ", ".join(parts[:_MOST_NAMED]) + (" …" if len(parts) > _MOST_NAMED else "")
    return tr("{title} by {keys}", title=title, keys=told) if parts else title


def check_draft(draft: SweepDraft) -> DraftCheck:
    """Look at what is typed, without reading a scenario: quick enough for every key that is pressed."""
    problems: dict[str, str] = {}
    counts: dict[str, int] = {}
    for key, text in draft.axes:
        try:
            counts[key] = len(_choices(text)) if draft.kind == "random" else len(read_values(_typed(text)))
        except ParamError as error:
            problems[key] = _param_text(error)
    try:
        seeds = len(read_seeds(draft.seeds))
    except ParamError as error:
        problems[SEEDS] = _param_text(error)
        seeds = 0
    for key, (problem, allowed) in overlaps([key for key, _text in draft.axes]).items():
        problems[key] = _param_text(ParamError(problem, allowed))
    if not draft.axes:
        problems[ALL] = tr("Choose a parameter to vary, or controllers.")
    points = _points(draft, counts)
    if draft.kind == "list" and not problems and len(set(counts.values())) > 1:
        told = ", ".join(f"{key}: {count}" for key, count in counts.items())
        problems[ALL] = tr("A list needs equally many values of each parameter, not {counts}.", counts=told)
    if problems:
        return DraftCheck(problems, counts)
    return DraftCheck(problems, counts, points, points * seeds)


def plan_of(draft: SweepDraft, scenario_text: str, folder: Path | None) -> SweepPlan:
    """The plan of a draft.

    Args:
        draft: without problems.
        scenario_text: TOML of the scenario.
        folder: where the files are that it names; None: nowhere yet.

    Raises:
        SweepError: with all that is wrong with it.
        ScenarioError: with all that is wrong with its scenario.
    """
    tree: dict[str, Any] = {
        "format": 1,
        "scenario_text": scenario_text,
        "kind": draft.kind,
        "seeds": draft.seeds,
        "traces": draft.keeps_traces,
        "sample_interval": draft.sample_interval_s,
    }
    if draft.name:
        tree["name"] = draft.name
    if draft.kind == "list":
        values = {key: read_values(_typed(text)) for key, text in draft.axes}
        count = min((len(each) for each in values.values()), default=0)
        tree["points"] = [{key: each[number] for key, each in values.items()} for number in range(count)]
    elif draft.kind == "random":
        tree["draws"] = draft.draws
        tree["axes"] = {key: _draw(text) for key, text in draft.axes}
    else:
        tree["axes"] = {key: _typed(text) for key, text in draft.axes}
    return read_plan(tree, file=tr("this sweep"), folder=folder)


def estimate_draft(
    draft: SweepDraft, scenario_text: str, folder: Path | None, database: Path | None, limits: SweepLimits | None = None
) -> DraftEstimate:
    """What a draft without problems of its own would take; reads scenarios and simulates for a moment.

    Args:
        draft: to be looked at.
        scenario_text: TOML of the scenario.
        folder: where the files are that it names.
        database: where runs would be kept, whose disk has to have room.
        limits: how much it may take; None: as the environment says.
    """
    try:
        plan = plan_of(draft, scenario_text, folder)
    except (AppError, SimError, ParamError) as error:
        return DraftEstimate(None, None, {ALL: _first_lines(error_text(error).splitlines())})
    told = estimate_sweep(plan)
    try:
        (limits or SweepLimits.parse()).check(told, database)
        if plan.n_points <= _MOST_CHECKED:
            check_points(plan)
    except TooLargeSweepError as error:
        way_on = tr("Vary less, keep no traces, or allow larger sweeps in the settings.")
        return DraftEstimate(None, told, {ALL: f"{problem_text(error.problem)}. {way_on}"})
    except (SweepError, ParamError) as error:
        return DraftEstimate(None, told, _by_field(draft, error))
    return DraftEstimate(plan, told)


def _points(draft: SweepDraft, counts: Mapping[str, int]) -> int:
    if draft.kind == "random":
        return draft.draws
    if draft.kind == "list":
        return min(counts.values(), default=0)
    points = 1
    for count in counts.values():
        points *= count
    return points


def _typed(text: str) -> object:
    """What is typed, as a plan has it: a range stays text, everything else is a list."""
    if not text.strip():
        return ""
    parts = [part for part in split_list(text) if part]
    if len(parts) == 1 and ".." in parts[0]:
        return parts[0]
    return [typed_value(part) for part in parts]


def _choices(text: str) -> list[str] | Range:
    """What random values are drawn from: a stretch (told as a range of two) or some values."""
    parts = [part for part in split_list(text) if part]
    if len(parts) == 1 and ".." in parts[0]:
        return read_range(_range_of_ends(parts[0]))
    if not parts:
        raise ParamError("no values", '"1%..5%", "10ms..1s log" or "lia, olia"')
    return parts


def _draw(text: str) -> dict[str, Any]:
    found = _choices(text)
    if not isinstance(found, Range):
        return {"choice": [typed_value(part) for part in found]}
    ends = [found[0], found[1]]
    if found.is_log:
        return {"log_uniform": ends}
    is_whole = all(isinstance(end, int) for end in ends) or found.unit in ("pkt", "B")
    return {"integer" if is_whole and not found.unit else "uniform": ends}


def _range_of_ends(text: str) -> str:
    """A stretch ("1%..5%", "10ms..1s log") as a range of its two ends; a number of values does not matter."""
    ends = text.strip().removesuffix(_LOG).strip()
    # A rate has a slash of its own: what follows the last one is a number of values or part of a unit.
    head, slash, tail = ends.rpartition("/")
    if slash and tail.strip().isdecimal():
        ends = head.strip()
    return f"{ends}/2{_LOG if text.strip().endswith(_LOG) else ''}"


def _param_text(error: ParamError) -> str:
    message = problem_text(error.message)
    return (
        tr("{problem}; allowed: {allowed}", problem=message, allowed=problem_text(error.allowed))
        if error.allowed
        else message
    )


def _by_field(draft: SweepDraft, error: Exception) -> dict[str, str]:
    """Problems of values to the field of their key, all others to the sweep."""
    found: dict[str, list[str]] = {}
    for line in error_text(error).splitlines():
        key = next((key for key, _text in draft.axes if line.startswith(f"axis {key}, ")), ALL)
        # Beside the field itself, the rest of the first combination with that value says nothing more.
        told = line if key == ALL else line.removeprefix(f"axis {key}, ").partition(" (first at the point ")[0]
        found.setdefault(key, []).append(told)
    return {key: _first_lines(lines) for key, lines in found.items()}


def _first_lines(lines: Sequence[str], most: int = 3) -> str:
    return "\n".join(lines if len(lines) <= most else [*lines[:most], "…"])


def _time_text(time_s: float) -> str:
    return duration_text(time_s) if time_s < 2 * 86_400 else tr("{days} days", days=count_text(time_s / 86_400))
