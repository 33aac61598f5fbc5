"""A scenario's timed changes as rows of a timeline, and the edits that dragging makes in the file.

A link failure and its recovery are two events in the file but one bar on the strip. Every other change at an instant
is a mark. The strip reads the file's tables instead of the parsed scenario, because a drag rewrites a value in the file
and needs the path to this value.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal, TypeAlias

from subflow_app.features.editor.core.form_text import choice_text, text_of
from subflow_app.foundation import toml_edit
from subflow_app.foundation.toml_edit import TomlValue
from subflow_sim.errors import ParamError
from subflow_sim.params import EVENT_CHANGES
from subflow_sim.toml_map import Path
from subflow_sim.units import UNITS, Dimension, parse_quantity, split_quantity

Part: TypeAlias = Literal["start", "end", "body"]
"""The part of a bar that is dragged."""

LEAST_BAR_S = 1e-3
"""Minimum duration of a bar, in seconds; a shorter outage would be invisible and barely measurable."""

# Keys of link changes that set a value instead of a state, in the order in which a mark lists them.
_VALUE_KEYS = tuple(param.key for param in EVENT_CHANGES["link"] if not param.states)
_BARS = ("up", "open")
_SWITCHES = tuple(
    param.key for params in EVENT_CHANGES.values() for param in params if param.states and param.key not in _BARS
)
_NICE = (1, 2, 5, 10)


@dataclass(frozen=True, slots=True)
class StripMark:
    """A mark on the strip: changes at one moment.

    Attributes:
        at: path of the event's time in the file, such as `("events", 3, "at")`, or of a rate step's time.
        time_s: simulated time, s.
        changes: pairs of key and new value as text, or new state as a bool for a switch.
        side: direction of a link, or number of a subflow; empty for the whole link or flow.
        values: paths of the new values in the file.
        earliest_s: earliest time to which the mark can be dragged, s.
        latest_s: latest time to which the mark can be dragged, s.
    """

    at: Path
    time_s: float
    changes: tuple[tuple[str, str | bool], ...]
    side: str
    values: tuple[Path, ...]
    earliest_s: float
    latest_s: float

    @property
    def is_fixed(self) -> bool:
        """True if the mark cannot be dragged, such as the first step of a rate."""
        return self.latest_s <= self.earliest_s

    @property
    def places(self) -> tuple[Path, ...]:
        """A tuple with one entry: the path of the mark's time in the file."""
        return (self.at,)


@dataclass(frozen=True, slots=True)
class StripBar:
    """An outage, during which a link is down or a subflow is closed.

    Attributes:
        key: the key that ends and restores service: `up` for links, `open` for flows.
        target: name of the link or flow in the events, e.g. `wifi`, `download.3`.
        side: direction of the link, or number of the subflow; empty for the whole link or flow.
        start: path of its start time in the file.
        end: path of its end time; None if the outage lasts until the end of the run.
        start_s: start time in seconds.
        end_s: end time in seconds; the end of the run for an outage without an end event.
        duration_s: duration of the run in seconds.
    """

    key: Literal["up", "open"]
    target: str
    side: str
    start: Path
    end: Path | None
    start_s: float
    end_s: float
    duration_s: float

    @property
    def places(self) -> tuple[Path, ...]:
        """Paths of the start time and, if present, of the end time in the file."""
        return (self.start,) if self.end is None else (self.start, self.end)


StripItem: TypeAlias = StripMark | StripBar


@dataclass(frozen=True, slots=True)
class StripRow:
    """All changes of one link or flow, given by its dotted key (`links.wifi`)."""

    key: str
    items: tuple[StripItem, ...]


def strip_rows(data: Mapping[str, Any], duration_s: float, selected: str = "") -> tuple[StripRow, ...]:
    """Build a row for each link and flow that changes, and for the selected one; links come before flows.

    Args:
        data: the file as plain tables and values; malformed entries are skipped.
        duration_s: duration of the run in seconds.
        selected: dotted key of the part selected on the canvas.
    """
    rows = []
    for section, noun in (("links", "link"), ("flows", "flow")):
        tables = data.get(section)
        for name, table in tables.items() if isinstance(tables, dict) else ():
            items: list[StripItem] = []
            if section == "links" and isinstance(table, dict):
                items += _rate_steps(name, table, duration_s)
            items += _event_items(_events_of(data, noun, name), duration_s, noun)
            if items or f"{section}.{name}" == selected:
                rows.append(StripRow(f"{section}.{name}", tuple(sorted(items, key=start_of))))
    return tuple(rows)


