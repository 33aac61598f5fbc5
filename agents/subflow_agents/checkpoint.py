"""Checkpoints of a training: each is one safetensors file with the whole state, written atomically.

The tensors, those of the learner and of the training loop, have dotted names. The metadata contain one JSON document.
Reading a checkpoint never executes its content.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from subflow_agents.errors import CheckpointError
from subflow_sim.gate import json_tree, open_file
from subflow_sim.whole_file import write_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORMAT = 1
KEPT = 2
"""Number of checkpoints kept in a folder."""

_METADATA_KEY = "subflow_checkpoint"
_NAME = re.compile(r"checkpoint-(\d+)\.safetensors")


@dataclass(slots=True)
class Checkpoint:
    """The state of a training at a step.

    Attributes:
        agent: name of the agent.
        step: number of transitions learned from.
        document: plain JSON values of the learner and the loop.
        tensors: tensors of the learner and the loop, by dotted name.
    """

    agent: str
    step: int
    document: dict[str, Any]
    tensors: dict[str, NDArray[Any]]


def tensors_under(name: str, tensors: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The tensors whose dotted names begin with `name` and a dot, keyed by the rest of their names."""
    prefix = f"{name}."
    return {key.removeprefix(prefix): tensor for key, tensor in tensors.items() if key.startswith(prefix)}


def checkpoints(folder: Path) -> list[Path]:
    """The checkpoints in a folder, in ascending order of steps."""
    found = [(int(match[1]), path) for path in folder.glob("checkpoint-*") if (match := _NAME.fullmatch(path.name))]
    return [path for _, path in sorted(found)]


def save_checkpoint(folder: Path, checkpoint: Checkpoint) -> Path:
    """Writes a checkpoint, then removes all checkpoints of the folder except the KEPT with the most steps.

    Raises:
        CheckpointError: if the checkpoint cannot be written; older checkpoints are kept.
    """
    from safetensors.numpy import save

    document = {
        "format": FORMAT,
        "agent": checkpoint.agent,
        "step": checkpoint.step,
        "state": checkpoint.document,
    }
    tensors = {name: np.require(tensor, requirements="C") for name, tensor in checkpoint.tensors.items()}
    path = folder / f"checkpoint-{checkpoint.step}.safetensors"
    write_atomically(path, save(tensors, {_METADATA_KEY: json.dumps(document)}))
    for old in checkpoints(folder)[:-KEPT]:
        old.unlink(missing_ok=True)
    return path


def load_checkpoint(path: Path) -> Checkpoint:
    """Reads a checkpoint.

    Raises:
        CheckpointError: if the file cannot be read, is damaged, or is not a checkpoint of this version.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with open_file(path):
            pass  # refuses pipes and devices, which would block `safe_open`
        with safe_open(path, framework="np") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
    except (OSError, SafetensorError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"{path}: cannot be read as a checkpoint: {error}") from error
    if _METADATA_KEY not in metadata:
        raise CheckpointError(f"{path}: is not a checkpoint of a training")
    try:
        document = json_tree(metadata[_METADATA_KEY], is_strict=False)
        version = document["format"]
        if version != FORMAT:
            raise CheckpointError(f"{path}: has format {version!r}, this version continues from format {FORMAT}")
        return Checkpoint(str(document["agent"]), int(document["step"]), dict(document["state"]), tensors)
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise CheckpointError(f"{path}: its description is damaged: {error!r}") from error


def load_latest(folder: Path) -> tuple[Checkpoint, Path, list[CheckpointError]]:
    """The latest readable checkpoint of a folder.

    Returns:
        The checkpoint, its path, and the errors of later, unreadable checkpoints.

    Raises:
        CheckpointError: if the folder contains no readable checkpoint.
    """
    problems: list[CheckpointError] = []
    for path in reversed(checkpoints(folder)):
        try:
            return load_checkpoint(path), path, problems
        except CheckpointError as error:
            problems.append(error)
    if problems:
        raise problems[0]
    raise CheckpointError(f"{folder}: no checkpoint to continue from")


def write_atomically(path: Path, content: bytes) -> None:
    """Replaces a file atomically: after a crash the file has either its old or its new content.

    Raises:
        CheckpointError: if the file cannot be written; the existing file is kept.
    """
    try:
        write_whole(path, content)
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be written: {error.strerror or error}") from error


def write_json(path: Path, document: Mapping[str, Any]) -> None:
    """Replaces a JSON file atomically.

    Raises:
        CheckpointError: if the file cannot be written; the existing file is kept.
    """
    write_atomically(path, (json.dumps(document, indent=2) + "\n").encode())
