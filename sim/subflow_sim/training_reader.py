"""Reads the `[training]` block of a scenario file, draw by draw. `training_trials` checks combinations of draws."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from subflow_sim.draws import BdpShare, Draw, Independent, Multiple, is_draw, read_draw, read_independent
from subflow_sim.episodes import TOGGLES
from subflow_sim.parameter import Param, kind_name
from subflow_sim.params import EVENT_CHANGES, SECTIONS
from subflow_sim.plain_text import did_you_mean, either
from subflow_sim.section_reader import Noted, Report, read_section, read_value
from subflow_sim.toml_map import Path
from subflow_sim.training_model import DrawnEvents, Template, Training
from subflow_sim.training_params import TRAINING, TRAINING_EVENT

MAX_CHANGES = 10_000
"""Maximum number of changes that a row of `[[training.events]]` causes in an episode."""

_EVENT_KEYS = tuple(param.key for param in SECTIONS["event"] if param.key != "at")
_FIXED = ("format", "name", "seed", "duration", "training")
_SIZED_KEY = re.compile(r"links\.[^.]+(\.reverse)?\.queue(\.limit)?|flows\.[^.]+\.(recv|send)_buffer")
_EPISODE = TRAINING[0]


def read_training(report: Report, template: Template, value: object) -> tuple[Training, Mapping[str, Path]] | None:
    """Reads the block, and returns it with the path of each draw; None after reporting problems."""
    path: Path = ("training",)
    count = len(report.problems)
    table = report.expect_table(path, value, "a table [training]")
    if table is None:
        return None
    for key in table:
        if key not in ("episode", "draws", "events"):
            report.unknown_key((*path, key), ("episode", "draws", "events"))
    episode = _read_times(report, (*path, "episode"), _EPISODE, table["episode"]) if "episode" in table else None
    draws, places = _read_draws(report, (*path, "draws"), table.get("draws", {}))
    longest_s = _longest_s(episode, template)
    events = _read_rows(report, (*path, "events"), table.get("events", []), longest_s)
    if len(report.problems) > count:
        return None
    return Training(episode, draws, events, template), {"episode": (*path, "episode"), **places}


def _longest_s(episode: Independent | None, template: Template) -> float:
    """Maximum duration of an episode, s; the duration of a run if the block gives none."""
    if episode is not None:
        return max(float(_EPISODE.read(time)) for time in episode.trials())  # type: ignore[arg-type]
    duration = template.tree.get("duration")
    return float(_EPISODE.read(duration))  # type: ignore[arg-type]


def _read_times(report: Report, path: Path, param: Param, value: object) -> Independent | None:
    """A draw of times allowed by the parameter; None after reporting a problem."""
    try:
        draw = read_independent(report, path, value)
        for time in draw.trials():
            read_value(report, path, param, time)
    except Noted:
        return None
    return draw


def _read_draws(report: Report, path: Path, value: object) -> tuple[dict[str, Draw], dict[str, Path]]:
    table = report.expect_table(path, value, "a table [training.draws]")
    draws: dict[str, Draw] = {}
    places: dict[str, Path] = {}
    for key, place, given in _flattened(table or {}, path):
        if key in draws:
            report.add(place, f'"{key}" occurs twice', "one draw for each key")
            continue
        try:
            draw = read_draw(report, place, given)
        except Noted:
            continue
        if _check_key(report, place, key, draw):
            draws[key], places[key] = draw, place
    for key, draw in draws.items():
        if isinstance(draw, Multiple):
            _check_reference(report, (*places[key], "of"), draw, draws)
    return draws, places


def _flattened(table: Mapping[str, Any], path: Path, key: str = "") -> Iterator[tuple[str, Path, object]]:
    """The dotted keys of nested tables with their values; a key may also be quoted with its dots.

    Tables that are not draws are divided, too: { model = "gilbert", p = { uniform = [...] }, ... } contains a draw
    within a loss model.
    """
    for step, value in table.items():
        # accepts both events.0.at and events[0].at
        name = key + ("." if key else "") + re.sub(r"\[(\d+)\]", r".\1", step)
        if isinstance(value, dict) and not is_draw(value):
            yield from _flattened(value, (*path, step), name)
        else:
            yield name, (*path, step), value


def _check_key(report: Report, path: Path, key: str, draw: Draw) -> bool:
    first = key.split(".")[0]
    if first in _FIXED:
        reason = {"duration": "episode sets its length", "seed": "each episode has a seed of its own"}
        report.add(path, f"{first} is not drawn", reason.get(first, "a key of a node, a link, a flow or an event"))
    elif isinstance(draw, BdpShare) and not _SIZED_KEY.fullmatch(key):
        report.add(
            path,
            "only a queue or a buffer is measured by what a path holds",
            '"links.NAME.queue", "flows.NAME.recv_buffer"',
        )
    else:
        return True
    return False


def _check_reference(report: Report, path: Path, draw: Multiple, draws: Mapping[str, Draw]) -> None:
    others = [key for key, other in draws.items() if not isinstance(other, Multiple | BdpShare)]
    if draw.of in others:
        return
    if draw.of in draws:
        report.add(path, f'"{draw.of}" follows from another draw itself', either(others))
    else:
        report.add(path, f'"{draw.of}" is not drawn{did_you_mean(draw.of, others)}', either(others))


def _read_rows(report: Report, path: Path, value: object, longest_s: float) -> tuple[DrawnEvents, ...]:
    if not isinstance(value, list):
        report.add(path, f"this is {kind_name(value)}, not an array of tables", "[[training.events]]")
        return ()
    rows = []
    for index, given in enumerate(value):
        table = report.expect_table((*path, index), given, "[[training.events]]")
        if table is not None:
            rows.append(_read_row(report, (*path, index), table, longest_s))
    return tuple(rows)


def _read_row(report: Report, path: Path, table: Mapping[str, Any], longest_s: float) -> DrawnEvents:
    times: dict[str, Independent | None] = dict.fromkeys(("at", "every", "lasts"))
    for param in TRAINING_EVENT:
        if param.key in times and param.key in table:
            times[param.key] = _read_times(report, (*path, param.key), param, table[param.key])
    own = [param for param in TRAINING_EVENT if param.key not in times]
    read = read_section(report, path, table, own, also_known=(*times, *_EVENT_KEYS))
    values = {}
    for key in _EVENT_KEYS:
        if key in table:
            try:
                values[key] = read_independent(report, (*path, key), table[key])
            except Noted:
                continue
    _check_times(report, path, table, times, longest_s)
    if "lasts" in table and not any(key in table for key in TOGGLES):
        report.add((*path, "lasts"), "nothing to undo", f"{either(TOGGLES)} beside it")
    elif "lasts" in table:
        for key in (param.key for param in EVENT_CHANGES["link"] if not param.states):
            if key in table:
                report.add((*path, key), "only what is on or off is undone", "a row of its own")
    return DrawnEvents(values, times["at"], times["every"], times["lasts"], read.get("probability", 1.0))


def _check_times(
    report: Report, path: Path, table: Mapping[str, Any], times: Mapping[str, Independent | None], longest_s: float
) -> None:
    if ("at" in table) == ("every" in table):
        message = "has both at and every" if "at" in table else "has no time"
        report.add(path, message, 'one of at = "10s" and every = "10s"')
    for key in ("at", "every"):
        draw = times[key]
        if draw is None:
            continue
        param = next(param for param in TRAINING_EVENT if param.key == key)
        earliest_s = min(float(param.read(time)) for time in draw.trials())  # type: ignore[arg-type]
        if earliest_s > longest_s:
            allowed = f'a time up to "{param.format(longest_s)}", the longest episode'
            report.add((*path, key), "after the end of every episode, so it would never happen", allowed)
        elif key == "every" and longest_s > MAX_CHANGES * earliest_s:
            allowed = f'at least "{param.format(longest_s / MAX_CHANGES)}"'
            report.add((*path, key), f"up to {longest_s / earliest_s:.0f} changes in an episode", allowed)
