"""The command ``subflow replay``: the state of a run at a time of which nothing was recorded."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.helpers.command_line import Subflow
from tests.helpers.members import for_each

from subflow_app.features.explain.core.origin import StoredOrigin
from subflow_app.features.explain.core.replay import Replay
from subflow_app.foundation.settings import Settings, save_settings
from subflow_sim.scenario import load_scenario
from subflow_sim.simulation import Simulation
from subflow_store import Store


def test_the_state_is_that_of_the_run(
    subflow: Subflow, stored_run: dict[str, object], scenario: Path, database: Path
) -> None:
    answer = subflow("replay", stored_run["run_id"], "--at", "6.25s", "--packets", "--db", database, "--json")
    document = answer.document
    simulation = Simulation(load_scenario(scenario))
    simulation.run_until(6.25)
    now = simulation.inspect()

    assert answer.err == ""
    assert (document["run_id"], document["at_s"], document["now_s"], document["notice"]) == (1, 6.25, 6.25, "")
    queues = {link["name"]: link["queue_pkts"] for link in document["links"]}
    assert queues == dict(zip(now.links.names, now.links.queue_pkts.tolist(), strict=True))
    windows = {subflow["name"]: subflow["cwnd_pkts"] for subflow in document["subflows"]}
    assert list(windows) == list(now.subflows.names)
    assert windows["download/1"] == now.subflows.cwnd_pkts[0]
    assert windows["noise/1"] is None
    assert len(document["packets"]) == len(now.packets)
    # Every packet is on the wire or in a queue.
    on_wire = sum(link[f"wire_{kind}_pkts"] for link in document["links"] for kind in ("data", "ack", "datagram"))
    assert on_wire + int(now.links.queue_pkts.sum()) == len(now.packets)


def test_the_state_is_told_to_people(subflow: Subflow, stored_run: dict[str, object], database: Path) -> None:
    text = subflow("replay", "last", "--at", "6.25s", "--db", database).out

    assert text.startswith("run 1 at 6.250000000 s\n")
    for word in ("Subflows", "download/2", "open", "Links", "wifi/forward", "up", "Flows", "cross"):
        assert word in text


@for_each(
    ("words", "message"),
    [
        (["--at", "11s"], "run 1 is from 0 s to 10 s; 11 s is not in it"),
        (["--at", "soon"], '--at = "soon"'),
        (["--at", "1s", "--packets"], "--packets requires --json"),
    ],
)
def test_bad_input_is_told(
    subflow: Subflow, stored_run: dict[str, object], database: Path, words: list[str], message: str
) -> None:
    answer = subflow("replay", 1, *words, "--db", database)

    assert answer.code == 2
    assert message in answer.err
    assert answer.out == ""


def test_a_run_of_another_version(
    subflow: Subflow, scenario: Path, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("subflow_app.__version__", "0.0.1")
    subflow("run", scenario, "--db", database)
    monkeypatch.undo()
    assert subflow("replay", 1, "--at", "3s", "--db", database).err == ""

    # The simulator of this version computes another result.
    monkeypatch.setattr("subflow_sim.simulation.Simulation.signature", lambda _self: "0" * 16)
    answer = subflow("replay", 1, "--at", "3s", "--db", database, "--json")
    assert answer.code == 0
    assert answer.document["notice"] == answer.err.strip()
    assert "Version 0.0.1 made run 1; this one, " in answer.err


@pytest.mark.parametrize("command", [("replay", 1), ("explain", 1, "download/1")])
def test_the_memory_is_that_of_the_settings(
    subflow: Subflow,
    stored_run: dict[str, object],
    database: Path,
    command: tuple[str | int, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert stored_run["run_id"] == 1
    budgets: list[int] = []

    def stored(store: Store, run_id: int, *, budget_bytes: int) -> Replay:
        budgets.append(budget_bytes)
        return Replay(StoredOrigin.read(store, run_id), budget_bytes=budget_bytes)

    monkeypatch.setattr(Replay, "stored", stored)
    save_settings(Settings(replay_budget_mb=64))
    assert subflow(*command, "--at", "6.25s", "--db", database).code == 0
    assert budgets == [64 << 20]
