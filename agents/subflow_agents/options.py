"""The options of an agent: fields of a frozen dataclass, each with help, bounds and the source of its default.

Forms and the command line read the options from here, without importing the algorithms.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from subflow_agents.errors import ConfigError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class OptionSpec:
    """One option of an agent.

    Attributes:
        name: name of the field.
        kind: "number", "integer", "flag" or "choice".
        default: default value.
        help: meaning in one sentence.
        source: source of the default: the paper, or a ruling where the paper omits it.
        unit: symbol of the unit; "1" for plain numbers.
        minimum: smallest number allowed.
        maximum: largest number allowed.
        choices: allowed values of a choice.
    """

    name: str
    kind: str
    default: Any
    help: str
    source: str
    unit: str = "1"
    minimum: float = -math.inf
    maximum: float = math.inf
    choices: tuple[str, ...] = ()

    def check(self, value: object) -> Any:
        """The value converted to the type of the field.

        Raises:
            ConfigError: if the value has another type, is out of bounds, or is not among the choices.
        """
        key = f"options.{self.name}"
        if self.kind == "flag":
            if isinstance(value, bool):
                return value
            raise ConfigError(key, f"{value!r} is neither true nor false", "true or false")
        if self.kind == "choice":
            if value in self.choices:
                return value
            raise ConfigError(key, f"{value!r} is not a choice", ", ".join(self.choices))
        whole = self.kind == "integer"
        noun = "a whole number" if whole else "a number"
        allowed = f"{noun} from {self.minimum:g} to {self.maximum:g}"
        if isinstance(value, bool) or not isinstance(value, int | float) or (whole and value % 1 != 0):
            raise ConfigError(key, f"{value!r} is not {noun}", allowed)
        if not self.minimum <= value <= self.maximum:  # also refuses NaN
            raise ConfigError(key, f"{value!r} is out of range", allowed)
        return int(value) if whole else float(value)


def number(
    default: float, help_text: str, source: str, *, minimum: float, maximum: float, unit: str = "1"
) -> Any:  # the return type of dataclasses.field
    """A field that holds a real number."""
    return _field("number", default, help_text, source, unit=unit, minimum=minimum, maximum=maximum)


def memory(
    default: float = 10.0, source: str = "a ruling: an old maximum means nothing for a path that has changed"
) -> Any:
    """A field for the time, in s, for which an agent remembers the extreme values that scale its observations.

    All agents that observe windows or rates use this field, with the same help and bounds.
    """
    return number(
        default,
        "How long the largest rate and the lowest RTT are remembered, to which rates, RTTs and cwnd are related.",
        source,
        minimum=1,
        maximum=3600,
        unit="s",
    )


def seen_rtt(source: str) -> Any:
    """A field for the RTT of an epoch that an agent sees; `source` names the paper that states the mean."""
    return choice(
        "mean",
        "RTT of an epoch that the agent sees: the lowest, which delayed ACKs do not raise, or the mean.",
        source,
        choices=("lowest", "mean"),
    )


def integer(default: int, help_text: str, source: str, *, minimum: int, maximum: int, unit: str = "1") -> Any:
    """A field that holds a whole number."""
    return _field("integer", default, help_text, source, unit=unit, minimum=minimum, maximum=maximum)


def flag(default: bool, help_text: str, source: str) -> Any:
    """A field that holds true or false."""
    return _field("flag", default, help_text, source)


def choice(default: str, help_text: str, source: str, *, choices: tuple[str, ...]) -> Any:
    """A field that holds one of several words."""
    return _field("choice", default, help_text, source, choices=choices)


def options_of(config: type) -> tuple[OptionSpec, ...]:
    """The options of an agent's config class, in the order of its fields."""
    return tuple(
        OptionSpec(name=field.name, default=field.default, **field.metadata["option"])
        for field in dataclasses.fields(config)
    )


def read_options(config: type[T], values: Mapping[str, object]) -> T:
    """An agent's config with these values in place of the defaults.

    Raises:
        ConfigError: for the first unacceptable value or unknown option.
    """
    known = {spec.name: spec for spec in options_of(config)}
    for name in values:
        if name not in known:
            raise ConfigError(f"options.{name}", "unknown option", ", ".join(known))
    return config(**{name: known[name].check(value) for name, value in values.items()})


def _field(kind: str, default: object, help_text: str, source: str, **more: object) -> Any:
    option = {"kind": kind, "help": help_text, "source": source, **more}
    return dataclasses.field(default=default, metadata={"option": option})
