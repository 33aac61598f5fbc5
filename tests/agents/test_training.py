from __future__ import annotations

import json
import os
import shutil
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.helpers.learning import SHORT
from tests.helpers.members import for_each
from tests.helpers.toy_env import LevelEnv

from subflow_agents import checkpoint as checkpoints
from subflow_agents import registry, training
from subflow_agents.checkpoint import load_checkpoint, load_latest, write_atomically
from subflow_agents.config import TrainingConfig
from subflow_agents.ddpg_options import DdpgConfig
from subflow_agents.errors import CheckpointError, ConfigError
from subflow_agents.registry import AgentInfo
from subflow_agents.reports import METRICS, Command, NoControl, Report, ReportKind, TrainingState
from subflow_agents.training import TrainingResult, run_training
from subflow_sim.vec_env import learner_spec

NOT_SHIPPED = pytest.mark.full("no policy that is shipped is trained so")
# An agent that the core supports, so that the core can read the policy file of a training.
SPEC = learner_spec("dql-mptcp")
OPTIONS = {"hidden": 8, "encoder": "lstm", "encoder_hidden": 4, "batch": 8, "warmup": 20, "replay": 500}


class Told:
    """Gives commands at chosen steps of the training, each once."""

    def __init__(self, **at: int) -> None:
        self.at = {Command(name): step for name, step in at.items()}
        self.reports: list[Report] = []
        self.polls: list[float] = []
        self.env: LevelEnv | None = None
        self.steps = 0

    def poll(self) -> Command:
        self.polls.append(time.monotonic())
        for command, step in self.at.items():
            if self.steps >= step:
                del self.at[command]
                return command
        return Command.NONE

    def report(self, report: Report) -> None:
        self.reports.append(report)

    def of(self, kind: ReportKind) -> list[dict]:
        return [report.values for report in self.reports if report.kind is kind]

    @property
    def states(self) -> list[str]:
        return [values["state"] for values in self.of(ReportKind.STATE)]


def use_toy(monkeypatch: pytest.MonkeyPatch) -> Told:
    """Replaces agent and environment of the registry by small ones."""
    told = Told()

    def make_environment(config: TrainingConfig, _options: object) -> LevelEnv:
        def count(env: LevelEnv) -> None:
            told.steps += env.num_envs

        told.env = LevelEnv(config.num_envs, spec=SPEC, seed=config.seed, on_step=count)
        return told.env

    def make_learner(config, setup):
        from subflow_agents.ddpg import DdpgLearner

        return DdpgLearner(config, setup, head="target")

    texts: dict[str, Any] = {"name": "toy", "title": "Toy", "summary": "", "source": "", "default_recipe": ""}
    info = AgentInfo(
        **texts,
        controller="dql-mptcp",
        scope="connection",
        config_class=DdpgConfig,
        make_learner=make_learner,
        controller_options=lambda _config: {"epoch_time": 0.05},
        make_environment=make_environment,
    )
    monkeypatch.setattr(training, "agent", lambda _name: info)
    monkeypatch.setattr(registry, "agent", lambda _name: info)
    return told


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    """Commands for a training of a toy agent, and its reports."""
    return use_toy(monkeypatch)


@dataclass(frozen=True)
class Whole:
    """A training without interruption; tests must not change its folder."""

    folder: Path
    told: Told
    result: TrainingResult


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as monkeypatch:
        told = use_toy(monkeypatch)
        return Whole(folder, told, run_training(config(folder), told, told.report))


def config(folder: Path, **changes) -> TrainingConfig:
    values = {"steps": 200, "num_envs": 3, "options": OPTIONS, "evaluation_every": 0, "deterministic": True, "seed": 5}
    return TrainingConfig(**{"agent": "toy", "scenario": "", "folder": str(folder), **values, **changes})


def final_tensors(folder: Path) -> dict[str, np.ndarray]:
    return load_latest(folder)[0].tensors


def assert_same(first: Path, second: Path) -> None:
    before, after = final_tensors(first), final_tensors(second)
    assert before.keys() == after.keys()
    for name, tensor in before.items():
        np.testing.assert_array_equal(tensor, after[name], err_msg=name)


