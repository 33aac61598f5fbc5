"""A fork in preparation: the run and the time, the values to change, and problems with the changes.

The module also parses changes from the command line, such as ``links.wifi.loss=5%``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING, Any

from subflow_app.features.catalog.core.catalog import app_catalog
from subflow_app.features.editor.core.form_text import completed, with_unit
from subflow_app.features.forking.core.origin import ForkOrigin
from subflow_app.features.forking.core.plan import (
    ForkPlan,
    Values,
    check_time,
    flow_values,
    link_values,
    read_fork_change,
    values_before,
)
from subflow_app.features.forking.core.words import difference_text, fork_text
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.problem_texts import problem_text
from subflow_app.foundation.toml_edit import TomlValue
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.link_ways import with_way
from subflow_sim.errors import ParamError, ScenarioError
from subflow_sim.gate import toml_tree
from subflow_sim.overrides import override_value
from subflow_sim.params import EVENT_CHANGES, params_by_key
from subflow_sim.plain_text import did_you_mean, either
from subflow_sim.units import Dimension, format_quantity, parse_quantity

if TYPE_CHECKING:
    from subflow_sim.parameter import Param


BOTH = "both"
LINKS = "links"
FLOWS = "flows"
_SHOWN_DIGITS = 4  # significant digits of a default time, relative to the length of the run


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a change: a link, a flow or a subflow.

    Attributes:
        section: `LINKS` or `FLOWS`.
        name: name of the link or flow.
        direction: direction of a link: "both", "forward" or "reverse".
        subflow: ordinal of a subflow; None for the flow itself, and for links.
    """

    section: str
    name: str
    direction: str = BOTH
    subflow: int | None = None

    @property
    def values(self) -> Values:
        """The keys of an `[[events]]` entry that identify the target."""
        if self.section == LINKS:
            return {"link": self.name} | ({} if self.direction == BOTH else {"direction": self.direction})
        return {"flow": self.name} | ({} if self.subflow is None else {"subflow": self.subflow})


