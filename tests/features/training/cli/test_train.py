"""The command ``subflow train``: its output, its exit codes, and all errors found before a training."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.helpers.command_line import Answer, Subflow
from tests.helpers.fake_agent import register_fake_agent
from tests.helpers.members import for_each
from tests.helpers.present import present

from subflow_app.features.training.core.training import TrainingJob
from subflow_app.features.training.core.training_folder import living_process
from subflow_app.foundation import paths
from subflow_app.foundation.jobs.progress import JobState
from subflow_store import open_store

PATIENCE_S = 30.0


@pytest.fixture(autouse=True)
def fake_agent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    register_fake_agent(monkeypatch)
    monkeypatch.setattr(paths, "trainings_directory", lambda: tmp_path / "trainings")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def reports(answer: Answer) -> list[dict[str, Any]]:
    return [json.loads(line) for line in answer.out.splitlines()]


def test_each_report_is_a_line_of_json_and_the_last_one_the_result(
    subflow: Subflow, scenario: Path, database: Path, out: Path
) -> None:
    words = ("--scenario", scenario, "--steps", 60, "--seed", 5, "--out", out, "--db", database, "--name", "Mine")
    answer = subflow("train", "fake", *words, "--set", "links.wifi.loss=1%", "--set", "options.gamma=0.5").check()
    assert answer.err == ""
    told = reports(answer)
    assert [r["values"]["step"] for r in told if r["kind"] == "metrics"] == list(range(1, 61))
    result = told[-1]
    assert result["kind"] == "result"
    values = result["values"]
    assert (values["state"], values["step"], values["training_id"]) == ("finished", 60, 1)
    assert values["folder"] == str(out)
    config = json.loads((out / "config.json").read_text())
    assert (config["options"], config["seed"], config["steps"], config["minutes"]) == ({"gamma": 0.5}, 5, 60, None)
    assert 'loss = "1%"' in config["scenario"]
    assert "Two paths" in config["scenario"]
    with open_store(database, read_only=True) as store:
        row = store.trainings.get(1)
        assert (row.name, row.state, row.steps, row.folder) == ("Mine", "finished", 60, str(out))
        assert len(store.trainings.curve(1, "return_mean")) == 60


def test_without_a_folder_it_goes_to_the_data_directory(subflow: Subflow, scenario: Path, tmp_path: Path) -> None:
    answer = subflow("train", "fake", "--scenario", scenario, "--steps", 5, "--no-store").check()
    values = reports(answer)[-1]["values"]
    assert Path(values["folder"]).parent == tmp_path / "trainings"
    assert Path(values["folder"]).name.startswith("fake-")
    assert values["training_id"] is None


def test_the_command_line_comes_before_the_recipe(subflow: Subflow, scenario: Path, tmp_path: Path, out: Path) -> None:
    recipe = tmp_path / "mine.toml"
    recipe.write_text(
        f'format = 1\nagent = "fake"\nscenario = "{scenario.name}"\nminutes = 5\nseed = 3\n'
        '[options]\ngamma = 0.2\ncheckpoint_every = 7\n[set]\n"links.lte.delay" = "20ms"\n'
    )
    words = ("--recipe", recipe, "--steps", 10, "--set", "options.gamma=0.3", "--out", out, "--no-store")
    assert subflow("train", *words).code == 0
    config = json.loads((out / "config.json").read_text())
    # A budget of steps on the command line replaces the recipe's minutes.
    assert (config["steps"], config["minutes"], config["seed"]) == (10, None, 3)
    assert config["options"] == {"gamma": 0.3, "checkpoint_every": 7}
    assert 'delay = "20ms"' in config["scenario"]
    answer = subflow("train", "other", "--recipe", recipe, "--no-store")
    assert (answer.code, answer.err) == (2, "subflow: the recipe mine is for fake, not for other\n")


def test_a_training_that_diverges_can_go_on(subflow: Subflow, scenario: Path, database: Path, out: Path) -> None:
    words = ("--scenario", scenario, "--steps", 100, "--out", out, "--db", database, "--set", "options.fail_at=60")
    answer = subflow("train", "fake", *words)
    assert answer.code == 1
    assert "the training failed: q_mean is no longer a finite number at step 7" in answer.err
    assert f"continue with `subflow train --resume {out}`" in answer.err
    assert reports(answer)[-1]["values"]["state"] == "failed"


def test_it_goes_on_by_folder_or_with_the_newest(subflow: Subflow, scenario: Path, database: Path, out: Path) -> None:
    start = ("--scenario", scenario, "--out", out, "--db", database)
    assert subflow("train", "fake", *start, "--steps", 60).code == 0
    for begun, words in ((60, ["--resume", out]), (70, ["--resume", "--out", out]), (80, ["--resume"])):
        answer = subflow("train", "--db", database, "--steps", begun + 10, *words).check()
        told = [r["values"]["step"] for r in reports(answer) if r["kind"] == "metrics"]
        assert told == list(range(begun + 1, begun + 11)), words
        with open_store(database, read_only=True) as store:
            assert [(row.id, row.steps, row.state) for row in store.trainings.rows()] == [(1, begun + 10, "finished")]


# Errors are reported before any training, and leave no trace


@for_each(
    ("words", "problem"),
    [
        ([], "an agent is missing"),
        (["nobody", "--scenario", "FILE", "--steps", "5"], "agent: unknown agent 'nobody'"),
        (["fake", "--scenario", "FILE"], "budget: neither minutes nor steps are given"),
        (["fake", "--scenario", "FILE", "--steps", "0"], "steps: 0 is not acceptable"),
        (["fake", "--scenario", "FILE", "--minutes", "nan"], "minutes: nan is not acceptable"),
        (["fake", "--scenario", "FILE", "--steps", "5", "--seed", "1000000"], "seed: 1000000 is not acceptable"),
        (["fake", "--scenario", "FILE", "--steps", "5", "--num-envs", "0"], "num_envs: 0 is not acceptable"),
        (["fake", "--scenario", "FILE", "--steps", "5", "--episode", "0s"], '--episode = "0s": must be greater than 0'),
        (["fake", "--scenario", "FILE", "--steps", "5", "--eval-seeds", "x"], '"x" are not seeds'),
        (["fake", "--scenario", "FILE", "--steps", "5", "--eval-seeds", "1-3"], "evaluation_seeds: [1, 2, 3]"),
        (["fake", "--scenario", "none.toml", "--steps", "5"], "none.toml: no such scenario file"),
        (["fake", "--scenario", "FILE", "--steps", "5", "--set", "options.gama=1"], "options.gama: unknown option"),
        (
            ["fake", "--scenario", "FILE", "--steps", "5", "--set", "options.gamma=2"],
            "options.gamma: 2 is out of range",
        ),
        (["fake", "--scenario", "FILE", "--steps", "5", "--set", "options.gamma"], "not of the form KEY=VALUE"),
        (["fake", "--scenario", "FILE", "--steps", "5", "--set", "links.wifi.loss=200%"], "--set: links.wifi.loss"),
        (["fake", "--steps", "5"], "none-of-that-name: no such recipe file"),
        (["--recipe", "nothing"], "nothing: no such recipe file"),
        (["--resume", "none"], "none is not a folder of a training"),
        (["--resume", "--no-store"], "no training to continue"),
        (["fake", "--resume", "--seed", "3"], "AGENT and --seed with --resume: a training continues as it began"),
    ],
)
def test_bad_input_is_refused_before_anything_is_made(
    subflow: Subflow, scenario: Path, database: Path, tmp_path: Path, words: list[str], problem: str
) -> None:
    subflow("train", *(str(scenario) if word == "FILE" else word for word in words), "--db", database).check_refusal(
        problem
    )
    assert not (tmp_path / "trainings").exists()


def test_a_scenario_without_the_paths_of_the_agent_is_refused(subflow: Subflow, scenario: Path, out: Path) -> None:
    single = scenario.with_name("single.toml")
    single.write_text(scenario.read_text().replace('paths = [["wifi"], ["lte"]]', 'paths = [["wifi"]]'))
    words = ("--steps", 5, "--out", out, "--no-store")
    subflow("train", "fake", "--scenario", single, *words).check_refusal("flow 'download' has 1 path, and Fake needs 2")
    no_mptcp = scenario.with_name("tcp.toml")
    no_mptcp.write_text(single.read_text().replace('kind = "mptcp"', 'kind = "tcp"').replace('"lia"', '"cubic"'))
    subflow("train", "fake", "--scenario", no_mptcp, *words).check_refusal("mptcp")
    assert not out.exists()


def test_without_pytorch_it_stops(subflow: Subflow, scenario: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name, package=None: None)
    answer = subflow("train", "fake", "--scenario", scenario, "--steps", 5, "--out", out, "--no-store")
    assert answer.code == 1
    assert (
        'training needs torch and safetensors, which are not installed: pip install "subflow-workbench[train]"'
        in answer.err
    )


# Signals

PROGRAM = """
import sys
import pytest
from tests.helpers.fake_agent import register_fake_agent
register_fake_agent(pytest.MonkeyPatch())
from subflow_app.shell.commands import main
sys.exit(main())
"""


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGINT, 130),
        pytest.param(signal.SIGTERM, 143, marks=pytest.mark.full("another signal, the same way out")),
    ],
)
def test_signal_leaves_checkpoint(scenario: Path, database: Path, out: Path, number: signal.Signals, code: int) -> None:
    words = ["train", "fake", "--scenario", scenario, "--steps", 10**6, "--out", out, "--db", database]
    program = [sys.executable, "-c", PROGRAM, *map(str, words)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        lines = []
        for line in present(process.stdout):
            lines.append(line)
            if len(lines) == 20:
                process.send_signal(number)
        errors = present(process.stderr).read()
        assert process.wait() == code, errors
    result = json.loads(lines[-1])["values"]
    assert result["state"] == "stopped"
    assert f"continue with `subflow train --resume {out}`" in errors
    assert (out / f"checkpoint-{result['step']}.json").exists()
    assert living_process(out) is None


def test_resuming_training_of_others_is_watching(subflow: Subflow, scenario: Path, database: Path, out: Path) -> None:
    from subflow_app.features.training.core.training_setup import TrainingRequest, prepare

    config = prepare(TrainingRequest("fake", str(scenario), settings={"steps": 10**6}), out)
    job = TrainingJob(config, trainer="tests.helpers.fake_training")
    job.start()
    try:
        assert job.wait(PATIENCE_S, until=lambda: bool(job.metrics))
        before = {thread.name for thread in threading.enumerate()}
        program = [sys.executable, "-c", PROGRAM, "train", "--resume", str(out), "--db", str(database)]
        with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as viewer:
            assert json.loads(present(viewer.stdout).readline())["kind"] == "state"
            viewer.send_signal(signal.SIGINT)
            _, errors = viewer.communicate()
        assert viewer.returncode == 0
        assert f"it continues in process {job.pid}" in errors
        assert job.state is JobState.RUNNING
        assert {thread.name for thread in threading.enumerate()} == before
    finally:
        job.stop()
        assert job.wait(PATIENCE_S)


def test_a_real_agent_is_trained_and_what_it_learned_runs_in_any_scenario(
    subflow: Subflow, scenario: Path, database: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch", exc_type=ImportError)
    monkeypatch.undo()
    words = ("--scenario", scenario, "--out", out, "--db", database, "--num-envs", 2, "--eval-every", 40)
    budget = ("--steps", 60, "--eval-seeds", "1000000", "--baselines", "lia", "--set", "duration=5s")
    answer = subflow("train", "drl-cc", *words, *budget).check()
    result = reports(answer)[-1]["values"]
    assert (result["state"], result["step"] >= 60) == ("finished", True)
    assert {each["label"] for each in result["evaluation"]["controllers"]} == {"drl-cc", "lia"}
    with open_store(database, read_only=True) as store:
        row = store.trainings.get(1)
        assert (row.state, row.best_step is not None, len(row.policy_hash)) == ("finished", True, 64)
        assert store.trainings.evaluations(1)
    again = subflow("train", "--resume", out, "--steps", 80, "--db", database)
    assert again.code == 0, again.err
    assert reports(again)[-1]["values"]["step"] >= 80
    compared = subflow("evaluate", result["best"], "--scenario", scenario, "--seeds", 1, "--baselines", "lia", "--json")
    assert compared.code == 0, compared.err
    assert compared.document["controllers"][0]["goodput_bps"]["mean"] > 0


def test_the_command_line_and_the_services_import_no_torch() -> None:
    code = (
        "import sys, subflow_agents, subflow_app.shell.commands, subflow_app.features.training.core.training_service, "
        "subflow_app.features.training.core.training_setup, subflow_app.features.training.core.training_worker; "
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, env=os.environ, timeout=60).returncode == 0
