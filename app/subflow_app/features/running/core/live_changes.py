"""Changes of a run that goes on: what they may say, and how they become events of that run, so that it can be repeated.

A change says what an `[[events]]` entry of a scenario file can say, but for the time, which is the present one. It is
appended to the text that is stored with the run: that text alone gives the same run again, bit for bit. The document
from which the run was started stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from subflow_app.foundation import toml_edit
from subflow_app.foundation.toml_edit import TomlValue

if TYPE_CHECKING:
    from subflow_sim.scenario import Event

_NANOSECONDS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class LiveChange:
    """One change that was made.

    Attributes:
        event: with the exact time at which it happened.
        values: the keys of its `[[events]]` entry, without `at`.
    """

    event: Event
    values: Mapping[str, TomlValue]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A change that waits for the thread that simulates.

    Attributes:
        values: what is asked for.
        answer: gets the change, or the reason why there is none.
    """

    values: Mapping[str, TomlValue]
    answer: Future[LiveChange] = field(default_factory=Future)


def with_change(text: str, values: Mapping[str, TomlValue], at_s: float) -> str:
    """The scenario text with the change as its last event.

    Args:
        text: TOML of the scenario.
        values: keys of an `[[events]]` entry, without `at`.
        at_s: when it happens, a whole number of nanoseconds.

    Raises:
        TomlEditError: if the text cannot take another event.
    """
    entry: dict[str, TomlValue] = {"at": f"{round(at_s * _NANOSECONDS)}ns", **values}
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [f"{key} = {toml_edit.render(value)}" for key, value in entry.items()]
    appended = newline.join([text.rstrip(), "", "[[events]]", *lines, ""])
    # Reading is a tenth of the work of finding the place for an edit, and a run waits for this. It fails for a file
    # whose events are an inline array.
    try:
        before, after = toml_edit.read_toml(text), toml_edit.read_toml(appended)
    except toml_edit.TomlEditError:
        return toml_edit.append_table(text, "events", entry)
    if after != {**before, "events": [*before.get("events", []), entry]}:
        return toml_edit.append_table(text, "events", entry)
    return appended