def test_a_training_ends_when_its_budget_is_spent_and_leaves_what_it_promises(whole: Whole) -> None:
    folder, told, result = whole.folder, whole.told, whole.result

    assert result.state is TrainingState.FINISHED
    assert 200 <= result.step < 206
    assert result.updates == pytest.approx(result.step - 20, abs=3)
    assert told.states == ["starting", "running", "finished"]
    kept = {"config.json", "metrics.jsonl", f"checkpoint-{result.step}.safetensors", "policy.safetensors"}
    assert {path.name for path in folder.iterdir()} == kept
    assert TrainingConfig.from_json(json.loads((folder / "config.json").read_text())) == config(folder)
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert [line["kind"] for line in lines] == [report.kind.value for report in told.reports]
    metrics = told.of(ReportKind.METRICS)
    assert {name for values in metrics for name in values} <= {metric.name for metric in METRICS}
    assert metrics[-1]["episodes"] >= 6
    assert all(values.get("goodput_bps", 0) <= 1e6 for values in metrics)
    assert any("goodput_bps" in values for values in metrics)
    assert any("flow_goodput_bps" in values for values in metrics)


def test_a_policy_is_evaluated_once_and_the_remaining_time_covers_it(
    tmp_path: Path, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "REPORT_S", 0.0)
    changes = {"scenario": SHORT, "evaluation_every": 100, "evaluation_seeds": (1_000_000, 1_000_001)}
    result = run_training(config(tmp_path, baselines=("lia",), **changes), told, told.report)

    # The evaluation that is due at the end of the budget is also the last one.
    steps = [values["step"] for values in told.of(ReportKind.EVALUATION)]
    assert len(steps) == 2
    assert steps[-1] == result.step
    last = told.of(ReportKind.PROGRESS)
    assert {(values["step"], values["doing"]) for values in last} == {(result.step, "evaluating")}
    known = [values["eta_s"] for values in last if values["eta_s"] is not None]
    assert known[-1] <= known[0]
    kinds = [report.kind for report in told.reports]
    assert kinds.index(ReportKind.PROGRESS) > max(
        place for place, kind in enumerate(kinds) if kind is ReportKind.METRICS
    )


def test_the_policy_file_is_one_that_the_core_runs(whole: Whole) -> None:
    from subflow_sim.policy import Policy

    result = whole.result

    assert result.policy is not None
    policy = Policy.load(result.policy)
    assert policy.controller == "dql-mptcp"
    assert policy.options == {"epoch_time": 0.05}
    assert policy.card["steps"] == result.step
    action, value = policy.act(np.zeros((2, 6), np.float32), np.ones(2, np.bool_))
    assert np.abs(action).max() <= 1
    assert np.isfinite(value)
    assert whole.told.of(ReportKind.POLICY)[-1] == {"step": result.step, "path": str(result.policy)}


def test_two_trainings_of_a_seed_are_equal_and_of_two_seeds_are_not(tmp_path: Path, told: Told, whole: Whole) -> None:
    for name, seed in (("same", 5), ("other", 6)):
        run_training(config(tmp_path / name, seed=seed), told, told.report)

    assert_same(whole.folder, tmp_path / "same")
    first, other = final_tensors(whole.folder), final_tensors(tmp_path / "other")
    name = "learner.networks.actor.last.weight"
    assert not np.array_equal(first[name], other[name])


@pytest.mark.parametrize(
    "options",
    [
        {},
        pytest.param({"algorithm": "sac", "encoder": "pool"}, marks=NOT_SHIPPED),
        pytest.param({"algorithm": "td3", "encoder": "none", "prioritised": True}, marks=NOT_SHIPPED),
    ],
)
def test_a_training_that_was_stopped_goes_on_as_if_it_had_not_been(
    tmp_path: Path, told: Told, whole: Whole, options: dict
) -> None:
    given = {**OPTIONS, **options}
    straight = whole.folder
    if options:
        straight = tmp_path / "whole"
        run_training(config(straight, options=given), NoControl(), told.report)

    told.steps = 0
    told.at = {Command.STOP: 97}
    stopped = run_training(config(tmp_path / "parts", options=given), told, told.report)
    assert stopped.state is TrainingState.STOPPED
    assert 60 < stopped.step < 110
    told.steps = 0
    told.at = {Command.STOP: 45}
    resumed = config(tmp_path / "parts", options=given, resume=True)
    assert run_training(resumed, told, told.report).state is TrainingState.STOPPED
    result = run_training(resumed, NoControl(), told.report)

    assert result.state is TrainingState.FINISHED
    assert_same(straight, tmp_path / "parts")


