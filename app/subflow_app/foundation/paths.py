"""Paths of the program's files on this system, and the command that starts this program again.

The files are the user's data, configuration and log. The command is for child processes.
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
    """The database of runs that is used unless ``--db`` names a different one."""
    return platformdirs.user_data_path(_APPLICATION, appauthor=False) / "subflow.db"


def policy_folder() -> Path:
    """The folder of the user's trained policies, which scenarios find by file name."""
    return platformdirs.user_data_path(_APPLICATION, appauthor=False) / "agents"


def settings_path() -> Path:
    """The JSON file of settings."""
    return platformdirs.user_config_path(_APPLICATION, appauthor=False) / "settings.json"


def window_state_path() -> Path:
    """The file with window geometry and dock layout, which only the window reads."""
    return platformdirs.user_config_path(_APPLICATION, appauthor=False) / "window.ini"


def guide_cache() -> Path:
    """The folder of user guides built on this machine, one per version; rebuilt if deleted."""
    return platformdirs.user_cache_path(_APPLICATION, appauthor=False) / "guide"


def library_cache() -> Path:
    """The folder of libraries of results converted to the schema of this version; rebuilt if deleted."""
    return platformdirs.user_cache_path(_APPLICATION, appauthor=False) / "library"


def font_cache() -> Path:
    """The folder of matplotlib's cache of the fonts on this machine; rebuilt if deleted."""
    return platformdirs.user_cache_path(_APPLICATION, appauthor=False) / "matplotlib"


def recovery_directory() -> Path:
    """The folder with a recovery file for each scenario with unsaved changes."""
    return platformdirs.user_state_path(_APPLICATION, appauthor=False) / "recovery"


def log_path() -> Path:
    """The current log file; older log files in the same folder end in ``.1``, ``.2`` and so on."""
    return platformdirs.user_log_path(_APPLICATION, appauthor=False) / "subflow.log"


def crash_directory() -> Path:
    """The folder of crash reports, in the folder of the log."""
    return log_path().parent / "crashes"


def trainings_directory() -> Path:
    """The default folder for trainings, each of which gets a subfolder."""
    return platformdirs.user_data_path(_APPLICATION, appauthor=False) / "trainings"


def labs_directory() -> Path:
    """The folder with a file for each lab in progress."""
    return platformdirs.user_data_path(_APPLICATION, appauthor=False) / "labs"


def new_training_directory(name: str) -> Path:
    """Create a new directory for a training.

    Raises:
        TrainingError: if no directory can be created.
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
    """New directories for a run that could not be stored, the best place first.

    The data directory comes first. Because its disk may be full or read-only, the working directory and the temporary
    directory follow. Each directory is created when it is yielded, and writing a file there may still fail.
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
    """Folders for rescued runs, the best place first."""
    places = [default_database().parent / "rescued"]
    with suppress(OSError):  # the working directory may not exist any more
        places.append(Path.cwd() / "subflow-rescued")
    return (*places, Path(tempfile.gettempdir()))


def numbered(stem: str, most: int) -> Iterator[str]:
    """Candidate names, in order: ``stem``, ``stem-2``, ``stem-3``, up to number ``most``."""
    yield stem
    yield from (f"{stem}-{number}" for number in range(2, most + 1))


def file_stem(name: str) -> str:
    """A run name as a file name of letters, digits and dashes; never empty, at most 60 characters."""
    kept = "".join(character if character.isalnum() else "-" for character in name.lower())
    stem = "-".join(part for part in kept.split("-") if part)[:60]
    # A letter has up to four bytes and a file name at most 255, including prefixes and suffixes.
    return stem.encode("utf-8", "ignore")[:120].decode("utf-8", "ignore") or "run"


FIGURE_WORKER = "figure-worker"
"""The command of the process that draws figures."""
EMULATION_WORKER = "emulation-worker"
"""The only argument of a process that runs programs on an emulated network."""
SELFTEST_CHECK = "selftest-check"
"""The first argument of a process that carries out one check of the self-test."""


def is_frozen() -> bool:
    """True in a frozen program, which is delivered with its own Python."""
    return bool(getattr(sys, "frozen", False))


def bundle_folder() -> Path | None:
    """The folder of the files in the frozen program; None if this program is not frozen."""
    folder = getattr(sys, "_MEIPASS", None)
    return Path(folder) if folder else None


def own_command(*words: str) -> list[str]:
    """The command line that starts Subflow, frozen or not, with these arguments; without any, the window opens."""
    program = [sys.executable] if is_frozen() else [sys.executable, "-m", "subflow_app"]
    return [*program, *words]