def start_of(item: StripItem) -> float:
    """Return the time of a mark, or the start time of a bar."""
    return item.start_s if isinstance(item, StripBar) else item.time_s


# --- effect of dragging ---------------------------------------------------------------------------------------------


def tick_step(duration_s: float, width_px: float, least_px: float) -> float:
    """Return the smallest of 1, 2 or 5 times a power of ten, in seconds, that spans at least `least_px` pixels."""
    least = max(duration_s * least_px / max(width_px, 1.0), 1e-9)
    power = 10.0 ** math.floor(math.log10(least))
    return next(nice * power for nice in _NICE if nice * power >= least * (1 - 1e-9))


def snapped(time_s: float, step_s: float, earliest_s: float, latest_s: float) -> float:
    """Round a time to the nearest tick and clamp it to the bounds; a step of 0 disables rounding."""
    wanted = round(time_s / step_s) * step_s if step_s > 0 else time_s
    # Nine decimals match the simulator's resolution of 1 ns, and keep 0.30000000000000004 out of files.
    return round(min(max(wanted, earliest_s), latest_s), 9)


def dragged_mark(mark: StripMark, to_s: float, step_s: float) -> float:
    """Return the new time of a mark dragged to `to_s`, snapped to ticks and kept within the mark's bounds."""
    return snapped(to_s, step_s, mark.earliest_s, mark.latest_s)


def dragged_bar(bar: StripBar, part: Part, by_s: float, step_s: float) -> tuple[float, float]:
    """Return a bar's new start and end, kept within the run, after one part of it is dragged by `by_s` seconds."""
    if part == "start":
        return snapped(bar.start_s + by_s, step_s, 0.0, max(bar.end_s - LEAST_BAR_S, 0.0)), bar.end_s
    if part == "end":
        least = min(bar.start_s + LEAST_BAR_S, bar.duration_s)
        return bar.start_s, snapped(bar.end_s + by_s, step_s, least, bar.duration_s)
    if bar.end is None:
        # A bar without an end event lasts until the end of the run, so dragging moves only its start.
        return snapped(bar.start_s + by_s, step_s, 0.0, bar.duration_s), bar.end_s
    length = bar.end_s - bar.start_s
    start = snapped(bar.start_s + by_s, step_s, 0.0, max(bar.duration_s - length, 0.0))
    return start, round(start + length, 9)


# --- edits of the file ----------------------------------------------------------------------------------------------


def with_mark_at(text: str, mark: StripMark, time_s: float) -> str:
    """Return the scenario text with a mark moved to `time_s`.

    Raises:
        TomlEditError: if the mark's time cannot be edited in the text.
    """
    return _with_time(text, mark.at, time_s)


def with_bar_at(text: str, bar: StripBar, start_s: float, end_s: float) -> str:
    """Return the scenario text with a bar moved; a bar without an end event gets one if its end moves.

    Raises:
        TomlEditError: if one of the times cannot be edited in the text.
    """
    if start_s != bar.start_s:
        text = _with_time(text, bar.start, start_s)
    if end_s == bar.end_s:
        return text
    if bar.end is not None:
        return _with_time(text, bar.end, end_s)
    begun = toml_edit.get_value(toml_edit.read_toml(text), bar.start[:2])
    values = {key: begun[key] for key in ("link", "flow", "direction", "subflow") if key in begun}
    return toml_edit.append_table(text, "events", {"at": time_text(end_s), **values, bar.key: True})


def with_outage(
    text: str, row_key: str, start_s: float, duration_s: float, step_s: float, end_s: float | None = None
) -> str:
    """Return the scenario text with a new outage, in which a link is down or a flow's subflows are closed.

    Args:
        text: the scenario text.
        row_key: key of the link or flow.
        start_s: start of the outage, s.
        duration_s: duration of the run, s.
        step_s: grid spacing of the times, s.
        end_s: end of the outage, s; None: a tenth of the run later, or the end of the run if that comes first.

    Raises:
        TomlEditError: if the text is not TOML.
    """
    section, _, name = row_key.partition(".")
    noun, key = ("link", "up") if section == "links" else ("flow", "open")
    start_s = snapped(start_s, step_s, 0.0, max(duration_s - LEAST_BAR_S, 0.0))
    wanted_s = start_s + duration_s / 10 if end_s is None else end_s
    end_s = snapped(wanted_s, step_s, start_s + LEAST_BAR_S, duration_s)
    text = toml_edit.append_table(text, "events", {"at": time_text(start_s), noun: name, key: False})
    return toml_edit.append_table(text, "events", {"at": time_text(end_s), noun: name, key: True})


