"""The user's settings: a small JSON file. A damaged file never prevents the program from starting.

The checks are written by hand, because a validation library would take longer to import than the rest of this module.
"""

from __future__ import annotations

import json
import logging
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from subflow_app.foundation.errors import SettingsError
from subflow_app.foundation.paths import default_database, settings_path
from subflow_app.vocabulary.language import LANGUAGES, SYSTEM
from subflow_sim.gate import json_tree, read_file

_log = logging.getLogger(__name__)

LANGUAGE_CHOICES = (SYSTEM, *LANGUAGES)
THEMES = ("system", "light", "dark", "contrast")
RECENT_FILES_KEPT = 10
# A hundred times the size of a settings file after heavy use.
MOST_BYTES = 1_000_000
# Sampling finer than a microsecond would exceed the simulator's resolution; coarser than a minute shows nothing useful.
SAMPLE_INTERVAL_RANGE_S = (1e-6, 60.0)
# Smaller text is unreadable; with larger text, panels no longer fit the screen.
SCALE_RANGE_PERCENT = (50, 300)
# A smaller budget cannot hold one state of a busy network; a larger one exceeds the memory of current computers.
REPLAY_BUDGET_RANGE_MB = (1, 65_536)
# With more runs, the results would fill any disk.
SWEEP_RUNS_RANGE = (1, 10_000_000)


@dataclass(frozen=True, slots=True)
class Settings:
    """The user's choices, and the most recent files.

    Attributes:
        theme: one of `THEMES`; ``"system"`` follows the desktop (light, dark or high contrast).
        language: one of `LANGUAGE_CHOICES`; ``"system"`` follows the desktop; takes effect at the next start.
        scale_percent: scale of the window relative to the desktop's, in percent; takes effect at the next start.
        recent_files: absolute paths of scenario files, the latest first.
        recent_labs: absolute paths of labs that were opened from files, the latest first.
        sample_interval_s: simulated time between two trace samples of a new run, s.
        record_decisions: whether new runs record the decisions of controllers and schedulers with their reasons.
        replay_budget_mb: memory for states of a replayed run, MB.
        max_sweep_runs: largest allowed number of runs in a sweep.
        last_export_directory: folder of the last export; empty before the first export.
        figure: options of the last figure export, see `features.paper.core.figure_plan`.
        database: database in use; empty for the default one.
        reopens_last: whether a start without a file opens the latest recent file.
        autosave: whether unsaved changes are saved regularly, to survive a crash.
        confirm_closing_run: whether the window asks for confirmation before closing during a run.
        confirm_purge: whether the permanent removal of deleted runs needs confirmation.
        is_welcomed: whether the welcome of the first start was shown.
        saved_searches: queries of the history, by the names that the user gave them.
        reported_policies: names of policies whose changed meaning was reported on this computer.
        unknown: entries of a newer version, preserved when the settings are saved.
    """

    theme: str = "system"
    language: str = SYSTEM
    scale_percent: int = 100
    recent_files: tuple[str, ...] = ()
    recent_labs: tuple[str, ...] = ()
    sample_interval_s: float = 0.1
    record_decisions: bool = False
    replay_budget_mb: int = 256
    max_sweep_runs: int = 100_000
    last_export_directory: str = ""
    figure: Mapping[str, Any] = field(default_factory=dict)
    database: str = ""
    reopens_last: bool = False
    autosave: bool = True
    confirm_closing_run: bool = True
    confirm_purge: bool = True
    is_welcomed: bool = False
    saved_searches: Mapping[str, str] = field(default_factory=dict)
    reported_policies: tuple[str, ...] = ()
    unknown: Mapping[str, Any] = field(default_factory=dict)

    @property
    def replay_budget_bytes(self) -> int:
        """`replay_budget_mb` in bytes, with 2^20 bytes per MB."""
        return self.replay_budget_mb << 20

    def with_recent_file(self, path: str | Path) -> Settings:
        """The settings with this file as the most recent one."""
        return replace(self, recent_files=_with_latest(self.recent_files, path))

    def with_recent_lab(self, path: str | Path) -> Settings:
        """The settings with this file as the most recent lab."""
        return replace(self, recent_labs=_with_latest(self.recent_labs, path))

    def with_theme(self, theme: str) -> Settings:
        """The settings with this theme, one of `THEMES`."""
        return replace(self, theme=theme)

    def with_welcome(self) -> Settings:
        """The settings after the welcome has been shown."""
        return replace(self, is_welcomed=True)

    def with_decisions(self, is_recorded: bool) -> Settings:
        """The settings with `record_decisions` set to `is_recorded`."""
        return replace(self, record_decisions=is_recorded)

    def with_database(self, path: Path | None) -> Settings:
        """The settings with this database as the one to open at the next start; None means the default database."""
        is_default = path is None or path == default_database().absolute()
        return replace(self, database="" if is_default else str(path))

    def with_saved_search(self, name: str, query: str) -> Settings:
        """The settings with this query saved under this name, replacing an earlier query."""
        return replace(self, saved_searches={**self.saved_searches, name: query})

    def without_saved_search(self, name: str) -> Settings:
        """The settings without the query of this name."""
        return replace(self, saved_searches={n: query for n, query in self.saved_searches.items() if n != name})

    def with_reported_policies(self, names: Iterable[str]) -> Settings:
        """The settings after the changed meaning of these names of policies has been reported."""
        return replace(self, reported_policies=tuple(sorted({*self.reported_policies, *names})))

    def with_export_directory(self, path: str | Path) -> Settings:
        """The settings with this folder as the folder of the last export."""
        return replace(self, last_export_directory=str(Path(path).resolve()))

    def with_figure(self, choice: Mapping[str, Any]) -> Settings:
        """The settings with these options of a figure export saved as `figure`."""
        return replace(self, figure=dict(choice))

    def without_recent_files(self) -> Settings:
        """The settings without recent files."""
        return replace(self, recent_files=())

    def without_recent_file(self, path: str | Path) -> Settings:
        """The settings without this recent file, e.g. because it no longer exists."""
        gone = str(Path(path).resolve())
        return replace(self, recent_files=tuple(recent for recent in self.recent_files if recent != gone))


