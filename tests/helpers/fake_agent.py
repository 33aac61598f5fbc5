"""An agent in the registry that `fake_training` trains: it has options, and requires two paths."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from subflow_agents import AgentInfo, TrainingConfig, registry
from subflow_agents.options import integer, number
from subflow_app.features.training.core import training_worker

TRAINER = "tests.helpers.fake_training"


@dataclass(frozen=True)
class FakeOptions:
    gamma: float = number(0.9, "Discount.", "nowhere", minimum=0.0, maximum=1.0)
    checkpoint_every: int = integer(50, "Steps between checkpoints.", "nowhere", minimum=1, maximum=10**9)
    fail_at: int = integer(0, "Step at which it diverges.", "nowhere", minimum=0, maximum=10**9)


FAKE = AgentInfo(
    name="fake",
    title="Fake",
    summary="Learns nothing.",
    source="nowhere",
    controller="drl-cc",
    scope="host",
    default_recipe="none-of-that-name",
    config_class=FakeOptions,
    make_learner=lambda config, setup: pytest.fail("only a real training makes a learner"),
    controller_options=lambda config: {},
    min_paths=2,
)


def fake_config(folder: Path, *, steps: int = 100_000, resume: bool = False, **options: Any) -> TrainingConfig:
    """The configuration of a training by `fake_training` in this folder."""
    return TrainingConfig(
        agent="fake",
        scenario="format = 1",
        scenario_name="Two paths",
        steps=steps,
        seed=7,
        folder=str(folder),
        resume=resume,
        options=options,
    )


def register_fake_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets `subflow train fake` train by `fake_training`."""
    module = ModuleType("subflow_agents.fake")
    module.AGENT = FAKE  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(registry, "_AGENTS", {**registry._AGENTS, "fake": ("fake", "AGENT")})
    monkeypatch.setattr(training_worker, "TRAINER", TRAINER)
