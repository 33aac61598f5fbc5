"""Tries the extremes of a `[training]` block, so that invalid draws are reported when the file is read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice, product
from typing import Any

from subflow_sim.draws import BdpShare, Independent, Multiple
from subflow_sim.episodes import Drawn, build, draw_episode_s, draw_values, undone
from subflow_sim.errors import ParamError, Problem, ScenarioError
from subflow_sim.section_reader import Report, toml_text
from subflow_sim.toml_map import Path
from subflow_sim.training_model import Training

_MIDDLE = 0.5
# Keys of times, whose values are checked against each other across tables. Values of other keys are checked only within
# one table.
_SCHEDULE = ("start", "stop", "at", "warmup", "start_jitter")
_MOST_PAIRS = 100


def try_extremes(training: Training, places: Mapping[str, Path], report: Report) -> None:
    """Reports draws with possible values that make the scenario invalid.

    Tries each draw at its bounds and between them, and each choice separately, with all other draws in the middle. If
    all of these are valid, tries all lower bounds together and all upper bounds together, then up to 100 pairs of draws
    that are checked against each other. Other invalid combinations are only found when they are drawn.

    Args:
        training: the block.
        places: path of each draw in the file.
        report: receives the problems.
    """
    trials = _Trials(training, places, report)
    independents = trials.independents()
    if not trials.pass_all([{}]):
        return
    singles = [{key: value} for key, draw in independents.items() for value in draw.trials()]
    changes_pass = [trials.pass_row(index) for index in range(len(training.events))]
    if not trials.pass_all(singles) or not all(changes_pass):
        return
    ends = {key: draw.ends() for key, draw in independents.items()}
    if trials.pass_all([{key: pair[side] for key, pair in ends.items()} for side in (0, 1)]):
        trials.pass_all(_related_pairs(ends))


class _Trials:
    def __init__(self, training: Training, places: Mapping[str, Path], report: Report) -> None:
        self._training = training
        self._places = places
        self._report = report

    def independents(self) -> dict[str, Independent]:
        """The draws to try, by key. A copy of another draw is tried with the original."""
        found: dict[str, Independent] = {}
        if self._training.episode is not None:
            found["episode"] = self._training.episode
        for key, draw in self._training.draws.items():
            independent = draw.times if isinstance(draw, BdpShare | Multiple) else draw
            if independent is not None:
                found[key] = independent
        return found

    def pass_all(self, trials: Iterator[dict[str, Any]] | Sequence[dict[str, Any]]) -> bool:
        """Builds scenarios with the values given by key, all other draws in the middle; True if all are valid.

        Only the first failure is reported for each set of keys.
        """
        failed: set[tuple[str, ...]] = set()
        for chosen in trials:
            if tuple(chosen) not in failed and not self._pass(chosen):
                failed.add(tuple(chosen))
        return not failed

    def pass_row(self, index: int) -> bool:
        """Builds scenarios with each possible change of a row of `[[training.events]]`; True if all are valid."""
        row = self._training.events[index]
        path: Path = ("training", "events", index)
        middle = {key: draw.value(_MIDDLE) for key, draw in row.values.items()}
        for key, value in [(key, value) for key, draw in row.values.items() for value in draw.trials()] or [("", None)]:
            change = {"at": 0.0, **middle} | ({key: value} if key else {})
            problems, _ = self._build({}, (change, undone(change)) if row.lasts is not None else (change,))
            if problems:
                first = problems[0]
                # Keys are like "events[3].rate.steps"; the key of a problem of the whole change ends with the bracket.
                wrong = first.key.partition("].")[2].partition(".")[0]
                message = f"with {toml_text(change[wrong])}: {first.message}" if wrong in change else first.message
                self._report.add((*path, wrong) if wrong in row.values else path, message, first.allowed)
                return False
        return True

    def _pass(self, chosen: Mapping[str, Any]) -> bool:
        problems, values = self._build(chosen, ())
        if problems:
            self._note(chosen, values, problems[0])
        return not problems

    def _build(
        self, chosen: Mapping[str, Any], events: tuple[dict[str, Any], ...]
    ) -> tuple[Sequence[Problem], Mapping[str, Any]]:
        """The problems of the scenario with the given values, and all drawn values."""

        def choose(key: str, draw: Independent) -> Any:
            return chosen[key] if key in chosen else draw.value(_MIDDLE)

        values: dict[str, Any] = {}
        try:
            values = draw_values(self._training, choose)
            build(self._training, Drawn(draw_episode_s(self._training, choose), values, events))
        except ParamError as error:
            return [Problem("", None, "", "", error.message, error.allowed)], values
        except ScenarioError as error:
            return error.problems, values
        return [], values

    def _note(self, chosen: Mapping[str, Any], values: Mapping[str, Any], problem: Problem) -> None:
        """Reports a problem at its draw: the draw of the wrong value, otherwise the draw on trial."""
        wrong = re.sub(r"\[(\d+)\]", r".\1", problem.key).removeprefix("training.")
        drawn = [key for key in self._places if f"{wrong}.".startswith(f"{key}.")]
        culprit = max(drawn, key=len) if drawn else next(iter(chosen)) if len(chosen) == 1 else None
        place: Path = ("training",) if culprit is None else self._places[culprit]
        if culprit is not None and culprit in values and chosen.keys() <= {culprit}:
            shown = toml_text(values[culprit])
        else:
            shown = (
                ", ".join(f"{key} = {toml_text(value)}" for key, value in chosen.items()) or "all draws in the middle"
            )
        about = "" if drawn or not problem.key else f"{problem.key} would be wrong: "
        self._report.add(place, f"with {shown}: {about}{problem.message}", problem.allowed)


def _related_pairs(ends: Mapping[str, tuple[Any, Any]]) -> Iterator[dict[str, Any]]:
    pairs = ((key, other) for key, other in combinations(ends, 2) if _are_related(key, other))
    for key, other in islice(pairs, _MOST_PAIRS):
        for value, other_value in product(ends[key], ends[other]):
            yield {key: value, other: other_value}


def _are_related(key: str, other: str) -> bool:
    """True if the reader may check the values of two keys against each other."""
    is_schedule = all(each == "episode" or each.rpartition(".")[2] in _SCHEDULE for each in (key, other))
    return is_schedule or key.rpartition(".")[0] == other.rpartition(".")[0] != ""
