"""Networks over a variable number of subflows, as evaluated in the core, and their export to policy files.

An encoder maps all rows of a decision to h; a trunk of linear layers takes h and the input of the head:

- "slot": [h | row] for each acting row, A outputs;
- "target": [h | acting rows side by side, zero-padded to `slots` rows], slots x A outputs;
- "all": [h | all rows side by side, zero-padded to `slots` rows], slots x A outputs, by row.

For a critic the action is appended in the same order: A numbers, or slots x A with zeros for rows that do not act.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from subflow_agents.errors import ConfigError

# Lillicrap 2015 section 7: the last layers start this close to 0, so that no initial action is near its bounds.
LAST_LAYER_BOUND = 3e-3
POOLS = ("mean", "max")


@dataclass(frozen=True, slots=True)
class EncoderSpec:
    """The encoder of a decision's rows.

    Attributes:
        kind: "none" (h is empty), "lstm" (last hidden state over the rows in order) or "pool" (mean and max over the
            output of a perceptron for each row).
        hidden: width of the LSTM's state, or of each layer of the perceptron.
        layers: number of layers of the perceptron.
    """

    kind: str = "none"
    hidden: int = 64
    layers: int = 2

    @property
    def width(self) -> int:
        """Length of the encoding h; 0 for the kind "none"."""
        return {"none": 0, "lstm": self.hidden, "pool": len(POOLS) * self.hidden}[self.kind]


@dataclass(frozen=True, slots=True)
class NetSpec:
    """Common sizes of actor and critic.

    Attributes:
        features: F, length of a row.
        actions: A, length of an action per acting row.
        head: "slot", "target" or "all".
        slots: maximum number of rows of a "target" or "all" head; 1 for "slot".
        hidden: widths of the trunk's hidden layers.
        encoder: encoder that computes h.
    """

    features: int
    actions: int
    head: str
    slots: int
    hidden: tuple[int, ...]
    encoder: EncoderSpec

    @property
    def seen(self) -> int:
        """Length of a head's input without h and without a critic's action."""
        return self.features * self.slots

    @property
    def outputs(self) -> int:
        """Length of the actor's output in one pass."""
        return self.actions * self.slots


@dataclass(slots=True)
class Rows:
    """A batch of decisions as tensors.

    Attributes:
        rows: float32 [B, R, F], zero-padded.
        counts: int64 [B], number of valid rows, at least 1.
        acting: int64 [B, K], positions of the acting rows in order, padded with -1.
    """

    rows: Tensor
    counts: Tensor
    acting: Tensor

    @property
    def acts(self) -> Tensor:
        """float32 [B, K], 1 for acting rows, 0 for padding."""
        return (self.acting >= 0).float()


def to_rows(rows: NDArray[np.float32], counts: NDArray[np.integer[Any]], acting: NDArray[np.integer[Any]]) -> Rows:
    """A batch of decisions as tensors, with shapes as in `Rows`; the result shares the memory of `rows`."""
    return Rows(
        torch.from_numpy(rows),
        torch.from_numpy(counts.astype(np.int64)),
        torch.from_numpy(acting.astype(np.int64)),
    )


class SetEncoder(nn.Module):
    """Encodes all rows of a decision; the output is empty for "none"."""

    def __init__(self, features: int, spec: EncoderSpec, rng: torch.Generator) -> None:
        super().__init__()
        self.spec = spec
        self.lstm: nn.LSTM | None = None
        self.rows: nn.Sequential | None = None
        if spec.kind == "lstm":
            self.lstm = nn.LSTM(features, spec.hidden, batch_first=True)
            for weight in self.lstm.parameters():
                _uniform(weight, 1 / math.sqrt(spec.hidden), rng)
        elif spec.kind == "pool":
            self.rows = _perceptron(features, (spec.hidden,) * spec.layers, rng)

    def forward(self, batch: Rows) -> Tensor:
        """Encoding of each decision: [B, H]."""
        if self.lstm is not None:
            return self._last_state(batch)
        if self.rows is None:
            return batch.rows.new_zeros((len(batch.counts), 0))
        there = torch.arange(batch.rows.shape[1])[None, :, None] < batch.counts[:, None, None]  # [B, R, 1]
        seen = self.rows(batch.rows)  # [B, R, H]
        mean = torch.where(there, seen, 0.0).sum(1) / batch.counts[:, None]
        return torch.cat((mean, torch.where(there, seen, -math.inf).amax(1)), 1)

    def _last_state(self, batch: Rows) -> Tensor:
        assert self.lstm is not None
        count = int(batch.counts[0])
        if bool((batch.counts == count).all()):  # no padding; a third faster than a packed sequence
            return self.lstm(batch.rows[:, :count])[1][0][0]  # type: ignore[no-any-return]
        packed = pack_padded_sequence(batch.rows, batch.counts, batch_first=True, enforce_sorted=False)
        return self.lstm(packed)[1][0][0]  # type: ignore[no-any-return]


