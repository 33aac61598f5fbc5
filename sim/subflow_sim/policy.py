"""Trained policies: their files, descriptions and actions.

A policy file is one safetensors file. Its metadata contain a JSON document under "subflow_policy":

    {"format": 1, "controller": "drl-cc", "name": "drl-cc",
     "observation": {"features": [...], "history": 1},    features of the controller's agent, in order
     "action": {"names": [...], "choices": [...]},        choices: the action is the number of a choice
     "options": {...},                                    options of the controller in training, SI
     "actor": NETWORK, "critic": null | NETWORK,
     "card": {...}}                                       description: recipe, seed, metrics, parent

A NETWORK is {"encoder": ENCODER, "input": "slot" | "target" | "all", "slots": 2, "layers": [LAYER, ...]}; a critic also
has "takes_action": true or false. ENCODER is {"type": "none"}, {"type": "lstm", "hidden": 64} or {"type": "pool",
"layers": [64, 64], "activation": "relu" | "tanh", "pool": ["mean", "max"]} and computes h from all rows. LAYER is
{"type": "linear", "in": 78, "out": 128}, {"type": "relu"}, {"type": "tanh"}, or at the end of an actor with choices
{"type": "softmax"}. The input of the first layer is for "slot" [h | row] for each acting row; for "target" [h | the
acting rows, zeros up to `slots` rows]; for "all" [h | all rows, zeros up to `slots`]. A critic that takes the action
receives it after the rows, within [-1, 1]. An actor outputs, for each acting row, the numbers of an action or one
number per choice; a critic outputs one number.

Tensors are float32 in PyTorch's layout: "actor.layers.K.weight" [out, in] and ".bias", K the position in "layers";
"actor.encoder.weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0" of an LSTM, gates in the order i, f, g, o;
"actor.encoder.K.weight" and ".bias" of a pool; the same with "critic.". The outputs of an actor within [-1, 1] are
scaled to the bounds of the controller's actions.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subflow_sim import _core
from subflow_sim.errors import PolicyError
from subflow_sim.policy_library import read_policy_file
from subflow_sim.whole_file import write_whole

_DOCUMENT_KEY = "subflow_policy"

FloatArray = NDArray[np.float32]
BoolArray = NDArray[np.bool_]


class Policy:
    """A function from an agent's observation to its action, evaluated by the core. Immutable."""

    def __init__(self, content: bytes) -> None:
        """Reads a policy file's content, without the cache of `from_bytes`.

        Raises:
            PolicyError: as `from_bytes`.
        """
        try:
            self.core = _core.read_policy(content)
        except _core.CorePolicyError as error:
            raise PolicyError(str(error)) from error
        self.content_hash = hashlib.sha256(content).hexdigest()

    @staticmethod
    def from_bytes(content: bytes) -> Policy:
        """The policy in the content of a file; cached, so that equal content gives the same object.

        Raises:
            PolicyError: if the content is not a policy; the message names the tensor, layer or key, the value and the
                allowed values.
        """
        return _remembered(content)

    @staticmethod
    def load(path: str | Path) -> Policy:
        """The policy in a file.

        Raises:
            PolicyError: if the file cannot be read or is not a policy; the message begins with the path.
        """
        content = read_policy_file(Path(path))
        try:
            return Policy.from_bytes(content)
        except PolicyError as error:
            raise PolicyError(f"{path}: {error}") from error

    @cached_property
    def document(self) -> dict[str, Any]:
        """The JSON document of the file; see the module."""
        document: dict[str, Any] = json.loads(self.core.document)
        return document

    @property
    def name(self) -> str:
        """Name given by the author of the policy."""
        return str(self.document["name"])

    @property
    def controller(self) -> str:
        """Name of the controller for which the policy was trained."""
        return self.core.controller

    @property
    def history(self) -> int:
        """Number of records in a row of an observation."""
        return self.core.history

    @property
    def width(self) -> int:
        """Length W of a row of an observation."""
        return self.core.width

    @property
    def slots(self) -> int | None:
        """Maximum number of subflows for joint actions; None: no limit."""
        return self.core.slots

    @property
    def options(self) -> dict[str, float | bool | str]:
        """Options of the controller in training, SI; scenarios use them as defaults."""
        return dict(self.document.get("options", {}))

    @property
    def card(self) -> dict[str, Any]:
        """Description of the training and its metrics."""
        return dict(self.document.get("card", {}))

    def act(self, rows: ArrayLike, acting: ArrayLike) -> tuple[FloatArray, float]:
        """The action for one observation.

        Args:
            rows: float32 [S, W], rows of the existing subflows.
            acting: bool [S], subflows that need an action.

        Returns:
            The action, float32 [S, A] in the units of the controller's actions (or the number of a choice), 0 for
            subflows that do not act, and the critic's value; NaN without a critic.

        Raises:
            ValueError: if the shapes do not fit.
        """
        actions, values = self.act_many(np.asarray(rows)[np.newaxis], np.asarray(acting)[np.newaxis])
        return actions[0], float(values[0])

    def act_many(
        self, rows: ArrayLike, acting: ArrayLike, mask: ArrayLike | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """The actions for many observations, in the layout of `VecEnv`.

        Args:
            rows: float32 [B, S, W], rows of the subflows.
            acting: bool [B, S], subflows that need an action.
            mask: bool [B, S], existing subflows; None: all.

        Returns:
            Actions float32 [B, S, A] and values float32 [B], as in `act`; NaN if no subflow acts.

        Raises:
            ValueError: if the shapes do not fit.
        """
        seen = np.ascontiguousarray(rows, dtype=np.float32)
        acts = np.ascontiguousarray(acting, dtype=np.bool_)
        there = np.ones(acts.shape, dtype=np.bool_) if mask is None else np.ascontiguousarray(mask, dtype=np.bool_)
        if seen.ndim != 3 or acts.ndim != 2 or there.ndim != 2:
            raise ValueError(
                f"rows {seen.shape}, acting {acts.shape} and mask {there.shape} are not [B, S, W] and [B, S]"
            )
        return self.core.act_many(seen, there, acts)


@lru_cache(maxsize=16)
def _remembered(content: bytes) -> Policy:
    return Policy(content)


def policy_bytes(document: Mapping[str, Any], tensors: Mapping[str, ArrayLike]) -> bytes:
    """The content of a policy file.

    Args:
        document: JSON values; see the module.
        tensors: float32 arrays by name; other numeric types are converted.

    Raises:
        PolicyError: if the core refuses the content.
    """
    try:
        text = _compact(document)
    except (TypeError, ValueError) as error:
        raise PolicyError(f"the document is not JSON: {error}") from error
    header: dict[str, Any] = {"__metadata__": {_DOCUMENT_KEY: text}}
    parts: list[bytes] = []
    at = 0
    for name in sorted(tensors):
        values = np.ascontiguousarray(tensors[name], dtype="<f4")
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [at, at + values.nbytes]}
        parts.append(values.tobytes())
        at += values.nbytes
    content = _joined(header, b"".join(parts))
    Policy(content)
    return content


