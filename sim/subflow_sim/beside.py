"""Files named by a scenario and shipped with it, in its folder or a folder below."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath, PureWindowsPath

from subflow_sim.errors import ParamError
from subflow_sim.gate import TooLargeFileError, read_file, size_text
from subflow_sim.plain_text import on_one_line

_MOST_SHOWN = 40


def read_beside(name: str, folder: Path | None, most_bytes: int, example: str) -> bytes:
    """Reads a file that belongs to a scenario.

    Args:
        name: path as written in the scenario file, with "/", relative to the scenario's folder and within it. A
            scenario of unknown origin can thus read only files that accompany it.
        folder: folder of the scenario; None: the scenario is not a file.
        most_bytes: maximum size, bytes; larger files are refused.
        example: example of a file name for the message.

    Raises:
        ParamError: if the name leads out of the folder, or the file cannot be read or is too large.
    """
    allowed = f'a file in the scenario\'s folder or in one below it, e.g. "{example}"'
    path = PurePosixPath(name)
    is_outside = path.is_absolute() or PureWindowsPath(name).anchor or ".." in path.parts or "\\" in name
    if not name or is_outside or not name.isprintable():
        raise ParamError("not within the folder of the scenario", allowed)
    if folder is None:
        raise ParamError(
            f"{shown(name)} cannot be found, because this scenario has no folder", "a scenario that is saved as a file"
        )
    try:
        # A symbolic link shipped with the scenario would otherwise read any file of the user.
        if not Path(os.path.realpath(folder / path)).is_relative_to(os.path.realpath(folder)):
            raise ParamError(f"{shown(name)} is a link to a file outside of the scenario's folder", allowed)
        return read_file(folder / path, most_bytes)
    except TooLargeFileError as error:
        raise ParamError(f"{shown(name)} is too large", f"at most {size_text(most_bytes)}") from error
    except OSError as error:
        raise ParamError(f"{shown(name)} cannot be read: {error.strerror or error}", allowed) from error


def shown(word: str) -> str:
    """A word from a file for messages: in quotes, shortened, with control characters escaped."""
    harmless = on_one_line(word[:_MOST_SHOWN])
    return f'"{harmless}…"' if len(word) > _MOST_SHOWN else f'"{harmless}"'
