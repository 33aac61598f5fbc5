"""Reading of TOML files written by users; the error for a file lists all its problems."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from subflow_app.foundation.errors import InputError
from subflow_app.foundation.resources import find_scenario
from subflow_sim import gate
from subflow_sim.gate import TooLargeFileError, is_file, read_file, size_text
from subflow_sim.section_reader import Report
from subflow_sim.toml_map import Path as Place
from subflow_sim.toml_map import toml_lines

T = TypeVar("T")

MOST_BYTES = 1_000_000


def read_text(path: Path, error: type[InputError], what: str, *, most_bytes: int = MOST_BYTES) -> str:
    """The text of a file, without a byte order mark.

    Args:
        path: path of the file.
        error: class of the exception to raise.
        what: kind of file for messages, e.g. "a recipe".
        most_bytes: largest allowed size, bytes.

    Raises:
        InputError: ``error``, if the file cannot be read, is too large, or is not UTF-8.
    """
    try:
        return read_file(path, most_bytes).decode("utf-8-sig")
    except TooLargeFileError as problem:
        raise error(f"{path}: too large for {what}; allowed: {size_text(most_bytes)}") from problem
    except OSError as problem:
        raise error(f"{path}: cannot be read: {problem.strerror}") from problem
    except UnicodeDecodeError as problem:
        raise error(f"{path}: not UTF-8 text") from problem


def toml_tree(text: str, file: str | Path, error: type[InputError]) -> dict[str, Any]:
    """Parse a TOML text.

    Raises:
        InputError: ``error``, if it is not TOML.
    """
    try:
        return gate.toml_tree(text)
    except ValueError as problem:
        raise error(f"{file}: not valid TOML: {problem}") from problem


def checked(
    text: str, file: str | Path, error: type[InputError], read: Callable[[Mapping[str, Any], Report], T | None]
) -> T:
    """The result of ``read`` for a TOML text, unless the text has problems.

    Args:
        text: TOML.
        file: name of the file in messages.
        error: class of the exception to raise.
        read: adds problems to the report; returns None if no result is possible.

    Raises:
        InputError: ``error``, with one line per problem.
    """
    tree = toml_tree(text, file, error)
    report = Report(str(file), lambda: toml_lines(text), tree)
    found = read(tree, report)
    if report.problems or found is None:
        raise refusal(report, error)
    return found


def refusal(report: Report, error: type[InputError]) -> InputError:
    """An error with all problems of a report, in the order of the file."""
    return error("\n".join(map(str, report.sorted_problems())))


def scenario_beside(report: Report, place: Place, file: Path, name: str | None) -> Path | None:
    """The scenario that a file names, from the same folder or else shipped with the program.

    Returns None if the file names no scenario. For a missing scenario, adds a problem to the report and returns None.
    """
    if name is None:
        return None
    beside = file.parent / name
    try:
        return beside if is_file(beside) else find_scenario(name)
    except InputError as problem:
        report.add(place, str(problem))
        return None


def prose(text: str) -> str:
    """The comment at the beginning of a file, as paragraphs without the # signs."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line[1:].strip())
    paragraphs = "\n".join(lines).strip().split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
