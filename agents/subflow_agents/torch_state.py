"""Converts networks and optimisers to the tensors of a checkpoint, which have dotted names, and back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from subflow_agents.checkpoint import tensors_under
from subflow_agents.errors import CheckpointError


def module_tensors(name: str, module: nn.Module) -> dict[str, NDArray[Any]]:
    """Copies of a network's weights, by dotted name."""
    return {f"{name}.{key}": weight.numpy().copy() for key, weight in module.state_dict().items()}


def load_module(name: str, module: nn.Module, tensors: Mapping[str, NDArray[Any]]) -> None:
    """Loads the weights whose dotted names begin with `name` into a network.

    Raises:
        CheckpointError: if the tensors belong to another network.
    """
    given = tensors_under(name, tensors)
    for key, weight in module.state_dict().items():
        if key not in given or given[key].shape != tuple(weight.shape):
            shape = given[key].shape if key in given else "missing"
            raise CheckpointError(f"{name}.{key} is {shape}, this training's network has {tuple(weight.shape)}")
    module.load_state_dict({key: torch.from_numpy(value.copy()) for key, value in given.items()})


def optimiser_tensors(name: str, optimiser: torch.optim.Optimizer) -> dict[str, NDArray[Any]]:
    """Copies of an optimiser's state for each weight, by `name`, index of the weight and key: "name.0.exp_avg"."""
    return {
        f"{name}.{index}.{key}": value.numpy().copy()
        for index, memory in optimiser.state_dict()["state"].items()
        for key, value in memory.items()
    }


def load_optimiser(name: str, optimiser: torch.optim.Optimizer, tensors: Mapping[str, NDArray[Any]]) -> None:
    """Loads tensors from `optimiser_tensors` with the same `name` into an optimiser."""
    memories: dict[int, dict[str, Tensor]] = defaultdict(dict)
    for key, value in tensors_under(name, tensors).items():
        index, _, part = key.partition(".")
        memories[int(index)][part] = torch.from_numpy(value.copy())
    optimiser.load_state_dict({**optimiser.state_dict(), "state": dict(memories)})