def test_a_killed_training_goes_on_from_its_last_checkpoint(tmp_path: Path, told: Told, whole: Whole) -> None:
    class KilledError(Exception):
        pass

    def die(report: Report) -> None:
        if report.kind is ReportKind.CHECKPOINT:
            told.at = {Command.CHECKPOINT: 120}
            if report.values["step"] > 100:
                raise KilledError

    told.steps = 0
    told.at = {Command.CHECKPOINT: 60}
    with pytest.raises(KilledError):
        run_training(config(tmp_path / "parts"), told, die)
    kept = checkpoints.checkpoints(tmp_path / "parts")
    # The process died while it wrote the later checkpoint.
    kept[-1].write_bytes(kept[-1].read_bytes()[:5000])

    resumed = run_training(config(tmp_path / "parts", resume=True), NoControl(), told.report)

    assert resumed.state is TrainingState.FINISHED
    assert "cannot be read as a checkpoint" in "".join(values["why"] for values in told.of(ReportKind.STATE))
    assert_same(whole.folder, tmp_path / "parts")


def test_reports_counted_in_transitions_are_the_same_whenever_a_training_is_repeated_or_cut_off(
    tmp_path: Path, told: Told
) -> None:
    def steps_of(folder: Path) -> list[int]:
        read = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
        return [report["values"]["step"] for report in read if report["kind"] == ReportKind.METRICS]

    run_training(config(tmp_path / "whole", report_every=50), told, told.report)
    told.steps, told.at = 0, {Command.STOP: 120}
    parts = config(tmp_path / "parts", report_every=50)
    run_training(parts, told, told.report)
    run_training(replace(parts, resume=True), told, told.report)

    whole = steps_of(tmp_path / "whole")
    assert [step // 50 for step in whole] == [1, 2, 3, 4, 4], "at each multiple of 50 steps, and at the end"
    assert set(whole) <= set(steps_of(tmp_path / "parts"))


def test_pausing_stops_everything_within_a_tenth_of_a_second_until_it_is_resumed(tmp_path: Path, told: Told) -> None:
    told.at = {Command.PAUSE: 60}
    paused_at: list[tuple[float, int]] = []

    def report(news: Report) -> None:
        told.report(news)
        if news.values.get("state") == "paused":
            assert time.monotonic() - told.polls[-1] < 0.1
            paused_at.append((time.monotonic(), told.steps))

    original = told.poll

    def poll() -> Command:
        waited = bool(paused_at) and time.monotonic() - paused_at[0][0] > 0.3
        if waited and told.steps == paused_at[0][1]:  # the training has made no step
            told.at[Command.RESUME] = 0
        return original()

    told.poll = poll  # type: ignore[method-assign]
    begun = time.monotonic()
    result = run_training(config(tmp_path, steps=100), told, report)

    assert told.states == ["starting", "running", "paused", "running", "finished"]
    gaps = np.diff([moment for moment in told.polls if paused_at[0][0] <= moment <= paused_at[0][0] + 0.3])
    assert gaps.max() < 0.15  # 20 ms on an idle machine
    assert result.elapsed_s < time.monotonic() - begun - 0.25  # the pause does not count as training


def test_a_checkpoint_on_request_and_a_stop_while_paused(tmp_path: Path, told: Told) -> None:
    told.at = {Command.CHECKPOINT: 45, Command.PAUSE: 90, Command.STOP: 90}

    result = run_training(config(tmp_path), told, told.report)

    assert result.state is TrainingState.STOPPED
    saved = told.of(ReportKind.CHECKPOINT)
    assert len(saved) == 2
    assert 20 < saved[0]["step"] < 60
    assert Path(saved[0]["path"]).exists()


def test_it_takes_one_thread_as_two_would_wait_for_each_other(tmp_path: Path, told: Told) -> None:
    torch.set_num_threads(2)
    run_training(config(tmp_path / "one"), told, told.report)
    assert torch.get_num_threads() == 1


def test_only_the_last_two_checkpoints_stay(tmp_path: Path, told: Told) -> None:
    run_training(config(tmp_path, steps=60, checkpoint_minutes=1e-9), told, told.report)

    steps = [int(path.stem.partition("-")[2]) for path in checkpoints.checkpoints(tmp_path)]
    assert len(steps) == 2
    assert len({values["step"] for values in told.of(ReportKind.CHECKPOINT)}) > 10


def test_numbers_that_diverge_end_the_training_with_the_last_good_checkpoint(tmp_path: Path, told: Told) -> None:
    def report(news: Report) -> None:
        told.report(news)
        if news.kind is ReportKind.CHECKPOINT:
            assert told.env is not None
            original = told.env.recv

            def poisoned() -> None:
                original()
                assert told.env is not None
                told.env.reward[:] = np.nan

            told.env.recv = poisoned  # type: ignore[method-assign]

    told.at = {Command.CHECKPOINT: 90}
    result = run_training(config(tmp_path, steps=5000), told, report)

    assert result.state is TrainingState.FAILED
    failed = told.of(ReportKind.FAILED)[0]
    assert failed["error"] == "DivergenceError"
    assert failed["metric"] in ("action", "return_mean", "td_error")
    assert failed["checkpoint"] == str(result.checkpoint)
    assert result.checkpoint is not None
    for name, tensor in load_checkpoint(result.checkpoint).tensors.items():
        assert np.isfinite(tensor).all(), name


def test_a_full_disk_keeps_the_checkpoint_before(tmp_path: Path, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_handle: int) -> None:
        raise OSError(28, os.strerror(28))

    def report(news: Report) -> None:
        told.report(news)
        if news.kind is ReportKind.CHECKPOINT:
            monkeypatch.setattr(os, "fsync", full)
            told.at = {Command.CHECKPOINT: 0}

    told.at = {Command.CHECKPOINT: 60}
    result = run_training(config(tmp_path), told, report)

    assert result.state is TrainingState.FAILED
    assert "No space left on device" in result.error
    assert result.checkpoint is not None
    assert load_checkpoint(result.checkpoint).step > 20
    assert not list(tmp_path.glob(".*.part"))


def test_what_does_not_go_together_is_refused_before_anything_runs(tmp_path: Path, told: Told, whole: Whole) -> None:
    for given, error, message in (
        (config(tmp_path / "nothing", resume=True), CheckpointError, "no training to resume"),
        (config(tmp_path / "clock", minutes=1.0), ConfigError, "budget of time depends on the clock"),
        (config(whole.folder), ConfigError, "holds a training already"),
        (config(whole.folder, resume=True, seed=6), ConfigError, "seed: 6 is not .*; allowed: 5"),
    ):
        with pytest.raises(error, match=message):
            run_training(given, told, told.report)


def test_a_budget_of_time_ends_a_training(tmp_path: Path, told: Told) -> None:
    given = config(tmp_path, steps=None, minutes=0.005, deterministic=False)
    result = run_training(given, told, told.report)

    assert result.state is TrainingState.FINISHED
    assert 0.3 <= result.elapsed_s < 5


@for_each("content", [b"", b"\x80\x04\x95garbage like a pickle", (1 << 60).to_bytes(8, "little") + b"{}"])
def test_a_damaged_or_foreign_checkpoint_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "checkpoint-1.safetensors"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match="cannot be read"):
        load_checkpoint(path)


def test_a_file_of_another_kind_or_version_is_no_checkpoint(tmp_path: Path) -> None:
    from safetensors.numpy import save

    path = tmp_path / "checkpoint-1.safetensors"
    write_atomically(path, save({"a": np.zeros(2)}))
    with pytest.raises(CheckpointError, match="not a checkpoint of a training"):
        load_checkpoint(path)
    for description, says in (('{"format": 99}', "format 99"), ("[", "damaged"), ('{"format": 1}', "damaged")):
        write_atomically(path, save({"a": np.zeros(2)}, {"subflow_checkpoint": description}))
        with pytest.raises(CheckpointError, match=says):
            load_checkpoint(path)


def test_a_checkpoint_of_other_environments_is_refused(tmp_path: Path, told: Told, whole: Whole) -> None:
    folder = tmp_path / "changed"
    shutil.copytree(whole.folder, folder)
    saved, _, _ = load_latest(folder)
    saved.tensors["envs.length"] = saved.tensors["envs.length"][:2]
    checkpoints.save_checkpoint(folder, saved)
    result = run_training(config(folder, resume=True, steps=300), told, told.report)
    assert result.state is TrainingState.FAILED
    assert "environments" in result.error