@dataclass(slots=True)
class ForkDraft:
    """Changes that a form edits and displays.

    Attributes:
        origin: run to fork.
        at_s: time of the fork in seconds; an invalid entered time does not change it.
        time_problem: error in the entered time; empty if the time is valid.
    """

    origin: ForkOrigin
    at_s: float
    time_problem: str = ""
    _edits: dict[tuple[Target, str], TomlValue] = field(default_factory=dict)
    _problems: dict[tuple[Target, str], str] = field(default_factory=dict)

    @classmethod
    def at(cls, origin: ForkOrigin, at_s: float | None) -> ForkDraft:
        """Create a draft without changes at the valid time nearest to ``at_s``; None means the middle of the run."""
        latest_s = origin.latest_fork_s
        wanted = origin.known_until_s / 2 if at_s is None else at_s
        at_s = round(min(max(wanted, 0.0), latest_s), 9)
        # The position of a playhead in pixels is not accurate to the nanosecond, so the time is rounded. It is rounded
        # down, so that no event after the playhead happens before the fork.
        digits = _SHOWN_DIGITS - math.ceil(math.log10(max(latest_s, 1e-9)))
        return cls(origin, float(Decimal(repr(at_s)).quantize(Decimal(1).scaleb(-max(digits, 3)), ROUND_FLOOR)))

    @property
    def time_text(self) -> str:
        """The time as the input field shows it."""
        return f"{self.at_s:.9f}".rstrip("0").rstrip(".") + " s"

    @staticmethod
    def completed_time(text: str) -> str:
        """The entered time with a unit. A number without a unit is in seconds."""
        return with_unit(text, "s")

    def changeable(self) -> list[str]:
        """Links and flows that can change, as dotted keys: "links.wifi", "flows.download"."""
        scenario = self.origin.scenario
        flows = [name for name, flow in scenario.flows.items() if not flow.sends_datagrams]
        return [f"{LINKS}.{name}" for name in scenario.links] + [f"{FLOWS}.{name}" for name in flows]

    def set_time(self, text: str) -> None:
        """Set the time from an entered text; an invalid text sets `time_problem` instead."""
        try:
            at_s = parse_quantity(self.completed_time(text), Dimension.TIME)
            check_time(self.origin, at_s)
        except ParamError as error:
            self.time_problem = _problem(error.message, error.allowed)
        except InputError as error:
            self.time_problem = str(error)
        else:
            self.at_s, self.time_problem = at_s, ""
            for (target, key), value in list(self._edits.items()):
                self.set(target, key, value)  # removes the change if the run has this value at the new time

    def present(self, target: Target) -> dict[str, TomlValue]:
        """The values of a target in the run at the time of the fork."""
        scenario = self.origin.scenario
        if target.section == FLOWS:
            return flow_values(scenario, target.name, target.subflow, self.at_s)
        keys = link_values(scenario, target.name, "forward", self.at_s)
        event = read_fork_change(self.origin, self.at_s, {**target.values, "up": True})
        return values_before(scenario, event, dict(keys), self.at_s)

    def shown(self, target: Target) -> dict[str, TomlValue]:
        """The values of a target in the fork: the values of the run, replaced by the changes."""
        edited = {key: value for (other, key), value in self._edits.items() if other == target}
        return self.present(target) | edited

    def problem(self, target: Target, key: str) -> str:
        """The error in a value; empty if it is valid."""
        return self._problems.get((target, key), "")

    def set(self, target: Target, key: str, value: TomlValue) -> None:
        """Change a value in the fork; the value of the run or an empty text removes the change."""
        if isinstance(value, str):
            value = self.completed(target, key, value).strip()
        place = (target, key)
        self._problems.pop(place, None)
        self._edits.pop(place, None)
        if value == "" or _is_alike(value, self.present(target).get(key)):
            return
        self._edits[place] = value
        try:
            read_fork_change(self.origin, self.at_s, {**target.values, key: value})
        except ScenarioError as error:
            self._problems[place] = "\n".join(_problem(each.message, each.allowed) for each in error.problems)

    def completed(self, target: Target, key: str, text: str) -> str:
        """The entered value of a link with a unit. A number without a unit gets the unit of the current value."""
        param = params_by_key("event").get(key)
        return text if param is None else completed(param, text, str(self.present(target).get(key, "")))

    def set_controller(self, target: Target, name: str, options: str) -> None:
        """Change the controller of a flow.

        Args:
            target: the flow.
            name: name of the controller.
            options: options in the form of a scenario file: ``alpha = 1, beta = 3``; empty for the defaults.
        """
        try:
            given = toml_tree(f"options = {{{options.strip().rstrip(',')}}}")["options"]
        except ValueError:
            self._edits.pop((target, "controller"), None)
            self._problems[target, "controller"] = tr(
                "These are not options; write them as in a scenario file: name = value, with texts and units in quotes."
            )
            return
        self.set(target, "controller", {"name": name, **given} if given else name)

    def options_hint(self, name: str) -> str:
        """The options of a controller with their defaults; empty for a controller without options."""
        known = next((each for each in app_catalog(self.origin.scenario).controllers if each.name == name), None)
        options = () if known is None else known.options
        return ", ".join(f"{each.key} = {_literal(each)}" for each in options if each.default is not None)

    def controllers(self, flow: str) -> list[str]:
        """The current controller of a flow and those that may replace it; empty for a learned controller."""
        declared = self.origin.scenario.flows[flow]
        known = app_catalog(self.origin.scenario)
        return list(known.successors(declared.controller, is_multipath=declared.kind == "mptcp"))

    @property
    def changes(self) -> Sequence[Values]:
        """The changes, one entry for each link, direction, flow or subflow."""
        together: dict[Target, dict[str, TomlValue]] = {}
        for (target, key), value in self._edits.items():
            together.setdefault(target, dict(target.values))[key] = value
        return list(together.values())

    @property
    def change_texts(self) -> list[str]:
        """The changes in words, in the order of `changes`; invalid values are left out."""
        return [difference_text([with_way(self.origin.scenario, change)]) for change in self.changes]

    def drop(self, number: int) -> None:
        """Remove one of `changes`: all values of its link, direction, flow or subflow."""
        target = list(dict.fromkeys(target for target, _ in self._edits))[number]
        for place in [place for place in self._edits if place[0] == target]:
            del self._edits[place]
            self._problems.pop(place, None)

    @property
    def plan(self) -> ForkPlan | None:
        """The fork; None if a value is invalid or nothing changes."""
        if self.time_problem or self._problems or not self._edits:
            return None
        return ForkPlan.of(self.origin, self.at_s, self.changes)

    @property
    def summary(self) -> str:
        """Description of the fork in one line, or a hint about the missing or invalid value."""
        plan = self.plan
        if plan is not None:
            return fork_text(plan.at_s, plan.described)
        if self.time_problem or self._problems:
            return tr("A value above is invalid.")
        return tr("Change a value: the fork uses it from {time} on.", time=self.time_text)


def _literal(option: Param) -> str:
    """The default of an option as written in a scenario file."""
    text = option.format(option.default)
    return text if isinstance(option.default, bool) or re.fullmatch(r"[-+.\deE]+", text) else f'"{text}"'


def _problem(message: str, allowed: str) -> str:
    if not allowed:
        return problem_text(message)
    return tr("{problem}; allowed: {what}", problem=problem_text(message), what=problem_text(allowed))


def _is_alike(value: TomlValue, present: TomlValue | None) -> bool:
    """True if two values are equivalent, e.g. "2 %" and "2%"."""
    if isinstance(value, str) and isinstance(present, str):
        return _canonical(value) == _canonical(present)
    return value == present


