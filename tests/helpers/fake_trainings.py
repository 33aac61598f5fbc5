"""Trainings that learn nothing: a desk with trainings under control of the test, with curves and a policy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from subflow_agents import Command
from subflow_app.features.training.core.policy_surface import Feature, Observations, PolicyOutput, SeenPolicy
from subflow_app.features.training.core.training_draft import (
    DOCUMENT,
    AgentChoice,
    DocumentText,
    RecipeChoice,
    TrainingChoices,
    TrainingOrder,
)
from subflow_app.features.training.core.training_grounds import TrainingGrounds
from subflow_app.features.training.core.training_progress import Comparison, Training
from subflow_app.features.training.core.training_service import ServedTraining
from subflow_app.features.training.core.trainings import Trainings
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.jobs.progress import JobState
from subflow_sim.params import Dimension, Param
from subflow_sim.stats import Estimate

AGENTS = (
    AgentChoice(
        "drl-cc",
        "DRL-CC",
        "One agent sets the windows of all connections of a host.",
        "Xu et al., IEEE JSAC 2019",
        "drl-cc",
        "drl-cc",
        (
            Param("gamma", Dimension.NUMBER, "Discount of later rewards.", default=0.9, minimum=0.0, maximum=1.0),
            Param("batch", Dimension.COUNT, "Transitions of an update.", default=64, minimum=1, maximum=4096),
            Param("twin", Dimension.FLAG, "Two critics, the lesser one counts.", default=False),
            Param("encoder", Dimension.CHOICE, "How subflows are read.", default="lstm", choices=("lstm", "pool")),
        ),
    ),
    AgentChoice(
        "rl-explore",
        "RL-explore",
        "A single path learns when to probe for more.",
        "Zhang et al., 2021",
        "rl-explore",
    ),
)
RECIPES = (
    RecipeChoice(
        "drl-cc",
        "drl-cc",
        "Five downloads over two paths",
        "drlcc-sc1",
        {"steps": 50_000, "seed": 3, "options.gamma": 0.8},
    ),
)
FEATURES = (
    Feature("sending_rate", "", "Rate over the best one seen", 0.0, 1.0),
    Feature("rtt", "", "RTT over the least one seen, less one", 0.0, 4.0),
    Feature("cwnd", "", "Window, logarithmic", -1.0, 1.0),
)
OUTPUT = PolicyOutput("window_change", "", -1.0, 1.0)


class FakePolicy:
    """Acts on two features: increases the window at a low rate, decreases it at a high RTT."""

    def __init__(self, slope: float = 1.0) -> None:
        self.slope = slope

    def act_many(
        self, rows: NDArray[np.float32], acting: NDArray[np.bool_], mask: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        raw = self.slope * (1.2 - 1.6 * rows[..., 0] - 0.8 * rows[..., 1])
        action = np.where(acting, np.tanh(raw), 0.0).astype(np.float32)[..., None]
        return action, np.zeros(len(rows), np.float32)


def observations(count: int = 200) -> Observations:
    """Typical observations of the policy: two subflows, of which the second acts occasionally."""
    rng = np.random.default_rng(1)
    rate = rng.beta(4, 3, (count, 2)).astype(np.float32)
    rtt = (0.3 + 1.5 * rate**3 + 0.2 * rng.random((count, 2))).astype(np.float32)
    rows = np.stack([rate, rtt, rng.normal(0.0, 0.3, (count, 2)).clip(-1, 1)], axis=2).astype(np.float32)
    acting = np.ones((count, 2), np.bool_)
    acting[:, 1] = np.arange(count) % 2 == 0
    return Observations(rows, np.ones((count, 2), np.bool_), acting)


_STATES = {Command.PAUSE: JobState.PAUSED, Command.RESUME: JobState.RUNNING, Command.STOP: JobState.STOPPED}


class FakeDesk(Trainings):
    """Trainings without processes; changes by a test appear at the next poll."""

    def __init__(self, folder: Path, *, agents: tuple[AgentChoice, ...] = AGENTS) -> None:  # no thread of a service
        self.folder = folder
        self.agents = agents
        self.calls: list[tuple[str, str]] = []
        self.orders: list[tuple[TrainingOrder, DocumentText]] = []
        self.promoted: list[tuple[str, str, str]] = []
        self.refusal: Exception | None = None
        self.observed = 0
        self.is_closed = False
        self.policy = FakePolicy()
        self._trainings: list[Training] = []
        self._is_changed = False

    # --- actions of a test ---

    def add(self, state: JobState = JobState.RUNNING, *, name: str = "", agent: str = "drl-cc") -> Training:
        number = len(self._trainings) + 1
        training = Training(
            id=str(number),
            name=name or f"{agent} {number}",
            agent=agent,
            controller=agent,
            scenario="drlcc-sc1",
            seed=number,
            budget="50 000 decisions",
            folder=self.folder / str(number),
            state=state,
            grounds=TrainingGrounds("drlcc-sc1", families=("all",), families_share=0.5),
        )
        assert training.folder is not None
        training.folder.mkdir(parents=True)
        self._trainings.insert(0, training)
        self._is_changed = True
        return training

    def report(self, training: Training, **metrics: float) -> None:
        """Adds a report of metrics."""
        training.log.add(metrics)
        training.fraction = metrics.get("step", 0.0) / 50_000
        training.remaining_s = metrics.get("eta_s", math.nan)
        self._is_changed = True

    def learn(self, training: Training, reports: int = 200, *, level: float = 3.2e6, rng: int = 1) -> None:
        """Adds plausible curves of the given number of reports, with evaluations."""
        random = np.random.default_rng(rng)
        for number in range(1, reports + 1):
            done = number / reports
            grown = 1.0 - math.exp(-4.0 * done)
            self.report(
                training,
                step=250.0 * number,
                elapsed_s=1.1 * number,
                updates=240.0 * number,
                return_mean=-1.0 + 1.6 * grown + random.normal(0, 0.08),
                flow_goodput_bps=level * (0.45 + 0.55 * grown) + random.normal(0, 1e5),
                rtt_inflation=1.8 - 0.4 * grown,
                rtt_s=0.05 * (1.8 - 0.4 * grown),
                loss_ratio=0.02,
                jain=0.97,
                td_error=0.4 * math.exp(-3 * done) + 0.05 + abs(random.normal(0, 0.01)),
                q_mean=2.0 * grown + random.normal(0, 0.05),
                actor_saturation=0.1 + 0.5 * done**2,
                updates_per_s=440.0,
                steps_per_s=450.0,
                eta_s=float(reports - number),
            )
            if number % max(1, reports // 5) == 0:
                self.compare(training, level * (0.45 + 0.55 * grown) * 1.02)

    def compare(self, training: Training, goodput_bps: float) -> None:
        classics = {"lia": 2.05e6, "olia": 2.0e6, "balia": 1.9e6, "wvegas": 1.1e6}
        training.comparisons.append(
            Comparison(
                training.log.latest("step"),
                training.log.latest("elapsed_s"),
                Estimate(goodput_bps, 1.2e5),
                {name: Estimate(mean, 6e4) for name, mean in classics.items()},
                0.98,
                {
                    name: {
                        "goodput_bps": Estimate(mean, 6e4),
                        "rtt_s": Estimate(0.08, 0.004),
                        "loss_ratio": Estimate(0.012, 0.001),
                        "jain": Estimate(0.98, 0.01),
                    }
                    for name, mean in {training.agent: goodput_bps, **classics}.items()
                },
                {"reward": 0.5, "goodput": 1.5, "delay": -0.2, "loss": -0.8},
            )
        )
        self._is_changed = True

    def write_policy(self, training: Training, slope: float = 1.0) -> None:
        assert training.folder is not None
        (training.folder / "policy.safetensors").write_bytes(b"no policy, but there")
        self.policy = FakePolicy(slope)
        training.policy_version += 1
        self._is_changed = True

    def set_state(self, training: Training, state: JobState, message: str = "") -> None:
        training.state, training.message = state, message
        self._is_changed = True

    # --- interface of the page ---

    def choices(self) -> TrainingChoices:
        return TrainingChoices(self.agents, RECIPES, ("drlcc-sc1", "t-2link"))

    def scenario_text(self, scenario: DocumentText | str) -> str:
        return scenario.text if isinstance(scenario, DocumentText) else ""

    def trainings(self) -> Sequence[Training]:
        return self._trainings

    def poll(self) -> bool:
        changed, self._is_changed = self._is_changed, False
        return changed

    def start(self, order: TrainingOrder, document: DocumentText) -> Training:
        if self.refusal is not None:
            raise self.refusal
        self.orders.append((order, document))
        scenario = document.title if order.scenario == DOCUMENT else order.scenario
        training = self.add(JobState.STARTING, name=f"{order.agent} on {scenario}", agent=order.agent)
        training.scenario = scenario
        return training

    def tell(self, training: Training, command: Command) -> None:
        self._call(command.value, training, _STATES.get(command, training.state))

    def go_on(self, training: Training) -> bool:
        if training.message == "no checkpoint":
            raise InputError(f"{training.name} has no checkpoint to continue from")
        self._call("go_on", training, JobState.STARTING)
        return training.message == "no checkpoint yet"

    def load_log(self, training: Training) -> None:
        self._call("load_log", training, training.state)

    def observe(self, training: Training) -> SeenPolicy:
        self.observed += 1
        return SeenPolicy(self.policy, FEATURES, (OUTPUT,), observations())

    def promote(self, training: Training, name: str, note: str) -> Path:
        self.promoted.append((training.id, name, note))
        return self.folder / f"{name}.safetensors"

    def policy_names(self) -> Sequence[str]:
        return ["drl-cc", *(name for _id, name, _note in self.promoted)]

    def leave_running(self) -> None:
        self.calls.append(("leave_running", ""))

    def stop_all(self) -> None:
        self.calls.append(("stop_all", ""))
        for training in self._trainings:
            if not training.state.is_over:
                self.set_state(training, JobState.STOPPED)

    @property
    def is_busy(self) -> bool:
        return any(not training.state.is_over for training in self._trainings)

    def close(self, *, keep: bool = True, timeout_s: float = 30.0) -> list[ServedTraining]:
        self.is_closed = True
        return []

    def _call(self, name: str, training: Training, state: JobState) -> None:
        self.calls.append((name, training.id))
        self.set_state(training, state)