def _compact(document: Mapping[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _split(content: bytes) -> tuple[dict[str, Any], bytes]:
    """Header and data of a safetensors file."""
    end = 8 + int.from_bytes(content[:8], "little")
    return json.loads(content[8:end]), content[end:]


def _joined(header: Mapping[str, Any], data: bytes) -> bytes:
    encoded = _compact(header).encode()
    encoded += b" " * (-len(encoded) % 8)  # aligns the data, as safetensors does
    return b"".join([len(encoded).to_bytes(8, "little"), encoded, data])


def renamed_policy(content: bytes, name: str) -> bytes:
    """The content of a policy file with another name in its document; all else stays the same, byte for byte.

    Args:
        content: a policy file that `policy_bytes` made.
        name: the new name.
    """
    header, data = _split(content)
    document = json.loads(header["__metadata__"][_DOCUMENT_KEY])
    header["__metadata__"][_DOCUMENT_KEY] = _compact({**document, "name": name})
    return _joined(header, data)


def actor_bytes(content: bytes) -> int:
    """Size of the actor's tensors in a policy file, bytes."""
    tensors, _ = _split(content)
    ranges = [tensor["data_offsets"] for name, tensor in tensors.items() if name.startswith("actor.")]
    return sum(end - begin for begin, end in ranges)


def write_policy(path: str | Path, document: Mapping[str, Any], tensors: Mapping[str, ArrayLike]) -> str:
    """Writes a policy file atomically: an existing file remains until the new file is on the disk.

    Args:
        path: path of the file.
        document: JSON values; see the module.
        tensors: float32 arrays by name.

    Returns:
        The content hash, SHA-256 in hex.

    Raises:
        PolicyError: if the content is not a valid policy, or cannot be written.
    """
    content = policy_bytes(document, tensors)
    try:
        write_whole(Path(path), content)
    except OSError as error:
        raise PolicyError(f"{path}: cannot be written: {error.strerror or error}") from error
    return hashlib.sha256(content).hexdigest()