def with_change(text: str, row_key: str, key: str, value: TomlValue, time_s: float) -> str:
    """Return the scenario text with one more event, which sets `key` of a link or flow to `value`.

    Raises:
        TomlEditError: if the text is not TOML.
    """
    section, _, name = row_key.partition(".")
    noun = "link" if section == "links" else "flow"
    return toml_edit.append_table(text, "events", {"at": time_text(time_s), noun: name, key: value})


def without(text: str, item: StripItem) -> str:
    """Return the scenario text without a mark or bar.

    A rate step is removed alone; an event is removed with all of its changes.

    Raises:
        TomlEditError: if the text cannot be edited at that place.
    """
    if item.places[0][0] != "events":
        *owner, _steps, number, _time = item.places[0]
        steps = toml_edit.get_value(toml_edit.read_toml(text), (*owner, "steps"))
        rest = [step for index, step in enumerate(steps) if index != number]
        return toml_edit.set_value(text, (*owner, "steps"), rest)
    # Removing in descending order keeps the lower numbers valid.
    for number in sorted((int(place[1]) for place in item.places), reverse=True):
        text = toml_edit.remove_table(text, "events", number)
    return text


def value_at(data: Mapping[str, Any], link: str, key: str, time_s: float) -> TomlValue | None:
    """Return a link's rate, delay, loss or queue at a time, as written in the file; None if the file sets no value."""
    table = toml_edit.get_value(data, ("links", link))
    found = table.get(key) if isinstance(table, dict) else None
    if isinstance(found, dict):
        steps: list[Any] = found.get("steps") or []
        reached = [step for step in steps if (_seconds(step[0]) or 0.0) <= time_s]
        found = reached[-1][1] if reached else found.get("limit")
    latest = -1.0
    for _, at_s, event in _events_of(data, "link", link):
        if key in event and latest <= at_s <= time_s:
            found, latest = event[key], at_s
    return found


def time_text(time_s: float, like: object = None) -> TomlValue:
    """Format a time for the file, in the unit of the previous value `like` if that is exact, otherwise in seconds."""
    exact = Decimal(repr(round(time_s, 9)))
    if isinstance(like, (int, float)) and not isinstance(like, bool):
        return int(exact) if exact == int(exact) else float(exact)
    split = split_quantity(like) if isinstance(like, str) else None
    unit = split[1] if split and split[1] in UNITS[Dimension.TIME] else "s"
    number = exact / UNITS[Dimension.TIME][unit]
    if number != round(number, 9):  # such as a third of a minute
        number, unit = exact, "s"
    digits = f"{number:f}"
    return f"{digits.rstrip('0').rstrip('.') if '.' in digits else digits}{unit}"


# --- parsing --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Outages:
    """Pairs each event that ends service with the event that restores it, per target."""

    noun: str
    duration_s: float
    open: dict[tuple[str, str], tuple[int, float]] = field(default_factory=dict)
    bars: list[StripBar] = field(default_factory=list)

    def take(self, number: int, at_s: float, event: Mapping[str, Any]) -> bool:
        """Process an event that ends or restores service; returns False if it changes nothing."""
        target = str(event[self.noun])
        side = _side_of(event)
        if event.get("up", event.get("open")) is False:
            if (target, side) in self.open:
                return False
            self.open[target, side] = (number, at_s)
            return True
        # An event on a whole target also restores its parts: both directions, all subflows, all copies of a flow.
        ended = [
            (name, part)
            for name, part in self.open
            if (name == target or name.startswith(f"{target}.")) and side in (part, "")
        ]
        for name, part in ended:
            begun, start_s = self.open.pop((name, part))
            self._add(name, part, begun, start_s, ("events", number, "at"), at_s)
        return bool(ended)

    def finish(self) -> list[StripBar]:
        for (name, part), (begun, start_s) in self.open.items():
            self._add(name, part, begun, start_s, None, self.duration_s)
        return self.bars

    def _add(self, name: str, side: str, begun: int, start_s: float, end: Path | None, end_s: float) -> None:
        key: Literal["up", "open"] = "up" if self.noun == "link" else "open"
        self.bars.append(StripBar(key, name, side, ("events", begun, "at"), end, start_s, end_s, self.duration_s))