def _canonical(text: str) -> str:
    for dimension in (Dimension.RATE, Dimension.TIME, Dimension.SIZE, Dimension.QUEUE, Dimension.RATIO):
        try:
            return format_quantity(parse_quantity(text, dimension), dimension)
        except ParamError:
            continue
    return "".join(text.split())


# Values are listed before switches.
_KEYS = {
    target: tuple(param.key for param in sorted(params, key=lambda param: bool(param.states)))
    for target, params in EVENT_CHANGES.items()
}
_DIRECTIONS = ("forward", "reverse")
_FORM = "links.NAME.KEY=VALUE or flows.NAME.KEY=VALUE, e.g. links.wifi.loss=5% or flows.download.controller=olia"


def read_settings(origin: ForkOrigin, at_s: float, settings: Sequence[str]) -> list[Values]:
    """Parse ``KEY=VALUE`` texts; the values of one link, direction, flow or subflow form one change.

    Keys are those of a scenario file. A direction of a link is ``links.wifi.forward.loss`` or
    ``links.wifi.reverse.loss``, and a subflow of a flow is ``flows.download/2.open``.

    Raises:
        InputError: if a text is invalid; the message names the text, the error and the allowed values.
    """
    changes: dict[tuple[object, ...], dict[str, Any]] = {}
    for setting in settings:
        target, key, value = _read(origin, setting)
        if isinstance(key, tuple):
            # An option within a table: flows.download.controller.alpha=0.9.
            table = changes.get(tuple(target.items()), {}).get(key[0], {})
            value = {**(table if isinstance(table, dict) else {_named(key[0]): table}), key[1]: value}
            key = key[0]
            if key == "controller" and "name" not in value:
                # An option without a controller belongs to the current controller.
                present = flow_values(origin.scenario, target["flow"], None, at_s)
                own: Any = present.get("controller", "")
                value = {**(own if isinstance(own, dict) else {"name": own}), **value}
        try:
            read_fork_change(origin, at_s, {**target, key: value})
        except ScenarioError as error:
            problems = "; ".join(f"{each.message}; allowed: {each.allowed}" for each in error.problems)
            raise InputError(f'--set "{setting}": {problems}') from error
        changes.setdefault(tuple(target.items()), dict(target))[key] = value
    return list(changes.values())


def _read(origin: ForkOrigin, setting: str) -> tuple[dict[str, Any], str | tuple[str, str], Any]:
    """Parse a setting into its target, its key (for an option, a pair of keys), and the new value."""
    path, equals, text = setting.partition("=")
    steps = path.strip().split(".")
    if not equals or len(steps) < 3 or steps[0] not in ("links", "flows"):
        raise InputError(f'--set "{setting}" is not a change of a run; allowed: {_FORM}')
    name, rest = steps[1], steps[2:]
    target: dict[str, Any]
    if steps[0] == "links":
        name, slash, direction = name.partition("/")
        if not slash and rest[0] in _DIRECTIONS:
            direction, *rest = rest
        _check_name(setting, "link", name, list(origin.scenario.links))
        if direction and direction not in _DIRECTIONS:
            raise InputError(f'--set "{setting}": "{direction}" is not a direction; allowed: {either(_DIRECTIONS)}')
        target, keys = {"link": name} | ({"direction": direction} if direction else {}), _KEYS["link"]
    else:
        base, slash, ordinal = name.partition("/")
        if rest[0].partition("/")[0].isdecimal() and len(rest) > 1:
            # A copy of a flow: flows.download.3.controller; its subflow: flows.download.3/2.open.
            copy, slash, ordinal = rest[0].partition("/")
            name, rest = f"{base}.{copy}", rest[1:]
        else:
            name = base
        _check_name(setting, "flow", base, list(origin.scenario.flows))
        if slash and not ordinal.isdecimal():
            raise InputError(f'--set "{setting}": "{ordinal}" is not a subflow; allowed: its number, from 1')
        target, keys = {"flow": name} | ({"subflow": int(ordinal)} if slash else {}), _KEYS["flow"]
    if not rest:
        raise InputError(f'--set "{setting}" is not a change of a run; allowed: {_FORM}')
    key, *options = rest
    if key not in keys:
        hint = did_you_mean(key, keys)
        raise InputError(f'--set "{setting}": "{key}" cannot change during a run{hint}; allowed: {either(keys)}')
    if len(options) > 1:
        raise InputError(f'--set "{setting}": no key is below "{key}.{options[0]}"; allowed: {_FORM}')
    value = override_value(text.strip())
    return target, (key, options[0]) if options else key, value


def _check_name(setting: str, kind: str, name: str, names: list[str]) -> None:
    if name not in names:
        raise InputError(
            f'--set "{setting}": unknown {kind} "{name}"{did_you_mean(name, names)}; allowed: {either(names)}'
        )


def _named(key: str) -> str:
    return {"controller": "name", "queue": "limit"}.get(key, "value")
