"""The commands ``subflow run --decisions`` and ``subflow explain``: the reasons of controllers and schedulers."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from tests.helpers.command_line import Subflow
from tests.helpers.members import for_each
from tests.helpers.scripts import write_scenario


@pytest.fixture
def decided(subflow: Subflow, scenario: Path, database: Path) -> Path:
    """A database whose run 1 has all its decisions."""
    answer = subflow("run", scenario, "--db", database, "--decisions", "--set", "duration=4s")
    assert answer.code == 0, answer.err
    return database


def test_recording_changes_nothing_that_is_printed(subflow: Subflow, scenario: Path, database: Path) -> None:
    plain = subflow("run", scenario, "--db", database, "--json").document
    recorded = subflow("run", scenario, "--db", database, "--json", "--decisions").document

    for document in (plain, recorded):
        for key in ("wall_s", "run_id"):
            document.pop(key)
    assert recorded == plain


def test_a_window_is_explained_with_its_rule(subflow: Subflow, decided: Path) -> None:
    words = ("explain", 1, "download/1", "--at", "3.5s", "--db", decided)
    document = subflow(*words, "--json").document
    text = subflow(*words).out

    decision = document["decision"]
    assert (document["run_id"], document["owner"], document["at_s"]) == (1, "download/1", 3.5)
    assert 3.0 < decision["time_s"] <= 3.5
    assert decision["scope"] == "subflow"
    for name in ("rule", "formula", "source"):
        assert decision[name]
        assert decision[name] in text
    assert decision["cwnd_after_pkts"] > 0
    assert document["previous"] == document["next"] == []
    for rule in decision["computed"]:
        assert f"computed {rule['result']} = {rule['expression']} = " in text
    # The story comes first: the cause in the network, the notice of the sender, and the rule.
    story = decision["story"]
    assert text.startswith(story["title"])
    assert [step["kind"] for step in story["steps"]] == ["cause", "noticed", "rule"]
    details = text[text.index("\ndownload/1 at ") :].strip().splitlines()
    assert len(details) <= 4 + len(decision["numbers"])  # a line for each number, with its meaning


@pytest.mark.parametrize("kept", [(), ("--decisions",)])
def test_a_loss_is_explained_and_its_halving_is_computed(
    subflow: Subflow, database: Path, kept: tuple[str, ...]
) -> None:
    short = ("--set", "duration=2s", "--set", "warmup=0s")
    assert subflow("run", "reno-sawtooth", "--db", database, *short, *kept).code == 0

    # The first loss of congestion avoidance, of 169 packets in pipe and queue.
    words = ("explain", 1, "reno/1", "--at", "1.424724096s", "--db", database)
    text = subflow(*words).out
    decision = subflow(*words, "--json").document["decision"]

    assert "reno/1 at 1.424724096 s, third duplicate ACK: cwnd 168.992 -> 84.4959 pkt" in text
    assert "computed cwnd = ssthresh = max(168.992 / 2, 2) = 84.4959 pkt" in text
    assert (decision["cause"], decision["detection"]) == ("loss", "duplicate_acks")


def test_a_schedulers_choice_is_explained_with_whom_it_passed_over(subflow: Subflow, decided: Path) -> None:
    decision = subflow("explain", "last", "download", "--at", "3.5s", "--db", decided, "--json").document["decision"]

    assert decision["scope"] == "flow"
    assert decision["chosen"] in decision["available"]
    assert set(decision["available"]) <= set(decision["usable"]) == {1, 2}


def test_neighbours_follow_one_another(subflow: Subflow, decided: Path) -> None:
    words = ("explain", 1, "cross/1", "--at", "2s", "--previous", 3, "--next", 2, "--db", decided)
    document = subflow(*words, "--json").document
    text = subflow(*words).out

    told = [*document["previous"], document["decision"], *document["next"]]
    assert (len(document["previous"]), len(document["next"])) == (3, 2)
    times = [decision["time_s"] for decision in told]
    assert times == sorted(times)
    assert document["decision"]["time_s"] <= 2.0 < document["next"][0]["time_s"]
    # Each window begins at the value with which the previous decision ended.
    for earlier, later in pairwise(told):
        assert later["cwnd_before_pkts"] == pytest.approx(earlier["cwnd_after_pkts"])
    positions = [text.index(f"cross/1 at {time_s:.9f} s") for time_s in times]
    assert positions == sorted(positions)


def test_show_tells_that_there_are_decisions(subflow: Subflow, decided: Path, scenario: Path) -> None:
    text = subflow("show", 1, "--db", decided).out
    assert "decisions of download/1, " in text
    assert "subflow explain 1 OWNER --at TIME" in text
    extents = subflow("show", 1, "--db", decided, "--json").document["decisions"]
    assert extents.keys() == {"download/1", "download/2", "cross/1", "download"}
    assert all(extent["count"] > 10 for extent in extents.values())

    subflow("run", scenario, "--db", decided, "--set", "duration=3s")
    assert "decisions" not in subflow("show", 2, "--db", decided).out
    assert "decisions" not in subflow("show", 2, "--db", decided, "--json").document


def test_a_window_keeps_the_end(subflow: Subflow, scenario: Path, database: Path) -> None:
    words = ("run", scenario, "--db", database, "--decision-window", "500ms", "--set", "duration=4s")
    assert subflow(*words).code == 0
    extents = subflow("show", 1, "--db", database, "--json").document["decisions"]

    assert all(3.5 <= extent["first_s"] <= extent["last_s"] <= 4.0 for extent in extents.values())
    assert subflow("explain", 1, "download/1", "--at", "3.9s", "--db", database).code == 0
    # Older decisions are found by simulating again.
    answer = subflow("explain", 1, "download/1", "--at", "2s", "--db", database)
    assert answer.code == 0
    assert "simulated again" in answer.err


def test_an_estimate_counts_a_window_of_decisions(subflow: Subflow, scenario: Path) -> None:
    plain, streamed, kept = (
        subflow("run", scenario, "--estimate", *words).out
        for words in (["--no-store"], ["--decisions", "--no-store", "--export", "x"], ["--decision-window", "5s"])
    )

    # Each call measures the speed of the machine anew.
    plain, streamed = (
        re.sub(r"[0-9.]+ m?s (of processor time|on this machine)", r"\1", text) for text in (plain, streamed)
    )
    assert plain == streamed
    assert "decisions at most" in kept
    assert "decisions" not in plain


@pytest.mark.usefixtures("no_figures")
def test_decisions_can_be_exported(subflow: Subflow, decided: Path, scenario: Path, tmp_path: Path) -> None:
    subflow("export", 1, "--db", decided, "--out", tmp_path / "stored")
    words = ("--set", "duration=4s", "--decisions", "--no-store", "--export", tmp_path / "unstored")
    assert subflow("run", scenario, *words).code == 0

    stored, unstored = (tmp_path / name / "decisions.csv" for name in ("stored", "unstored"))
    assert stored.read_text() == unstored.read_text()
    assert stored.read_text().startswith("time_s,owner,cause,rule,cwnd_before_pkts,")
    assert (tmp_path / "stored" / "decision_rules.json").exists()


@for_each(
    ("words", "message"),
    [
        (["download/1", "--at", "9s"], "run 1 is from 0 s to 4 s"),
        (["download/1", "--at", "-1s"], "-1 s is not in it"),
        (["download/1", "--at", "soon"], '--at = "soon"'),
        (["download/3", "--at", "1s"], "allowed: download/1, "),
        (["noise", "--at", "1s"], 'no decisions of "noise"'),
        (["--at", "2s"], "give a subflow (download/1), a flow (download), or --agent"),
        (["--agent", "--at", "2s"], "none of its controllers learns"),
    ],
)
def test_what_cannot_be_explained_is_bad_input(subflow: Subflow, decided: Path, words: list[str], message: str) -> None:
    answer = subflow("explain", 1, *words, "--db", decided)

    assert answer.code == 2
    assert message in answer.err
    assert answer.out == ""


def test_a_run_without_decisions_is_simulated_again(
    subflow: Subflow, decided: Path, scenario: Path, tmp_path: Path
) -> None:
    plain = tmp_path / "plain.db"
    assert subflow("run", scenario, "--db", plain, "--set", "duration=4s").code == 0
    words = ("download/1", "--at", "3.5s", "--previous", 2, "--next", 1)
    recorded = subflow("explain", 1, *words, "--db", decided, "--json")
    again = subflow("explain", 1, *words, "--db", plain, "--json")

    assert recorded.err == ""
    assert again.err.startswith("Run 1 ")
    assert "decisions" in again.err
    assert recorded.document | {"is_resimulated": True, "notice": again.err.strip()} == again.document
    assert subflow("explain", 1, *words, "--db", plain).out == subflow("explain", 1, *words, "--db", decided).out


def test_the_lines_of_a_script_are_told_with_their_numbers(subflow: Subflow, database: Path, tmp_path: Path) -> None:
    assert subflow("run", write_scenario(tmp_path), "--db", database, "--decisions").code == 0
    words = ("explain", 1, "f/1", "--at", "0.2s", "--db", database)
    answer = subflow(*words)
    decision = subflow(*words, "--json").document["decision"]

    assert "lines that scripts execute" in answer.err
    assert f"  line 6    left = slow_start(w, ack) = {decision['lines'][0]['result'][2:]}\n" in answer.out
    assert "  line 7    w.cwnd += gain * left / w.cwnd: " in answer.out
    assert decision["script"] == "mine"
    assert [line["line"] for line in decision["lines"]] == [6, 7]
    assert {step["name"] for step in decision["steps"]} >= {"w.cwnd", "left", "gain", "ack.acked"}
    assert decision["steps"][-1]["value"] == pytest.approx(decision["cwnd_after_pkts"])


@for_each(
    ("words", "told"),
    [
        (("--decisions", "--no-store"), "--export"),
        *((("--decision-window", window), f'--decision-window = "{window}"') for window in ("0s", "-1s", "long")),
    ],
)
def test_what_cannot_be_recorded_is_refused(
    subflow: Subflow, scenario: Path, words: tuple[str, ...], told: str
) -> None:
    answer = subflow("run", scenario, *words)

    assert answer.code == 2
    assert told in answer.err


def test_a_run_whose_controllers_do_not_learn_has_no_agents(subflow: Subflow, decided: Path) -> None:
    words = ("show", 1, "--agent-steps", "--db", decided)
    assert subflow(*words, "--json").document["agents"] == []
    assert "learning agent" not in subflow(*words).out
