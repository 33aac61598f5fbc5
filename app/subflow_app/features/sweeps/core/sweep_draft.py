"""The draft of a sweep that the dialog edits: the typed values, their problems, and an estimate."""

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
"""Keys of problems that do not concern a swept key: names of fields in the dialog, or ALL for the whole sweep."""

# Maximum number of points that are checked during typing. All points are checked before the sweep starts.
_MOST_CHECKED = 400
_LOG = " log"
_MOST_NAMED = 3  # maximum number of keys in a suggested name


@dataclass(frozen=True, slots=True)
class SweepDraft:
    """Contents of the dialog.

    Attributes:
        name: name of the sweep; empty for the name of the scenario.
        axes: key and typed values of each varied parameter.
        seeds: seeds as typed.
        kind: whether to use all combinations of the values, to combine them row by row, or to draw them at random.
        draws: number of random points.
        keeps_traces: whether traces are stored in addition to the figures.
        sample_interval_s: simulated time between two samples of the traces, s.
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
    """Result of the quick check of a draft.

    Attributes:
        problems: problems by swept key, or by SEEDS or ALL; empty if the draft has no problems.
        counts: number of values of each swept key whose values can be read.
        points: number of combinations; 0 while unknown.
        runs: total number of runs; 0 while unknown.
    """

    problems: Mapping[str, str]
    counts: Mapping[str, int]
    points: int = 0
    runs: int = 0


@dataclass(frozen=True, slots=True)
class DraftEstimate:
    """Estimate of a draft.

    Attributes:
        plan: plan of the sweep; None if a problem prevents the sweep.
        cost: estimated runs, time and space; None if the plan cannot be read.
        problems: problems that prevent the sweep, by field.
    """

    plan: SweepPlan | None
    cost: SweepEstimate | None
    problems: Mapping[str, str] = field(default_factory=dict)

    def text(self, jobs: int) -> str:
        """The estimate as one line of text; empty if no estimate could be made."""
        estimate = self.cost
        if estimate is None:
            return ""
        return tr(
            "{runs}, about {time} with {jobs} at once, {disk} in the database",
            runs=trn("{count} run", "{count} runs", estimate.runs),
            time=_time_text(estimate.wall_s(jobs)),
            jobs=jobs,
            disk=bytes_text(estimate.disk_bytes),
        )


def suggested_name(title: str, keys: Sequence[str]) -> str:
    """Default name of a sweep: the scenario and the varied keys."""
    parts = list(dict.fromkeys(key.rpartition(".")[2] for key in keys))
    text = ", ".join(parts[:_MOST_NAMED]) + (" …" if len(parts) > _MOST_NAMED else "")
    return tr("{title} by {keys}", title=title, keys=text) if parts else title


def check_draft(draft: SweepDraft) -> DraftCheck:
    """Check the typed values without reading a scenario, quickly enough for every key press."""
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
        message = ", ".join(f"{key}: {count}" for key, count in counts.items())
        problems[ALL] = tr("A list needs equally many values of each parameter, not {counts}.", counts=message)
    if problems:
        return DraftCheck(problems, counts)
    return DraftCheck(problems, counts, points, points * seeds)


def plan_of(draft: SweepDraft, scenario_text: str, folder: Path | None) -> SweepPlan:
    """Convert a draft to a plan.

    Args:
        draft: a draft without problems.
        scenario_text: TOML of the scenario.
        folder: base of the relative paths in the scenario; None if it has no file.

    Raises:
        SweepError: if the plan has problems, which the error lists.
        ScenarioError: if its scenario has problems, which the error lists.
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
    """Estimate a draft that passes `check_draft`; reads the scenarios of some points and simulates them briefly.

    Args:
        draft: the draft.
        scenario_text: TOML of the scenario.
        folder: base of the relative paths in the scenario.
        database: database for the runs, whose disk must have enough space; None: the runs are kept in memory.
        limits: limits of the sweep; None: the limits from the environment.
    """
    try:
        plan = plan_of(draft, scenario_text, folder)
    except (AppError, SimError, ParamError) as error:
        return DraftEstimate(None, None, {ALL: _first_lines(error_text(error).splitlines())})
    estimate = estimate_sweep(plan)
    try:
        (limits or SweepLimits.parse()).check(estimate, database)
        if plan.n_points <= _MOST_CHECKED:
            check_points(plan)
    except TooLargeSweepError as error:
        way_on = tr("Vary less, keep no traces, or allow larger sweeps in the settings.")
        return DraftEstimate(None, estimate, {ALL: f"{problem_text(error.problem)}. {way_on}"})
    except (SweepError, ParamError) as error:
        return DraftEstimate(None, estimate, _by_field(draft, error))
    return DraftEstimate(plan, estimate)


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
    """Convert typed values to the form of a plan: text for a range, a list for other values."""
    if not text.strip():
        return ""
    parts = [part for part in split_list(text) if part]
    if len(parts) == 1 and ".." in parts[0]:
        return parts[0]
    return [typed_value(part) for part in parts]


def _choices(text: str) -> list[str] | Range:
    """Parse the choices for random values: a range of its two ends, or a list of typed values."""
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
    """Convert a range such as "1%..5%" or "10ms..1s log", with or without a number of values, to one of two values."""
    ends = text.strip().removesuffix(_LOG).strip()
    # The slash in the unit of a rate remains: only digits after the last slash are a number of values.
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
    """Assign each problem with a value to the field of its key, and all other problems to the whole sweep."""
    found: dict[str, list[str]] = {}
    for line in error_text(error).splitlines():
        key = next((key for key, _text in draft.axes if line.startswith(f"axis {key}, ")), ALL)
        # The message appears next to the field of the value, so it need not mention the point.
        problem = line if key == ALL else line.removeprefix(f"axis {key}, ").partition(" (first at the point ")[0]
        found.setdefault(key, []).append(problem)
    return {key: _first_lines(lines) for key, lines in found.items()}


def _first_lines(lines: Sequence[str], most: int = 3) -> str:
    return "\n".join(lines if len(lines) <= most else [*lines[:most], "…"])


def _time_text(time_s: float) -> str:
    return duration_text(time_s) if time_s < 2 * 86_400 else tr("{days} days", days=count_text(time_s / 86_400))
