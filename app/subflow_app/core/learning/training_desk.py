"""What the Train page asks of the program: which trainings there are, and what becomes of them."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from subflow_app.core.learning.policy_surface import ActingPolicy, Feature, Observations
from subflow_app.core.learning.training_draft import AgentChoice, RecipeChoice, TrainingOrder
from subflow_app.core.learning.training_progress import Training


@dataclass(frozen=True, slots=True)
class TrainingChoices:
    """What can be trained.

    Attributes:
        agents: at least one.
        recipes: trainings that are known to work.
        scenarios: names of the shipped scenarios and distributions.
    """

    agents: tuple[AgentChoice, ...]
    recipes: tuple[RecipeChoice, ...]
    scenarios: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DocumentText:
    """The scenario in the window.

    Attributes:
        title: what it is called.
        text: TOML.
        folder: where the files are that it names; None for one that was never saved.
    """

    title: str
    text: str
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class PolicyOutput:
    """An action as a picture shows it: its name, unit and bounds; `choices` where it is one of several."""

    name: str
    unit: str
    minimum: float
    maximum: float
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SeenPolicy:
    """A policy with what it sees: enough for a picture of it.

    Attributes:
        policy: that acts.
        features: of one record of a subflow.
        outputs: what it may do.
        seen: observations that it had lately.
    """

    policy: ActingPolicy
    features: tuple[Feature, ...]
    outputs: tuple[PolicyOutput, ...]
    seen: Observations


class TrainingDesk(Protocol):
    """Trainings and their processes. Every method but `observe` and `choices` returns at once."""

    def choices(self) -> TrainingChoices:
        """What can be trained; reads files."""

    def draws(self, scenario: DocumentText | str) -> bool:
        """Whether a scenario, or the one of that name or path, is a distribution; False if it cannot be read."""

    def trainings(self) -> Sequence[Training]:
        """All trainings, newest first; each stays the same object while it is listed."""

    def poll(self) -> bool:
        """Take in what the trainings have told; whether anything changed."""

    def start(self, order: TrainingOrder, document: DocumentText) -> Training:
        """Begin a training, or line it up.

        Raises:
            AppError: if it cannot be: a scenario without the paths that the agent needs, a folder that cannot be made.
            SimError: with what is wrong with the scenario.
        """

    def pause(self, training: Training) -> None:
        """Hold a training."""

    def resume(self, training: Training) -> None:
        """Let a held training go on."""

    def go_on(self, training: Training) -> None:
        """Begin again from the last checkpoint of a training that ended early.

        Raises:
            AppError: if there is no checkpoint to go on from.
        """

    def stop(self, training: Training) -> None:
        """End a training with a checkpoint."""

    def checkpoint(self, training: Training) -> None:
        """Have a checkpoint written now."""

    def evaluate(self, training: Training) -> None:
        """Have it evaluated on the held-out seeds now."""

    def load_log(self, training: Training) -> None:
        """Read the metrics and evaluations of a training of an earlier session.

        Raises:
            StoreError: if they cannot be read.
        """

    def observe(self, training: Training) -> SeenPolicy:
        """Let the newest policy act for a while and keep what it saw; takes a moment.

        Raises:
            AppError: if there is no policy yet.
            SimError: if the file cannot be used.
        """

    def promote(self, training: Training, name: str, note: str) -> Path:
        """Copy the best policy into the user's library, where scenarios find it by its name.

        Raises:
            AppError: if the name is not possible or taken, or the file cannot be written.
        """

    def policy_names(self) -> Sequence[str]:
        """Names in the library that are taken."""

    def leave_running(self) -> None:
        """Let the processes go on without the window; they are listed again when one opens."""

    def stop_all(self) -> None:
        """End every training with a checkpoint."""

    @property
    def is_busy(self) -> bool:
        """Whether any process works or waits."""

    def close(self) -> None:
        """Let go of everything; processes that still run are left alone."""


def is_distribution(text: str) -> bool:
    """Whether a scenario draws another one for every episode; text that is no TOML does not."""
    try:
        return isinstance(tomllib.loads(text).get("training"), dict)
    except tomllib.TOMLDecodeError:
        return False
