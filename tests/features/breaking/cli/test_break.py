"""The command ``subflow break``: lists, searches, files, and refused input."""

from __future__ import annotations

import json
from pathlib import Path

from tests.helpers.command_line import Subflow
from tests.helpers.members import for_each

from subflow_app.features.breaking.core.break_text import failure_words
from subflow_app.features.breaking.core.counterexample import named_counterexample, read_counterexample


def test_claims_and_spaces_are_listed(subflow: Subflow) -> None:
    result = subflow("break", "--list")
    assert result.code == 0
    assert "improve" in result.out
    assert "two-links" in result.out
    document = json.loads(subflow("break", "--list", "--json").out)
    assert {"improve", "pareto", "equals-newreno"} <= {each["name"] for each in document["claims"]}


def test_what_is_found_is_told_and_written(subflow: Subflow, tmp_path: Path) -> None:
    line = ("break", "no-slower", "--networks", "72", "--jobs", "1", "--db", str(tmp_path / "s.db"))
    result = subflow(*line, "--out", str(tmp_path / "found"))
    assert result.code == 0
    assert "over both paths lia takes" in result.out
    files = sorted((tmp_path / "found").glob("*.claim.toml"))
    assert files
    found = read_counterexample(files[0])
    assert found.says in result.out
    assert all(line in result.out for line in failure_words(found))
    assert subflow("run", str(files[0].with_name("no-slower-lia-1.toml")), "--no-store").code == 0
    again = json.loads(subflow(*line, "--json").out)
    assert again["networks"] == 72
    assert again["found"][0]["says"] == found.says
    assert again["found"][0]["claimed"] == found.claim.holds
    assert "where at most" in again["found"][0]["measured"]


def test_a_claim_of_ones_own_is_tried(subflow: Subflow) -> None:
    result = subflow(
        *("break", "goodput() >= 0.95 * goodput('newreno@best')", "--space", "demo", "--controller", "wvegas"),
        *("--vary", "links.wifi.rate=2Mbit/s..50Mbit/s", "--networks", "24", "--jobs", "1", "--no-store", "--json"),
    )
    assert result.code == 0
    document = json.loads(result.out)
    assert document["keys"] == ["links.wifi.rate"]
    assert document["claim"]["holds"] == "goodput() >= 0.95 * goodput('newreno-best')"


@for_each(
    ("line", "told"),
    [
        (("break",), "a claim is missing"),
        (("break", "improv"), 'did you mean "improve"?'),
        (("break", "improve", "--space", "nowhere"), "no such space of networks"),
        (("break", "improve", "--space", "demo"), "nothing in it varies"),
        (("break", "improve", "--controller", "nobody"), 'unknown controller "nobody"'),
        (("break", "improve", "--minutes", "0"), "--minutes 0"),
        (("break", "improve", "--networks", "0"), "--networks 0"),
        (("break", "goodput() > 3", "--space", "two-links"), "3 has no unit"),
        (("break", "goodput('nobody') > 3 Mbit/s", "--space", "two-links"), 'unknown controller "nobody"'),
        (("break", "improve", "--vary", "links.x.rate=1Mbit/s..2Mbit/s"), 'unknown link "x"'),
        (("break", "improve", "--vary", "links.a.rate"), "KEY=LOW..HIGH"),
        (("break", "improve", "--vary", "links.a.rate=2Mbit/s..50ms"), "the ends are of different kinds"),
        (
            ("break", "improve", "--space", "reno-sawtooth", "--vary", "links.access.rate=1Mbit/s..9Mbit/s"),
            "claims are about such flows",
        ),
    ],
)
def test_what_cannot_be_is_told(subflow: Subflow, line: tuple[str, ...], told: str) -> None:
    result = subflow(*line)
    assert result.code == 2
    assert told in result.err
    assert "Traceback" not in result.err


def test_a_counterexample_is_run_beside_what_keeps_the_claim_and_explained(subflow: Subflow, tmp_path: Path) -> None:
    result = subflow("break", "--explain", "improve-olia", "--db", str(tmp_path / "runs.db"))
    assert result.code == 0
    assert "run 1: olia; run 2: newreno on the best path" in result.out
    assert "They diverge at 3.41 s" in result.out
    assert "coupled = 0.00879705 pkt" in result.out
    path = tmp_path / "mine.toml"
    named_counterexample("improve-lia").write(tmp_path, "mine")
    document = json.loads(subflow("break", "--explain", str(path), "--no-store", "--json").out)
    assert document["parting"]["other"] == "newreno on the best path"
    assert document["decision"]["owner"] == document["parting"]["owner"]
    assert 0 <= document["parting"]["at_s"] - document["decision"]["time_s"] < 0.2
    path.write_text(path.read_text()[:200])
    for name, told in (("improv", 'did you mean "improve-'), (str(path), "duration: missing")):
        refused = subflow("break", "--explain", name, "--no-store")
        assert refused.code == 2
        assert told in refused.err