def _event_items(
    events: Sequence[tuple[int, float, Mapping[str, Any]]], duration_s: float, noun: str
) -> Iterator[StripItem]:
    outages = _Outages(noun, duration_s)
    for number, at_s, event in events:
        changes = [(key, _short(event[key])) for key in _VALUE_KEYS if key in event]
        values: list[Path] = [("events", number, key) for key, _ in changes]
        switches = [key for key in _BARS if isinstance(event.get(key), bool)]
        if switches and not outages.take(number, at_s, event):
            changes += [(key, event[key]) for key in switches]
        for key in _SWITCHES:
            if isinstance(event.get(key), bool):
                changes.append((key, event[key]))
        if "controller" in event:
            changes.append(("controller", choice_text(event["controller"])))
        if changes:
            yield StripMark(
                ("events", number, "at"), at_s, tuple(changes), _side_of(event), tuple(values), 0.0, duration_s
            )
    yield from outages.finish()


def _rate_steps(link: str, table: Mapping[str, Any], duration_s: float) -> Iterator[StripMark]:
    reverse = table.get("reverse")
    has_own_way_back = isinstance(reverse, dict) and "rate" in reverse
    for side, owner, rate in (
        ("forward" if has_own_way_back else "", ("links", link, "rate"), table.get("rate")),
        ("reverse", ("links", link, "reverse", "rate"), reverse.get("rate") if isinstance(reverse, dict) else None),
    ):
        steps = rate.get("steps") if isinstance(rate, dict) else None
        if not isinstance(steps, list) or not all(isinstance(step, list) and len(step) == 2 for step in steps):
            continue
        times = [_seconds(step[0]) for step in steps]
        for number, (time_s, step) in enumerate(zip(times, steps, strict=True)):
            if time_s is None:
                continue
            before = times[number - 1] if number else 0.0
            after = times[number + 1] if number + 1 < len(times) else None
            place: Path = (*owner, "steps", number)
            yield StripMark(
                (*place, 0),
                time_s,
                (("rate", _short(step[1])),),
                side,
                ((*place, 1),),
                # The first step applies from the start of the run. Later steps cannot be dragged past their neighbours.
                0.0 if number == 0 else (before or 0.0) + LEAST_BAR_S,
                0.0 if number == 0 else duration_s if after is None else after - LEAST_BAR_S,
            )


def _events_of(data: Mapping[str, Any], noun: str, name: str) -> list[tuple[int, float, Mapping[str, Any]]]:
    """Return the events of a link or flow with their numbers in the file and their times, sorted by time."""
    found = []
    events = data.get("events")
    for number, event in enumerate(events if isinstance(events, list) else []):
        target = event.get(noun) if isinstance(event, dict) else None
        if not isinstance(target, str) or (target if noun == "link" else target.partition(".")[0]) != name:
            continue
        at_s = _seconds(event.get("at"))
        if at_s is not None:
            found.append((number, at_s, event))
    return sorted(found, key=lambda entry: entry[1])


def _side_of(event: Mapping[str, Any]) -> str:
    if "subflow" in event:
        return str(event["subflow"])
    direction = str(event.get("direction", "both"))
    return "" if direction == "both" else direction


def _seconds(value: object) -> float | None:
    """Read a time of the file in seconds; None for an invalid value."""
    if isinstance(value, str):
        try:
            value = parse_quantity(value, Dimension.TIME)
        except ParamError:
            return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
        return None
    return float(value)


def _short(value: object) -> str:
    """Format a value as short text; a table is reduced to its first value."""
    if isinstance(value, dict):
        return text_of(next(iter(value.values()), ""))
    return text_of(value)


def _with_time(text: str, place: Path, time_s: float) -> str:
    before = toml_edit.get_value(toml_edit.read_toml(text), place)
    return toml_edit.set_value(text, place, time_text(time_s, before))
