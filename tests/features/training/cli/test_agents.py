"""The library of trained policies on the command line."""

from __future__ import annotations

from pathlib import Path

import platformdirs
import pytest
from tests.helpers.command_line import Subflow
from tests.helpers.policies import Plan, write_random_policy

CARD = {
    "scenario": "two-lossy-paths",
    "steps": 50_000,
    "evaluation": {
        "best_baseline": "lia",
        "controllers": [
            {
                "label": "mine",
                "ratio_to_best_baseline": 1.52,
                "goodput_bps": {"mean": 12.25e6, "ci95": 0.25e6},
                "jain": {"mean": 0.98765},
            }
        ],
    },
    "versions": {"torch": "2.13"},
}


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's library with a good policy and a broken one."""
    folder = tmp_path / "data" / "agents"
    folder.mkdir(parents=True)
    monkeypatch.setattr(platformdirs, "user_data_path", lambda *_args, **_options: folder.parent)
    write_random_policy(
        folder / "mine.safetensors", Plan("drl-cc", "lstm", "target", "action"), card=CARD, options={"epoch_time": 0.2}
    )
    (folder / "broken.safetensors").write_bytes(b"PK\x03\x04 from elsewhere")
    return folder


def test_the_library_is_listed(subflow: Subflow, library: Path) -> None:
    listed = {entry["name"]: entry for entry in subflow("agents", "--json").document}
    assert listed["mine"]["controller"] == "drl-cc"
    assert listed["mine"]["card"] == CARD
    assert listed["mine"]["path"] == str(library / "mine.safetensors")
    assert listed["mine"]["problem"] is None
    assert "zip archive" in listed["broken"]["problem"]
    text = subflow("agents").out
    assert "mine" in text
    assert {name: entry["kind"] for name, entry in listed.items() if name in ("mine", "drl-cc", "drl-cc-wide")} == {
        "mine": "own",
        "drl-cc": "as_printed",
        "drl-cc-wide": "variant",
    }
    assert "two-lossy-paths, 50 000 decisions, 1.52 × lia" in text
    assert listed["mine"]["content_hash"][:12] in text


def test_a_policy_shows_its_card(subflow: Subflow, library: Path) -> None:
    text = subflow("agents", "show", "mine").out
    assert text.startswith("mine: a policy for drl-cc\n")
    assert "Kind: not shipped with Subflow\n" in text
    assert "Actor: lstm of 10, then target of 3 slots: 31 -> 45 relu -> 3 tanh\n" in text
    assert "Sees: sending_rate, goodput, rtt, rtt_deviation, cwnd, is_mptcp, is_new; history 1\n" in text
    assert "  epoch time: 0.2\n" in text
    assert "  Learned on: two-lossy-paths\n" in text
    assert "    mine: 12.250 ± 0.250 Mbit/s, Jain 0.988\n" in text
    assert "  versions:\n    torch: 2.13\n" in text
    document = subflow("agents", "show", library / "mine.safetensors", "--json").document
    assert document["observation"]["history"] == 1
    assert document["options"] == {"epoch_time": 0.2}


@pytest.mark.parametrize(
    ("name", "reason"),
    [("nobody", "no policy of that name"), ("broken", "zip archive"), ("./no.safetensors", "no such file")],
)
@pytest.mark.usefixtures("library")
def test_a_policy_that_cannot_be_shown_says_why(subflow: Subflow, name: str, reason: str) -> None:
    subflow("agents", "show", name).check_refusal(reason)


@pytest.mark.usefixtures("library")
def test_a_run_takes_a_policy_of_the_library_and_keeps_its_hash(subflow: Subflow, scenario: Path) -> None:
    chosen = ("--set", "flows.download.controller=drl-cc", "--set", "flows.download.controller.policy=mine")
    document = subflow("run", scenario, "--no-store", "--json", *chosen).document
    (listed,) = [entry for entry in subflow("agents", "--json").document if entry["name"] == "mine"]
    (flow,) = [flow for flow in document["flows"] if flow["name"] == "download"]
    assert flow["policy"] == {"name": "mine", "content_hash": listed["content_hash"]}
    assert flow["controller_options"]["epoch_time"] == 0.2
    subflow("run", scenario, "--no-store", *chosen[:-1], "flows.download.controller.policy=yours").check_refusal(
        "no policy of that name", '"mine"'
    )


def test_no_policies_are_none(subflow: Subflow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subflow_app.features.catalog.core.catalog.shipped_policies", lambda: tmp_path / "nowhere")
    monkeypatch.setattr(platformdirs, "user_data_path", lambda *_args, **_options: tmp_path)
    assert subflow("agents").out == "no policies yet: `subflow train AGENT` makes one\n"
    assert subflow("agents", "--json").document == []
