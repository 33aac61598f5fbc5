"""The folder of a training run: files through which its process communicates with other programs.

    process.json     identity of the process, while it is running
    commands.jsonl   commands from programs other than its parent
    log.txt          output of the process and its libraries, which helps to explain failures without a report

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
        reports: reports in order.
        end: position in the file after these reports, at which the next read begins.
    """

    reports: list[dict[str, Any]]
    end: int


def read_config(folder: Path) -> TrainingConfig:
    """Read the configuration of the training run in a folder.

    Raises:
        TrainingError: if the folder is not a folder of a training run, or if its config cannot be read.
        ConfigError: if the config was written by a version with different settings.
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
    """Write the configuration of a training run to its folder.

    Raises:
        TrainingError: if the file cannot be written.
    """
    _write(folder / CONFIG, json.dumps(config.to_json(), indent=1) + "\n")


def is_training_folder(folder: Path) -> bool:
    """True if a training run has begun in the folder."""
    return is_file(folder / CONFIG)


def has_checkpoint(folder: Path) -> bool:
    """True if the folder contains a checkpoint, from which training can resume.

    A new training run in the folder would destroy the checkpoint.
    """
    return any(folder.glob("checkpoint-*"))


def latest_policy(folder: Path) -> Path | None:
    """File of the latest policy of a training run; None before the first policy is written."""
    path = folder / LATEST_POLICY
    return path if is_file(path) else None


def best_policy(folder: Path) -> Path | None:
    """File of the policy with the best evaluation, or of the latest policy if no policy was evaluated."""
    path = folder / BEST_POLICY
    return path if is_file(path) else latest_policy(folder)


def read_reports(folder: Path, begin: int = 0) -> ReportRead:
    """Read the reports from byte `begin` of the file to its end, except damaged lines and an incomplete last line.

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
        # The last line before a crash of the machine may contain anything.
        with contextlib.suppress(ValueError):
            report = json_tree(line, is_strict=False)
            if isinstance(report, dict) and isinstance(report.get("values"), dict):
                reports.append(report)
    return ReportRead(reports, begin + len(whole))


def mend_reports(folder: Path) -> None:
    """Terminate an incomplete last line, left by a killed process, so that the next report begins on a new line."""
    with contextlib.suppress(OSError), (folder / REPORTS).open("rb+") as file:
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")


def add_report(folder: Path, report: Mapping[str, Any]) -> None:
    """Append a report on behalf of the training; write errors are ignored."""
    with contextlib.suppress(OSError), (folder / REPORTS).open("ab") as file:
        file.write(json.dumps(report).encode() + b"\n")


def log_tail(folder: Path, lines: int = 3) -> str:
    """The last lines printed by the process; empty if it printed nothing."""
    try:
        with (folder / LOG).open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _LOG_TAIL_BYTES))
            text = file.read().decode("utf-8", errors="replace")
    except OSError:
        return ""
    return "\n".join([line for line in text.splitlines() if line.strip()][-lines:])


# Process


def claim(folder: Path, process: ProcessIdentity) -> None:
    """Register this process as the one that trains in the folder.

    Raises:
        TrainingError: if another process is training there.
    """
    other = living_process(folder)
    if other is not None and other != process:
        raise TrainingError(
            f"process {other.pid} is training in {folder} already: stop it first, or train in another folder"
        )
    _write(folder / PROCESS, json.dumps(asdict(process)))


def renew(folder: Path) -> None:
    """Renew the heartbeat of this process, which shows other machines that the process is running."""
    with contextlib.suppress(OSError):
        os.utime(folder / PROCESS)


def release(folder: Path) -> None:
    """Unregister the process of the folder; errors are ignored."""
    with contextlib.suppress(OSError):
        (folder / PROCESS).unlink(missing_ok=True)


def living_process(folder: Path) -> ProcessIdentity | None:
    """The process that trains in the folder; None if no process trains there."""
    try:
        process = ProcessIdentity.from_document(json_tree(read_file(folder / PROCESS, MOST_CONFIG_BYTES)))
        age_s = time.time() - (folder / PROCESS).stat().st_mtime
    except (OSError, ValueError, TypeError):
        return None
    return None if process.is_gone(age_s) else process


# Commands from processes other than the parent


def send_command(folder: Path, command: str) -> None:
    """Send a command to the process that trains in a folder, from any process.

    Raises:
        TrainingError: if no process trains there, or if the folder cannot be written.
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
    """Receiving end of `send_command`: yields each new command once."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / COMMANDS
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)  # removes commands that were sent to an earlier process
        self._read = 0

    def take(self) -> Iterator[str]:
        """The commands since the last call."""
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
    """The command in a line of JSON; empty if the line contains no command."""
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
