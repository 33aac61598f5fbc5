"""Writing of files for users, each in one step; system errors are reported with a remedy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from subflow_app.foundation.errors import ExportError
from subflow_app.foundation.file_kinds import PAGE_SUFFIX
from subflow_app.vocabulary.tables import csv_text
from subflow_sim.gate import is_folder
from subflow_sim.whole_file import write_whole


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Context that turns a system error into an `ExportError`, which names the file and a remedy."""
    try:
        yield
    except OSError as error:
        raise ExportError(f"{path} cannot be written: {error.strerror or error}; choose another folder") from error


def made_folder(path: str | Path) -> Path:
    """A folder for files, created if it does not exist.

    Raises:
        ExportError: if the folder cannot be created.
    """
    folder = Path(path)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def page_place(out: Path | None, name: str) -> Path:
    """The path of a web page: the given file, or else NAME.html in the given folder or the working folder.

    Missing folders are created.

    Raises:
        ExportError: if the folder cannot be created.
    """
    if out is not None and out.suffix.lower() == PAGE_SUFFIX and not is_folder(out):
        made_folder(out.parent)
        return out
    return (Path() if out is None else made_folder(out)) / f"{name}{PAGE_SUFFIX}"


def write_file(path: str | Path, content: bytes | str) -> Path:
    """Write a file in one step: an existing file is replaced only once the new one is complete.

    Raises:
        ExportError: if the file cannot be written.
    """
    target = Path(path)
    with writing(target):
        write_whole(target, content.encode() if isinstance(content, str) else content)
    return target


def write_csv(path: str | Path, headings: Iterable[str], rows: Iterable[Iterable[object]]) -> Path:
    """Write a table as CSV, in the form of `csv_text`, and return the path.

    Raises:
        ExportError: if the file cannot be written.
    """
    return write_file(path, csv_text(headings, rows))