class Trunk(nn.Module):
    """The linear layers after the encoder, for one of the heads.

    Args:
        spec: sizes and head.
        outputs: length of the output; None: an action.
        takes_action: whether the input includes an action, for a critic.
        rng: generator of the initial weights.
    """

    def __init__(self, spec: NetSpec, rng: torch.Generator, *, outputs: int | None, takes_action: bool) -> None:
        super().__init__()
        self.spec = spec
        self.takes_action = takes_action
        width = spec.encoder.width + spec.seen + (spec.outputs if takes_action else 0)
        self.hidden = _perceptron(width, spec.hidden, rng)
        self.last = nn.Linear(spec.hidden[-1] if spec.hidden else width, spec.outputs if outputs is None else outputs)
        for weight in self.last.parameters():
            _uniform(weight, LAST_LAYER_BOUND, rng)

    def forward(self, h: Tensor, batch: Rows, action: Tensor | None = None) -> Tensor:
        """Output of the last layer before any tanh: slot [B, K, outputs], otherwise [B, outputs].

        Args:
            h: [B, H].
            batch: the decisions.
            action: [B, K, A] for the acting rows, for a critic.
        """
        spec = self.spec
        parts = [h]
        if spec.head == "slot":
            positions = batch.acting.clamp(min=0)[:, :, None].expand(-1, -1, spec.features)
            parts = [h[:, None].expand(-1, batch.acting.shape[1], -1), batch.rows.gather(1, positions)]
            if action is not None:
                parts.append(action)
        else:
            parts = [h, self._seen(batch)]
            if action is not None:
                parts.append(self._by_output(batch, action * batch.acts[:, :, None]))
        return self.last(self.hidden(torch.cat(parts, -1)))  # type: ignore[no-any-return]

    def _seen(self, batch: Rows) -> Tensor:
        """Zero-padded input of a joint head: [B, slots x F]."""
        spec = self.spec
        if spec.head == "target":
            positions = batch.acting.clamp(min=0)[:, :, None].expand(-1, -1, spec.features)
            seen = batch.rows.gather(1, positions) * batch.acts[:, :, None]
        else:
            there = torch.arange(batch.rows.shape[1])[None, :, None] < batch.counts[:, None, None]
            seen = batch.rows * there
        return _padded(seen, spec.slots).flatten(1)

    def _by_output(self, batch: Rows, action: Tensor) -> Tensor:
        """Actions of acting rows at the positions of a joint head's outputs: [B, slots x A]."""
        spec = self.spec
        if spec.head == "target":
            return _padded(action, spec.slots).flatten(1)
        placed = action.new_zeros((len(action), spec.slots, spec.actions))
        positions = batch.acting.clamp(min=0)[:, :, None].expand(-1, -1, spec.actions)
        return placed.scatter_add(1, positions, action).flatten(1)  # padding adds 0

    def by_row(self, batch: Rows, output: Tensor) -> Tensor:
        """Outputs of an actor by acting row: [B, K, A]."""
        spec = self.spec
        if spec.head == "slot":
            return output
        by_slot = output.view(-1, spec.slots, spec.actions)
        if spec.head == "target":
            return by_slot[:, : batch.acting.shape[1]]
        return by_slot.gather(1, batch.acting.clamp(min=0)[:, :, None].expand(-1, -1, spec.actions))


