"""Puts a policy into the user's library, where every scenario can name it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from subflow_app.core.catalog import policy_library
from subflow_app.core.errors import InputError, TrainingError
from subflow_app.core.paths import policy_folder
from subflow_sim.policy import Policy
from subflow_sim.policy_library import SUFFIX, is_policy_name, read_policy_file
from subflow_sim.whole_file import write_whole

_DOCUMENT = "subflow_policy"
_METADATA = "__metadata__"
_ALIGNMENT = 8  # of the tensors behind the header, as safetensors has it


def policy_names() -> tuple[str, ...]:
    """Names of the policies there are: those that ship, and the user's."""
    return tuple(policy_library().paths())


def promote(source: Path, name: str, card: Mapping[str, Any]) -> Path:
    """Put a policy into the user's library under a name.

    Args:
        source: a policy file.
        name: what scenarios call it.
        card: what its card says besides what it says already: a note, where it is from.

    Returns:
        Its file there.

    Raises:
        InputError: if the name is impossible or taken.
        PolicyError: if the file is no policy.
        TrainingError: if the library cannot be written.
    """
    if not is_policy_name(name):
        raise InputError(f'"{name}" is no name for a policy: allowed are up to 64 letters, digits, dots, - and _')
    target = policy_folder() / f"{name}{SUFFIX}"
    if name in policy_names() or target.exists():
        raise InputError(f"there is a policy called {name} already: give this one another name")
    content = _renamed(read_policy_file(source), name, card)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, content)
    except OSError as error:
        raise TrainingError(f"{target} cannot be written: {error.strerror or error}") from error
    return target


def _renamed(content: bytes, name: str, card: Mapping[str, Any]) -> bytes:
    """The same policy with another name and a longer card. The tensors stay as they are, byte for byte."""
    Policy.from_bytes(content)  # refuses what is none, so that the rest may take it apart
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    document = json.loads(header[_METADATA][_DOCUMENT])
    document |= {"name": name, "card": {**document.get("card", {}), **card}}
    header[_METADATA][_DOCUMENT] = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    encoded = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    encoded += b" " * (-len(encoded) % _ALIGNMENT)
    changed = len(encoded).to_bytes(8, "little") + encoded + content[8 + size :]
    Policy.from_bytes(changed)
    return changed
