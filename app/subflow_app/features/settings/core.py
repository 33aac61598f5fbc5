"""Rows of the settings dialog: name, purpose and allowed values of each setting.

A new setting needs a field of `Settings` and a row here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from subflow_app.foundation.settings import (
    REPLAY_BUDGET_RANGE_MB,
    SAMPLE_INTERVAL_RANGE_S,
    SCALE_RANGE_PERCENT,
    SWEEP_RUNS_RANGE,
    Settings,
)
from subflow_app.vocabulary.language import LANGUAGES, SYSTEM


@dataclass(frozen=True, slots=True)
class SettingSpec:
    """One row of the dialog.

    Attributes:
        key: field of `Settings`.
        section: heading of the group.
        label: name in the dialog.
        tip: effect of the setting, in a sentence.
        kind: kind of editor.
        choices: text of each value, for the kind ``choice``.
        bounds: lowest and highest value, for the kinds ``time`` (s) and ``whole``.
        unit: displayed unit, for the kind ``whole``.
        is_for_next_start: whether the setting takes effect only at the next start of the program.
    """

    key: str
    section: str
    label: str
    tip: str
    kind: Literal["choice", "switch", "time", "whole"]
    choices: Mapping[str, str] = field(default_factory=dict)
    bounds: tuple[float, float] = (0, 0)
    unit: str = ""
    is_for_next_start: bool = False


SETTINGS: tuple[SettingSpec, ...] = (
    SettingSpec(
        "theme",
        "Appearance",
        "Theme",
        "Colours of the program; System follows the desktop: light, dark or high contrast.",
        "choice",
        choices={"system": "System", "light": "Light", "dark": "Dark", "contrast": "High contrast"},
    ),
    SettingSpec(
        "language",
        "Appearance",
        "Language",
        "Language of the window; the command line and stored data stay English.",
        "choice",
        choices={SYSTEM: "System", **LANGUAGES},
        is_for_next_start=True,
    ),
    SettingSpec(
        "scale_percent",
        "Appearance",
        "Size",
        "Size of everything in the program, in percent of the desktop's setting.",
        "whole",
        bounds=SCALE_RANGE_PERCENT,
        unit=" %",
        is_for_next_start=True,
    ),
    SettingSpec(
        "sample_interval_s",
        "Runs",
        "Sample interval",
        "Simulated time between two samples of the traces of a new run; finer ones store more.",
        "time",
        bounds=SAMPLE_INTERVAL_RANGE_S,
    ),
    SettingSpec(
        "record_decisions",
        "Runs",
        "Record decisions",
        "Record the reasons of controllers and schedulers in new runs; such runs take much more space.",
        "switch",
    ),
    SettingSpec(
        "replay_budget_mb",
        "Runs",
        "Memory for going through a run",
        "Memory for each run that you replay; with less, jumps within very busy runs take longer.",
        "whole",
        bounds=REPLAY_BUDGET_RANGE_MB,
        unit=" MB",
    ),
    SettingSpec(
        "max_sweep_runs",
        "Runs",
        "Runs of a sweep at most",
        "Larger sweeps are refused, with an estimate of their time and space.",
        "whole",
        bounds=SWEEP_RUNS_RANGE,
    ),
    SettingSpec(
        "reopens_last",
        "Files",
        "Open the last scenario at the start",
        "Begin with the scenario file that was opened or saved last, in place of the example.",
        "switch",
    ),
    SettingSpec(
        "autosave",
        "Files",
        "Keep unsaved changes for recovery",
        "After a crash, the next start offers to recover unsaved changes.",
        "switch",
    ),
    SettingSpec(
        "confirm_closing_run",
        "Questions",
        "Ask before closing ends a run",
        "Closing the program stops a run in progress; what was simulated is kept either way.",
        "switch",
    ),
    SettingSpec(
        "confirm_purge",
        "Questions",
        "Ask before deleted runs are removed for good",
        "Runs that are removed for good cannot be restored.",
        "switch",
    ),
)


def defaults(settings: Settings) -> Settings:
    """The settings with every row at its default; recent files, folders and the database are kept."""
    fresh = Settings()
    return replace(settings, **{spec.key: getattr(fresh, spec.key) for spec in SETTINGS})


def for_next_start(before: Settings, after: Settings) -> tuple[SettingSpec, ...]:
    """The changed settings that take effect only at the next start of the program."""
    return tuple(
        spec for spec in SETTINGS if spec.is_for_next_start and getattr(before, spec.key) != getattr(after, spec.key)
    )
