"""What can go wrong in the simulator package; everything raised on purpose derives from `SimError`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class SimError(Exception):
    """Base of all errors that this package raises on purpose."""


class ParamError(SimError):
    """A single value is not acceptable.

    Attributes:
        message: what is wrong with the value, without repeating its key.
        allowed: what would be accepted instead.
    """

    def __init__(self, message: str, allowed: str) -> None:
        super().__init__(f"{message}; allowed: {allowed}")
        self.message = message
        self.allowed = allowed


class SimulationError(SimError):
    """A simulation cannot be built, run or restored."""


class ScriptRunError(SimulationError):
    """A controller or scheduler written as a script cannot continue; the text says why, where and when.

    Attributes:
        script: its name in the scenario.
        line: of the script; 0: none in particular.
    """

    def __init__(self, text: str, script: str, line: int) -> None:
        super().__init__(text)
        self.script = script
        self.line = line


class BusyError(SimulationError):
    """A simulation is in use by another thread; nothing has changed."""


class PolicyError(SimError):
    """A policy file cannot be used; the text names what is wrong in it and what is allowed."""


class TooLargeError(SimulationError):
    """A run would take more memory or work than its limits allow."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong in a scenario file.

    Attributes:
        file: the file as the user named it, or "--set" for a value given on the command line.
        line: line in the file, from 1; None where there is no such place.
        key: dotted key such as "links.wifi.loss" or "events[0].at"; empty when the file as a whole is meant.
        value: the value as TOML text, shortened; empty when there is none (a missing key).
        message: what is wrong.
        allowed: what would be accepted instead; may be empty.
    """

    file: str
    line: int | None
    key: str
    value: str
    message: str
    allowed: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        what = f" {self.key}" if self.key else ""
        value = f" = {self.value}" if self.value else ""
        allowed = f"; allowed: {self.allowed}" if self.allowed else ""
        return f"{place}:{what}{value}{':' if what or value else ''} {self.message}{allowed}"


class ScenarioError(SimError):
    """A scenario is not usable.

    Attributes:
        problems: everything that is wrong with it, in the order of the file.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems: tuple[Problem, ...] = tuple(problems)
