"""Paths of the program's files on this system, and the command that starts this very program again.

The files are the user's data, configuration and log. The command is for the processes that the program starts of
itself.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import platformdirs

from subflow_app.foundation.errors import TrainingError

_APPLICATION = "subflow"


def default_database() -> Path:
    """The database that holds runs unless ``--db`` names another."""
    return platformdirs.user_data_path(_APPLICATION, appauthor=False) / "subflow.db"


def policy_folder() -> Path:
    """The user's own trained policies; scenarios find them by the names of their files."""
    return platformdirs.user_data_path(_APPLICATION, appauthor=False) / "agents"


def settings_path() -> Path:
    """The settings file, JSON."""
    return platformdirs.user_config_path(_APPLICATION, appauthor=False) / "settings.json"


def window_state_path() -> Path:
    """The file with window geometry and dock layout, which the window alone reads."""
    return platformdirs.user_config_path(_APPLICATION, appauthor=False) / "window.ini"


def guide_cache() -> Path:
    """The folder of user guides that were built here, one per version; made again when it is gone."""
    return platformdirs.user_cache_path(_APPLICATION, appauthor=False) / "guide"


def library_cache() -> Path:
    """The folder of libraries of results that had to be brought to the schema of this version; made again when gone."""
    return platformdirs.user_cache_path(_APPLICATION, appauthor=False) / "library"


def font_cache() -> Path:
    """The folder in which matplotlib keeps what it knows of the fonts of this machine; made again when it is gone."""
    return platformdirs.user_cache_path(_APPLICATION, appauthor=False) / "matplotlib"


def recovery_directory() -> Path:
    """The folder with a recovery file for every scenario that has unsaved changes."""
    return platformdirs.user_state_path(_APPLICATION, appauthor=False) / "recovery"


def log_path() -> Path:
    """The log file."""
    return platformdirs.user_log_path(_APPLICATION, appauthor=False) / "subflow.log"


def crash_directory() -> Path:
    """The folder of crash reports, beside the log."""
    return log_path().parent / "crashes"


def trainings_directory() -> Path:
    """The folder that holds a folder for each training, unless it is told another."""
    return platformdirs.user_data_path(_APPLICATION, appauthor=False) / "trainings"


def labs_directory() -> Path:
    """The folder with a file for each lab that was begun."""
    return platformdirs.user_data_path(_APPLICATION, appauthor=False) / "labs"


def new_training_directory(name: str) -> Path:
    """A fresh directory for a training.

    Raises:
        TrainingError: if it cannot be made.
    """
    stem = f"{file_stem(name)}-{datetime.now().strftime('%Y%m%d-%H%M%S')}"
    for name_of_one in numbered(stem, 999):
        directory = trainings_directory() / name_of_one
        try:
            directory.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise TrainingError(f"{directory} cannot be made: {error.strerror}; name a folder with --out") from error
        return directory
    raise TrainingError(f"{trainings_directory()} is full of trainings of this second; name a folder with --out")


def rescue_directories(name: str) -> Iterator[Path]:
    """Fresh directories for a run that the store could not keep, the best place first.

    The data directory comes first, but it may be the very disk that is full or read-only; then the working directory
    and the temporary directory follow. A directory is made when it is asked for: that it could be made does not say
    that anything can be written there.
    """
    stamp = datetime.now().strftime("%Y%m%d-%H%M%S")
    stem = f"{file_stem(name)}-{stamp}"
    for parent in rescue_places():
        for name_of_one in numbered(stem, 100):
            directory = parent / name_of_one
            try:
                directory.mkdir(parents=True)
            except FileExistsError:
                continue
            except OSError:
                break
            yield directory
            break


def rescue_places() -> tuple[Path, ...]:
    """Where runs are rescued to, the best place first."""
    places = [default_database().parent / "rescued"]
    with suppress(OSError):  # the working directory may be gone
        places.append(Path.cwd() / "subflow-rescued")
    return (*places, Path(tempfile.gettempdir()))


def numbered(stem: str, most: int) -> Iterator[str]:
    """Names to try until one is free: ``stem``, ``stem-2``, ``stem-3``, as many as ``most``."""
    yield stem
    yield from (f"{stem}-{number}" for number in range(2, most + 1))


def file_stem(name: str) -> str:
    """A run name as a file name: letters, digits, dash; never empty, never long."""
    kept = "".join(character if character.isalnum() else "-" for character in name.lower())
    stem = "-".join(part for part in kept.split("-") if part)[:60]
    # A letter has up to four bytes, a name 255, and more is put before and behind it.
    return stem.encode("utf-8", "ignore")[:120].decode("utf-8", "ignore") or "run"


FIGURE_WORKER = "figure-worker"
"""The command of the process that draws."""
SELFTEST_CHECK = "selftest-check"
"""The first word in a process that carries out one check of the self-test."""


def is_frozen() -> bool:
    """Whether this is the program as it is delivered, with its own Python."""
    return bool(getattr(sys, "frozen", False))


def bundle_folder() -> Path | None:
    """The folder of the files that came with the frozen program; None if this is not that one."""
    folder = getattr(sys, "_MEIPASS", None)
    return Path(folder) if folder else None


def own_command(*words: str) -> list[str]:
    """The words that start Subflow with one of its commands, frozen or not; without any, the window."""
    program = [sys.executable] if is_frozen() else [sys.executable, "-m", "subflow_app"]
    return [*program, *words]
