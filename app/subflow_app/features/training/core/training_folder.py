"""The folder of a training: what its process leaves there for others, who may come later.

    process.json     which process trains, while one does
    commands.jsonl   what others than its parent tell it
    log.txt          what it and its libraries print, for the case that it ends without a word

`subflow_agents` adds config.json, metrics.jsonl (every report, one JSON object a line), checkpoints and policies.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from subflow_agents import TrainingConfig
from subflow_agents.training import MOST_CONFIG_BYTES
from subflow_app.foundation.errors import TrainingError
from subflow_sim.gate import is_file, json_tree, open_file, read_file
from subflow_sim.whole_file import write_whole
from subflow_store.liveness import ProcessIdentity

CONFIG = "config.json"
REPORTS = "metrics.jsonl"
PROCESS = "process.json"
COMMANDS = "commands.jsonl"
LOG = "log.txt"
BEST_POLICY = "best.safetensors"
LATEST_POLICY = "policy.safetensors"

_LOG_TAIL_BYTES = 4000


@dataclass(frozen=True, slots=True)
class ReportRead:
    """Reports read from a folder.

    Attributes:
        reports: in order.
        end: bytes of the file up to here; where to read on.
    """

    reports: list[dict[str, Any]]
    end: int


def read_config(folder: Path) -> TrainingConfig:
    """What is trained in the folder.

    Raises:
        TrainingError: if it is not a folder of a training, or its config cannot be read.
        ConfigError: if the config is of a version that knows other settings.
    """
    try:
        document = json_tree(read_file(folder / CONFIG, MOST_CONFIG_BYTES), is_strict=False)
    except FileNotFoundError:
        raise TrainingError(f"{folder} is not a folder of a training: it has no {CONFIG}") from None
    except (OSError, ValueError) as error:
        raise TrainingError(f"{folder / CONFIG} cannot be read: {error}") from error
    if not isinstance(document, dict):
        raise TrainingError(f"{folder / CONFIG} holds no config")
    return TrainingConfig.from_json(document | {"folder": str(folder.resolve())})


def write_config(folder: Path, config: TrainingConfig) -> None:
    """Note what is trained in the folder.

    Raises:
        TrainingError: if it cannot be written.
    """
    _write(folder / CONFIG, json.dumps(config.to_json(), indent=1) + "\n")


def is_training_folder(folder: Path) -> bool:
    """Whether a training has begun there."""
    return is_file(folder / CONFIG)


def has_checkpoint(folder: Path) -> bool:
    """Whether there is something to go on from, or that another training would destroy."""
    return any(folder.glob("checkpoint-*"))


def latest_policy(folder: Path) -> Path | None:
    """The newest policy of a training; None before the first was written."""
    path = folder / LATEST_POLICY
    return path if is_file(path) else None


def best_policy(folder: Path) -> Path | None:
    """The policy that evaluated best; the newest one where none was evaluated."""
    path = folder / BEST_POLICY
    return path if is_file(path) else latest_policy(folder)


def read_reports(folder: Path, begin: int = 0) -> ReportRead:
    """The whole reports from a place in the file on; a line that is still being written, or is damaged, is left out.

    Raises:
        TrainingError: if the file cannot be read.
    """
    try:
        with open_file(folder / REPORTS) as file:
            file.seek(begin)
            content = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return ReportRead([], begin)
    except OSError as error:
        raise TrainingError(f"{folder / REPORTS} cannot be read: {error.strerror}") from error
    whole = content[: content.rfind(b"\n") + 1]
    reports = []
    for line in whole.splitlines():
        # A crash of the machine may have left anything in the last line of its time.
        with contextlib.suppress(ValueError):
            report = json_tree(line, is_strict=False)
            if isinstance(report, dict) and isinstance(report.get("values"), dict):
                reports.append(report)
    return ReportRead(reports, begin + len(whole))


def mend_reports(folder: Path) -> None:
    """End the line within which the last process was killed, so that the next report begins one of its own."""
    with contextlib.suppress(OSError), (folder / REPORTS).open("rb+") as file:
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")


def add_report(folder: Path, report: Mapping[str, Any]) -> None:
    """Add what the training could not say itself; nothing happens if the disk does not take it."""
    with contextlib.suppress(OSError), (folder / REPORTS).open("ab") as file:
        file.write(json.dumps(report).encode() + b"\n")


def log_tail(folder: Path, lines: int = 3) -> str:
    """The last lines that the process has printed; empty if there are none."""
    try:
        with (folder / LOG).open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _LOG_TAIL_BYTES))
            text = file.read().decode("utf-8", errors="replace")
    except OSError:
        return ""
    return "\n".join([line for line in text.splitlines() if line.strip()][-lines:])


# The process


def claim(folder: Path, process: ProcessIdentity) -> None:
    """Note that this process trains here.

    Raises:
        TrainingError: if another one does.
    """
    other = living_process(folder)
    if other is not None and other != process:
        raise TrainingError(
            f"process {other.pid} is training in {folder} already: stop it first, or train in another folder"
        )
    _write(folder / PROCESS, json.dumps(asdict(process)))


def renew(folder: Path) -> None:
    """Show that this process is still there, to those who cannot ask this machine."""
    with contextlib.suppress(OSError):
        os.utime(folder / PROCESS)


def release(folder: Path) -> None:
    """Note that nobody trains here any more."""
    with contextlib.suppress(OSError):
        (folder / PROCESS).unlink(missing_ok=True)


def living_process(folder: Path) -> ProcessIdentity | None:
    """The process that trains in the folder; None if it has ended."""
    try:
        process = ProcessIdentity.from_document(json_tree(read_file(folder / PROCESS, MOST_CONFIG_BYTES)))
        age_s = time.time() - (folder / PROCESS).stat().st_mtime
    except (OSError, ValueError, TypeError):
        return None
    return None if process.is_gone(age_s) else process


# Commands of others than the parent


def send_command(folder: Path, command: str) -> None:
    """Tell the process that trains in a folder something, from wherever.

    Raises:
        TrainingError: if nobody trains there, or the folder cannot be written.
    """
    if living_process(folder) is None:
        raise TrainingError(f"no process is training in {folder}")
    line = json.dumps({"command": command}) + "\n"
    try:
        with (folder / COMMANDS).open("a", encoding="utf-8") as file:
            file.write(line)
    except OSError as error:
        raise TrainingError(f"{folder / COMMANDS} cannot be written: {error.strerror}") from error


class CommandFile:
    """The process's end of `send_command`: hands out each command once, from now on."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / COMMANDS
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)  # of an earlier process
        self._read = 0

    def take(self) -> Iterator[str]:
        """The commands that have come since."""
        try:
            if self._path.stat().st_size <= self._read:
                return
            with self._path.open("rb") as file:
                file.seek(self._read)
                content = file.read()
        except OSError:
            return
        whole = content[: content.rfind(b"\n") + 1]
        self._read += len(whole)
        for line in whole.splitlines():
            yield command_of(line)


def command_of(line: bytes | str) -> str:
    """The command in a line of JSON; empty if there is none."""
    try:
        document: object = json_tree(line)
    except ValueError:
        return ""
    command = document.get("command") if isinstance(document, Mapping) else None
    return command if isinstance(command, str) else ""


def _write(path: Path, text: str) -> None:
    try:
        write_whole(path, text.encode())
    except OSError as error:
        raise TrainingError(f"{path} cannot be written: {error.strerror}") from error