def _with_latest(paths: tuple[str, ...], path: str | Path) -> tuple[str, ...]:
    latest = str(Path(path).resolve())
    return (latest, *(recent for recent in paths if recent != latest))[:RECENT_FILES_KEPT]


def load_settings(path: Path | None = None) -> Settings:
    """The saved settings; unusable values are logged and replaced by their defaults.

    A malformed file is renamed to ``settings.json.damaged``, so that saving the defaults later does not destroy a file
    that the user may want to repair.
    """
    path = path or settings_path()
    try:
        entries = json_tree(read_file(path, MOST_BYTES))
    except FileNotFoundError:
        return Settings()
    except OSError as error:
        _log.warning("settings %s cannot be read, defaults are used: %s", path, error.strerror)
        return Settings()
    except ValueError as error:
        return _defaults_for_damaged(path, str(error))
    if not isinstance(entries, dict):
        return _defaults_for_damaged(path, "the file does not hold a JSON object")
    return _checked(entries, path)


def save_settings(settings: Settings, path: Path | None = None) -> None:
    """Write the settings in one step: a crash leaves either the old file or the new one.

    Raises:
        SettingsError: if the file cannot be written.
    """
    path = path or settings_path()
    entries = asdict(settings)
    entries |= entries.pop("unknown")
    content = json.dumps(entries, indent=2, sort_keys=True) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=path.name, suffix=".new", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise SettingsError(f"settings could not be saved to {path}: {error.strerror or error}") from error


def _checked(entries: dict[str, Any], path: Path) -> Settings:
    """Settings from the entries of a file, each checked separately, so that a bad value does not affect the others."""
    checks: dict[str, Callable[[Any], bool]] = {
        "theme": lambda value: value in THEMES,
        "language": lambda value: value in LANGUAGE_CHOICES,
        "recent_files": _is_texts,
        "recent_labs": _is_texts,
        "reported_policies": _is_texts,
        "sample_interval_s": _is_sample_interval,
        "scale_percent": lambda value: _is_whole(value, *SCALE_RANGE_PERCENT),
        "record_decisions": _is_switch,
        "replay_budget_mb": lambda value: _is_whole(value, *REPLAY_BUDGET_RANGE_MB),
        "max_sweep_runs": lambda value: _is_whole(value, *SWEEP_RUNS_RANGE),
        "reopens_last": _is_switch,
        "autosave": _is_switch,
        "confirm_closing_run": _is_switch,
        "confirm_purge": _is_switch,
        "is_welcomed": _is_switch,
        "last_export_directory": lambda value: isinstance(value, str),
        "figure": lambda value: isinstance(value, dict),
        "database": lambda value: isinstance(value, str),
        "saved_searches": lambda value: isinstance(value, dict) and all(isinstance(v, str) for v in value.values()),
    }
    known: dict[str, Any] = {}
    for name, is_good in checks.items():
        if name not in entries:
            continue
        if is_good(entries[name]):
            known[name] = entries[name]
        else:
            _log.warning("settings %s: %s = %r is not usable, the default is used", path, name, entries[name])
    for name in ("recent_files", "recent_labs"):
        if name in known:
            known[name] = tuple(known[name][:RECENT_FILES_KEPT])
    known["reported_policies"] = tuple(known.get("reported_policies", ()))
    unknown = {name: value for name, value in entries.items() if name not in checks}
    return Settings(**known, unknown=unknown)


def _is_switch(value: object) -> bool:
    return isinstance(value, bool)


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_whole(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _is_sample_interval(value: object) -> bool:
    low, high = SAMPLE_INTERVAL_RANGE_S
    return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high


def _defaults_for_damaged(path: Path, reason: str) -> Settings:
    aside = path.with_name(path.name + ".damaged")
    try:
        path.replace(aside)
        kept = f"it is kept as {aside}"
    except OSError as error:
        kept = f"it stays where it is ({error.strerror})"
    _log.warning("settings %s are damaged (%s), defaults are used; %s", path, reason, kept)
    return Settings()
