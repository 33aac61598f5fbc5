"""The command ``subflow fork`` repeats a run with changes from a given time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.helpers.command_line import Subflow
from tests.helpers.members import for_each

LOSSIER = ("--at", "5s", "--set", "links.wifi.loss=5%")


def test_a_fork_tells_its_change(subflow: Subflow, stored_run: dict[str, Any], database: Path, scenario: Path) -> None:
    document = subflow("fork", 1, *LOSSIER, "--db", database, "--json").document

    assert (document["run_id"], document["status"]) == (2, "finished")
    assert document["signature"] != stored_run["signature"]
    fork = document["fork"]
    assert (fork["parent_run_id"], fork["parent_name"], fork["at_s"]) == (1, "Two paths", 5.0)
    assert fork["changes"] == [{"link": "wifi", "loss": "5%", "before": {"loss": "0.1%"}}]
    assert (fork["difference"], fork["past_is_same"]) == ("wifi loss 0.1 % → 5 %", True)
    compared = document["compared"]
    assert (compared["from_s"], compared["until_s"]) == (5.0, 10.0)
    goodput = next(each for each in compared["figures"] if (each["owner"], each["name"]) == ("download", "goodput_bps"))
    assert 0 < goodput["fork"] < goodput["original"]

    shown = subflow("show", 2, "--db", database, "--json").document
    assert shown["fork"] == {key: document["fork"][key] for key in shown["fork"]}
    assert subflow("show", 1, "--db", database, "--json").document["forks"] == [2]
    assert "fork" not in subflow("show", 1, "--db", database, "--json").document


def test_without_a_change_a_fork_is_the_run(subflow: Subflow, stored_run: dict[str, Any], database: Path) -> None:
    answer = subflow("fork", "last", "--at", "5s", "--db", database, "--no-store", "--json")
    assert (answer.code, answer.document["signature"]) == (0, stored_run["signature"])
    assert answer.document["run_id"] is None
    assert len(subflow("runs", "--db", database, "--json").document) == 1


def test_people_read_when_what_and_by_how_much(subflow: Subflow, stored_run: dict[str, Any], database: Path) -> None:
    text = subflow("fork", 1, *LOSSIER, "--db", database, "--name", "Lossy", "--tag", "lab").out
    assert "fork of run 1, from 5 s: wifi loss 0.1 % → 5 %; compared until 10 s:" in text
    row = next(line for line in text.splitlines() if line.startswith("download ") and "Goodput" in line)
    assert row.split()[-1].startswith("−")

    shown = subflow("show", 2, "--db", database).out
    assert "run 2: Lossy (Two paths)" in shown
    assert "tags: lab" in shown
    assert "fork of run 1 (Two paths) from 5 s: wifi loss 0.1 % → 5 %" in shown
    assert "forked as run 2 from 5 s" in subflow("show", 1, "--db", database).out
    subflow("runs", "delete", 1, "--db", database)
    subflow("runs", "purge", "--db", database)
    assert "fork of a run that is not stored (Two paths) from 5 s" in subflow("show", 2, "--db", database).out


@for_each(
    ("words", "told"),
    [
        ("1 --at 10s", "run 1 cannot be forked at 10 s; allowed: from 0 s to before its end at 10 s"),
        ("1 --at soon", '--at = "soon": this is not a number with a unit'),
        ("1 --at 5s --set links.wifi.loss=5", '"links.wifi.loss=5": too large, did you mean "5%"?; allowed: a ratio'),
        ("1 --at 5s --set flows.noise.open=false", "a cbr flow has no subflows to close"),
        ("7 --at 5s --set links.wifi.loss=5%", "7"),
    ],
)
def test_bad_input_runs_nothing(
    subflow: Subflow, stored_run: dict[str, Any], database: Path, words: str, told: str
) -> None:
    answer = subflow("fork", *words.split(), "--db", database, "--json")
    assert (answer.code, answer.out) == (2, "")
    assert told in answer.err
    assert len(subflow("runs", "--db", database, "--json").document) == 1
