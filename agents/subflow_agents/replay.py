"""Replay buffers: a ring buffer with uniform sampling, and one with prioritised sampling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from subflow_agents.errors import CheckpointError

Columns: TypeAlias = Mapping[str, NDArray[Any]]
Indices: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Sample:
    """A minibatch.

    Attributes:
        indices: positions of the transitions, for `Replay.refresh`.
        columns: columns of the transitions, [B, ...] each.
        weights: float32 [B], importance-sampling weights; 1 for uniform sampling.
    """

    indices: Indices
    columns: dict[str, NDArray[Any]]
    weights: NDArray[np.float32]


class Replay:
    """A ring buffer of the last transitions, sampled uniformly with replacement.

    The first transitions determine the dtype and shape of the columns. Columns grow for later transitions that are
    wider in a dimension (more subflows than before); missing elements contain the column's filler.

    Args:
        capacity: maximum number of transitions; the oldest is overwritten first.
        fillers: fillers other than 0, by column.
    """

    def __init__(self, capacity: int, fillers: Mapping[str, float] | None = None) -> None:
        self.capacity = capacity
        self.columns: dict[str, NDArray[Any]] = {}
        self.added = 0
        self._fillers = dict(fillers or {})

    def __len__(self) -> int:
        return min(self.added, self.capacity)

    def add(self, columns: Columns) -> Indices:
        """Stores transitions, n rows in each column; returns their positions."""
        count = len(next(iter(columns.values())))
        indices = (self.added + np.arange(count)) % self.capacity
        for name, values in columns.items():
            kept = self._fit(name, values)
            if values.shape[1:] != kept.shape[1:]:
                kept[indices] = self._fillers.get(name, 0)
            where: Any = (indices, *(slice(0, width) for width in values.shape[1:]))
            kept[where] = values
        self.added += count
        return indices

    def sample(self, count: int, rng: np.random.Generator) -> Sample:
        """Samples a minibatch of `count` transitions."""
        return self._taken(rng.integers(len(self), size=count), np.ones(count, dtype=np.float32))

    def refresh(self, indices: Indices, errors: NDArray[np.floating[Any]]) -> None:
        """Accepts the temporal-difference errors of sampled transitions, which uniform sampling ignores."""

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Copies of the used part of each array, and plain values, for `load`."""
        return {name: column[: len(self)].copy() for name, column in self.columns.items()}, {"added": self.added}

    def load(self, tensors: Columns, values: Mapping[str, Any]) -> None:
        """Restores a result of `state()`.

        Raises:
            CheckpointError: if the state does not have the expected number of transitions.
        """
        self.added = int(values["added"])
        self.columns = {}
        for name, kept in tensors.items():
            if len(kept) != len(self):
                raise CheckpointError(f"its memory has {len(kept)} transitions in {name!r}, expected {len(self)}")
            self.columns[name] = self._empty(name, kept.shape[1:], kept.dtype)
            self.columns[name][: len(kept)] = kept

    def _taken(self, indices: Indices, weights: NDArray[np.float32]) -> Sample:
        return Sample(indices, {name: column[indices] for name, column in self.columns.items()}, weights)

    def _fit(self, name: str, values: NDArray[Any]) -> NDArray[Any]:
        kept = self.columns.get(name)
        if kept is None:
            kept = self.columns[name] = self._empty(name, values.shape[1:], values.dtype)
        shape = tuple(np.maximum(kept.shape[1:], values.shape[1:]))
        if shape != kept.shape[1:]:
            wider = self._empty(name, shape, kept.dtype)
            wider[tuple(slice(0, width) for width in kept.shape)] = kept
            kept = self.columns[name] = wider
        return kept

    def _empty(self, name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        filler = self._fillers.get(name, 0)
        if filler == 0:  # unwritten zero pages take no memory
            return np.zeros((self.capacity, *shape), dtype)
        return np.full((self.capacity, *shape), filler, dtype)


class SumTree:
    """A tree of weights that finds leaves by cumulative weight, in O(log n) per leaf.

    Searches and changes accept arrays of leaves. The binary tree is stored in one array, with the root at 1. Each node
    is the sum of its two children, so rounding errors do not accumulate.
    """

    def __init__(self, capacity: int) -> None:
        self._levels = max(1, (capacity - 1).bit_length())
        self._first = 1 << self._levels
        self._nodes = np.zeros(2 * self._first)

    @property
    def total(self) -> float:
        """Sum of all weights."""
        return float(self._nodes[1])

    def weights(self, indices: Indices) -> NDArray[np.float64]:
        """Weights of these leaves."""
        return self._nodes[self._first + indices]

    def set(self, indices: Indices, weights: NDArray[np.float64]) -> None:
        """Sets the weights of leaves; for duplicate leaves the last weight counts."""
        nodes = self._first + indices
        self._nodes[nodes] = weights
        for _ in range(self._levels):
            nodes = np.unique(nodes >> 1)
            self._nodes[nodes] = self._nodes[2 * nodes] + self._nodes[2 * nodes + 1]

    def find(self, sums: NDArray[np.float64]) -> Indices:
        """The leaves at which the cumulative weight first exceeds each of these sums, in [0, total)."""
        nodes = np.ones(len(sums), dtype=np.int64)
        left = sums.copy()
        for _ in range(self._levels):
            nodes *= 2
            below = self._nodes[nodes]
            # Rounding may let a sum exceed the remaining weight: never enter an empty subtree.
            right = (left >= below) & (self._nodes[nodes + 1] > 0)
            left -= np.where(right, below, 0)
            nodes += right
        return nodes - self._first


class PrioritisedReplay(Replay):
    """A ring buffer that samples with P(i) = p_i^alpha / sum p^alpha, p_i = |delta_i| + epsilon.

    New transitions get the largest priority so far, so that each is likely to be sampled once. The minibatch is
    stratified: the sum of the priorities is divided into equal parts, each of which yields one sample.

    Args:
        capacity: maximum number of transitions.
        alpha: exponent of the priorities; 0: uniform sampling; 1: in proportion to the error.
        epsilon: constant added to each error, so that transitions without error can be sampled.
        fillers: fillers other than 0, by column.
        delete_after_sampling: whether to sample each transition only once.

    Source: Schaul et al. 2015, proportional variant; deletion: Pokhrel, Walid 2021, a footnote of section IV.
    """

    def __init__(
        self,
        capacity: int,
        *,
        alpha: float = 0.6,
        epsilon: float = 1e-6,
        fillers: Mapping[str, float] | None = None,
        delete_after_sampling: bool = False,
    ) -> None:
        super().__init__(capacity, fillers)
        self.beta = 0.4  # the learner raises it to 1 over the budget
        self._alpha = alpha
        self._epsilon = epsilon
        self._delete = delete_after_sampling
        self._tree = SumTree(capacity)
        self._largest = 1.0  # largest weight p^alpha so far

    def add(self, columns: Columns) -> Indices:
        """Stores transitions; returns their positions."""
        indices = super().add(columns)
        self._tree.set(indices, np.full(len(indices), self._largest))
        return indices

    @property
    def available(self) -> int:
        """Number of transitions that can be sampled."""
        return int(np.count_nonzero(self._tree.weights(np.arange(len(self)))))

    def probabilities(self) -> NDArray[np.float64]:
        """P(i) of each stored transition."""
        return self._tree.weights(np.arange(len(self))) / self._tree.total

    def sample(self, count: int, rng: np.random.Generator) -> Sample:
        """Samples a minibatch with weights w_i = (N P(i))^-beta / max w."""
        part = self._tree.total / count
        indices = self._tree.find((np.arange(count) + rng.random(count)) * part)
        weights = self._tree.weights(indices)
        probabilities = weights / self._tree.total
        importance = (len(self) * probabilities) ** -self.beta
        sample = self._taken(indices, (importance / importance.max()).astype(np.float32))
        if self._delete:
            self._tree.set(indices, np.zeros(count))
        return sample

    def refresh(self, indices: Indices, errors: NDArray[np.floating[Any]]) -> None:
        """Updates the priorities of sampled transitions by their new errors; no effect with `delete_after_sampling`."""
        if self._delete:
            return
        weights = (np.abs(errors).astype(np.float64) + self._epsilon) ** self._alpha
        self._largest = max(self._largest, float(weights.max()))
        self._tree.set(indices, weights)

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """The same as `Replay.state`, with the priorities added."""
        tensors, values = super().state()
        tensors["_weights"] = self._tree.weights(np.arange(len(self)))
        return tensors, {**values, "largest": self._largest, "beta": self.beta}

    def load(self, tensors: Columns, values: Mapping[str, Any]) -> None:
        """Restores a result of `state()`.

        Raises:
            CheckpointError: if the state has no priorities or does not have the expected number of transitions.
        """
        if "_weights" not in tensors:
            raise CheckpointError("its memory has no priorities")
        super().load({name: column for name, column in tensors.items() if name != "_weights"}, values)
        self._tree = SumTree(self.capacity)
        self._tree.set(np.arange(len(self)), np.asarray(tensors["_weights"], dtype=np.float64))
        self._largest = float(values["largest"])
        self.beta = float(values["beta"])
