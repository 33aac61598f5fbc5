"""The configuration of a training: all values needed to repeat it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from subflow_agents.errors import ConfigError
from subflow_sim.gate import MAX_INTEGER

CLASSICS = ("lia", "olia", "balia", "wvegas")
"""Coupled controllers used as baselines."""

ALL_FAMILIES = "all"
"""Placeholder for the names of all families of networks."""

# Evaluation seeds start here. Training seeds are smaller, so the two sets are disjoint.
FIRST_EVALUATION_SEED = 1_000_000


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """Configuration of a training, stored with its results.

    Attributes:
        agent: name in the registry, for example "drl-cc".
        scenario: TOML text of the scenario or distribution (with its `[training]` table) to learn on.
        scenario_name: name in messages.
        scenario_folder: folder of the files referenced by the scenario; empty: no references.
        overrides: "KEY=VALUE" settings of the scenario, as on the command line.
        options: options of the agent that differ from its defaults.
        num_envs: number of parallel simulations.
        threads: number of simulating threads.
        seed: seed of all random numbers.
        minutes: budget of time, min; None: no limit.
        steps: budget of transitions; None: no limit. At least one of the two budgets is required.
        episode_s: maximum simulated time of an episode, s; None: the duration of the scenario.
        deterministic: whether the training is independent of the clock. Repeating a training with a budget of steps
            then gives the same result bit for bit.
        evaluation_every: transitions between two evaluations; 0: no evaluations.
        evaluation_seeds: seeds of the evaluation runs; never used in training.
        baselines: controllers for comparison in evaluations; empty: `default_baselines` of the scenario.
        evaluation_scenario: TOML text of the evaluation scenario; empty: the training scenario.
        families: families of the arena whose training split supplies some episodes; "all" means every family.
        families_share: share of the episodes that run on networks of the families, more than 0, at most 1.
        validation_networks: number of networks from each family's validation split that, with the evaluation scenario,
            select the best policy; 0: only the score on that scenario.
        validation_families: families of the validation networks; "all" means every family.
        validation_home: whether the agent's score on the evaluation scenario is half of the selection score; if not,
            only the validation networks count.
        checkpoint_minutes: time between two checkpoints.
        report_every: transitions between two reports of metrics, for repeatable curves; 0: one report per second.
        folder: output folder.
        resume: whether to continue from the last checkpoint in `folder`.
    """

    agent: str
    scenario: str
    scenario_name: str = "scenario"
    scenario_folder: str = ""
    overrides: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    num_envs: int = 4
    threads: int = 1
    seed: int = 1
    minutes: float | None = None
    steps: int | None = None
    episode_s: float | None = None
    deterministic: bool = False
    evaluation_every: int = 10_000
    evaluation_seeds: tuple[int, ...] = tuple(range(FIRST_EVALUATION_SEED, FIRST_EVALUATION_SEED + 3))
    baselines: tuple[str, ...] = CLASSICS
    evaluation_scenario: str = ""
    families: tuple[str, ...] = ()
    families_share: float = 0.5
    validation_networks: int = 0
    validation_families: tuple[str, ...] = (ALL_FAMILIES,)
    validation_home: bool = True
    checkpoint_minutes: float = 1.0
    report_every: int = 0
    folder: str = ""
    resume: bool = False

    def __post_init__(self) -> None:
        """Refuses values that are out of range or contradict each other.

        Raises:
            ConfigError: if a value is invalid; the message names it.
        """
        if self.minutes is None and self.steps is None:
            raise ConfigError("budget", "neither minutes nor steps are given", "one of them, or both")
        _require(self.minutes is None or 0 < self.minutes < math.inf, "minutes", self.minutes, "more than 0")
        _require(self.steps is None or self.steps >= 1, "steps", self.steps, "1 or more")
        _require(1 <= self.num_envs <= 4096, "num_envs", self.num_envs, "from 1 to 4096")
        _require(1 <= self.threads <= 256, "threads", self.threads, "from 1 to 256")
        _require(0 <= self.seed < FIRST_EVALUATION_SEED, "seed", self.seed, "from 0 to 999999")
        _require(self.episode_s is None or 0 < self.episode_s < math.inf, "episode_s", self.episode_s, "more than 0")
        _require(self.evaluation_every >= 0, "evaluation_every", self.evaluation_every, "0 or more")
        for key in ("families", "validation_families"):
            _require_families(key, getattr(self, key))
        _require(
            all(seed >= FIRST_EVALUATION_SEED for seed in self.evaluation_seeds),
            "evaluation_seeds",
            list(self.evaluation_seeds),
            f"{FIRST_EVALUATION_SEED} or more, so that no training has seen them",
        )
        _require(
            self.evaluation_every == 0 or len(self.evaluation_seeds) > 0, "evaluation_seeds", [], "one seed or more"
        )
        _require(0 < self.families_share <= 1, "families_share", self.families_share, "more than 0, at most 1")
        _require(0 <= self.validation_networks <= 100, "validation_networks", self.validation_networks, "from 0 to 100")
        _require(self.report_every >= 0, "report_every", self.report_every, "0 or more")
        _require(0 < self.checkpoint_minutes < math.inf, "checkpoint_minutes", self.checkpoint_minutes, "more than 0")
        _require(self.folder != "", "folder", self.folder, "a folder for what the training writes")

    def to_json(self) -> dict[str, Any]:
        """The configuration as a JSON object for `from_json`."""
        return {
            field.name: list(value) if isinstance(value := getattr(self, field.name), tuple) else value
            for field in dataclasses.fields(self)
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> TrainingConfig:
        """A configuration from its JSON object.

        Raises:
            ConfigError: if a key is unknown or missing, or a value has the wrong kind or is out of range.
        """
        fields = {field.name: field for field in dataclasses.fields(cls)}
        for key in document:
            if key not in fields:
                raise ConfigError(key, "unknown setting of a training", ", ".join(fields))
        for key in ("agent", "scenario"):
            if key not in document:
                raise ConfigError(key, "is missing")
        values = {key: _read(key, str(fields[key].type), value) for key, value in document.items()}
        return cls(**values)


# JSON types accepted for each annotation of a field
_KINDS: Mapping[str, tuple[type, ...]] = {
    "str": (str,),
    "bool": (bool,),
    "int": (int,),
    "float": (int, float),
    "Mapping": (dict,),
}


def _read(key: str, annotation: str, value: object) -> Any:
    if annotation.endswith("| None") and value is None:
        return None
    if annotation.startswith("tuple["):
        inner = annotation.removeprefix("tuple[").partition(",")[0]
        if not isinstance(value, list | tuple):
            raise ConfigError(key, f"{value!r} is not a list", f"a list of {inner}")
        return tuple(_read(key, inner, item) for item in value)
    name = annotation.partition(" |")[0].partition("[")[0]
    if not isinstance(value, _KINDS[name]) or (isinstance(value, bool) and name != "bool"):
        raise ConfigError(key, f"{value!r} is of the wrong kind", name.lower())
    if isinstance(value, int) and abs(value) > MAX_INTEGER:
        raise ConfigError(key, "the whole number is too large", f"up to {MAX_INTEGER}")
    return float(value) if name == "float" and isinstance(value, int | float) else value


def _require(holds: bool, key: str, value: object, allowed: str) -> None:
    if not holds:
        raise ConfigError(key, f"{value!r} is not acceptable", allowed)


def _require_families(key: str, names: tuple[str, ...]) -> None:
    from subflow_sim.arena.families import FAMILIES

    for name in names:
        _require(name == ALL_FAMILIES or name in FAMILIES, key, name, ", ".join((ALL_FAMILIES, *FAMILIES)))
