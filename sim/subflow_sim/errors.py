"""Errors of the simulator package, all derived from `SimError`; incorrect use of a function raises ValueError."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class SimError(Exception):
    """Base of all errors that this package raises on purpose."""


class ParamError(SimError):
    """A value is not acceptable.

    Attributes:
        message: description of the error, without the key.
        allowed: description of acceptable values.
    """

    def __init__(self, message: str, allowed: str) -> None:
        super().__init__(f"{message}; allowed: {allowed}")
        self.message = message
        self.allowed = allowed


class SimulationError(SimError):
    """A simulation cannot be built, run or restored."""


class ScriptRunError(SimulationError):
    """A controller or scheduler written as a script cannot continue; the message names the reason, place and time.

    Attributes:
        script: name of the script in the scenario.
        line: line of the script; 0 if unknown.
    """

    def __init__(self, text: str, script: str, line: int) -> None:
        super().__init__(text)
        self.script = script
        self.line = line


class BusyError(SimulationError):
    """Another thread is using the simulation; the call changed nothing."""


class PolicyError(SimError):
    """A policy file cannot be used; the message names the defect and the allowed content."""


class TooLargeError(SimulationError):
    """A run would exceed its limit on memory or work."""


@dataclass(frozen=True, slots=True)
class Problem:
    """An error in a scenario file.

    Attributes:
        file: the file as the user named it, or "--set" for a value given on the command line.
        line: line in the file, from 1; None if unknown.
        key: dotted key, for example "links.wifi.loss" or "events[0].at"; empty if the error concerns the whole file.
        value: the value as TOML text, shortened; empty for a missing key.
        message: description of the error.
        allowed: description of acceptable values; may be empty.
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
    """A scenario cannot be used.

    Attributes:
        problems: all errors of the scenario, in the order of the file.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems: tuple[Problem, ...] = tuple(problems)