def require_room(spec: NetSpec, rows: int, acting: int) -> None:
    """Refuses decisions with more rows than a joint head allows.

    Raises:
        ConfigError: if a decision has too many rows; the message names the option.
    """
    needed = {"slot": 1, "target": acting, "all": rows}[spec.head]
    if needed > spec.slots:
        what = "subflows that act together" if spec.head == "target" else "subflows of one agent"
        raise ConfigError(
            "options.slots", f"the scenario has {needed} {what}, but the network has room for {spec.slots}"
        )


def network_document(spec: NetSpec, trunk: Trunk, *, squashed: bool) -> dict[str, Any]:
    """An actor (`squashed`: with a final tanh) or a critic in the form of a policy document."""
    encoder: dict[str, Any] = {"type": spec.encoder.kind}
    if spec.encoder.kind == "lstm":
        encoder["hidden"] = spec.encoder.hidden
    elif spec.encoder.kind == "pool":
        encoder |= {
            "layers": [spec.encoder.hidden] * spec.encoder.layers,
            "activation": "relu",
            "pool": list(POOLS),
        }
    layers: list[dict[str, Any]] = []
    for layer in trunk.hidden:
        if isinstance(layer, nn.Linear):
            layers.append({"type": "linear", "in": layer.in_features, "out": layer.out_features})
        else:
            layers.append({"type": "relu"})
    outputs = spec.outputs if squashed else trunk.last.out_features
    layers.append({"type": "linear", "in": trunk.last.in_features, "out": outputs})
    if squashed:
        layers.append({"type": "tanh"})
    document = {"encoder": encoder, "input": spec.head, "slots": spec.slots, "layers": layers}
    return {**document, "takes_action": True} if trunk.takes_action else document


def network_tensors(
    name: str, encoder: SetEncoder, trunk: Trunk, *, outputs: int | None = None
) -> dict[str, NDArray[np.float32]]:
    """The weights of an actor or a critic, by the names of the policy file.

    Args:
        name: "actor" or "critic".
        encoder: encoder before the trunk.
        trunk: layers after the encoder.
        outputs: number of outputs of the last layer to export, from the first; None: all.
    """
    tensors: dict[str, Tensor] = {}
    if encoder.lstm is not None:
        for part in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"):
            tensors[f"{name}.encoder.{part}"] = getattr(encoder.lstm, part)
    elif encoder.rows is not None:
        linear = [layer for layer in encoder.rows if isinstance(layer, nn.Linear)]
        for position, layer in enumerate(linear):
            tensors[f"{name}.encoder.{position}.weight"] = layer.weight
            tensors[f"{name}.encoder.{position}.bias"] = layer.bias
    position = 0
    for position, hidden in enumerate([*trunk.hidden, trunk.last]):
        if isinstance(hidden, nn.Linear):
            tensors[f"{name}.layers.{position}.weight"] = hidden.weight
            tensors[f"{name}.layers.{position}.bias"] = hidden.bias
    for part in ("weight", "bias"):
        key = f"{name}.layers.{position}.{part}"
        tensors[key] = tensors[key][:outputs]
    return {key: tensor.detach().numpy().astype("<f4", copy=True) for key, tensor in tensors.items()}


def soft_update(targets: list[Tensor], sources: list[Tensor], share: float) -> None:
    """Soft update of target weights: theta' <- share theta + (1 - share) theta' (Lillicrap 2015, Algorithm 1)."""
    with torch.no_grad():
        torch._foreach_lerp_(targets, sources, share)


def _perceptron(inputs: int, widths: tuple[int, ...], rng: torch.Generator) -> nn.Sequential:
    layers: list[nn.Module] = []
    for width in widths:
        linear = nn.Linear(inputs, width)
        # Lillicrap 2015 section 7: U(-1/sqrt(f), 1/sqrt(f)) with f the fan-in
        for weight in linear.parameters():
            _uniform(weight, 1 / math.sqrt(inputs), rng)
        layers += [linear, nn.ReLU()]
        inputs = width
    return nn.Sequential(*layers)


def _uniform(weight: Tensor, bound: float, rng: torch.Generator) -> None:
    with torch.no_grad():
        weight.uniform_(-bound, bound, generator=rng)


def _padded(rows: Tensor, count: int) -> Tensor:
    """Rows [B, n, W] truncated or zero-padded to [B, count, W]."""
    missing = count - rows.shape[1]
    return nn.functional.pad(rows, (0, 0, 0, missing)) if missing >= 0 else rows[:, :count]
