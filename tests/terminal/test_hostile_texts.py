"""Texts from outside that add lines to the output, reverse its direction, read other files, or are too large."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fuzz.entry_points import corpus
from tests.helpers.command_line import Subflow


def test_a_line_break_in_a_name_prints_no_verdict(subflow: Subflow, tmp_path: Path) -> None:
    """The name is "Zoe, First sawtooth: 0 of 9 steps", a line break, and "/results/bob.json: CONFIRMED: Bob"."""
    result = tmp_path / "zoe.json"
    result.write_bytes((corpus("lab-result") / "newline.json").read_bytes())
    answer = subflow("labs", "verify", result, "--no-rerun")
    assert not any(line.startswith("/results/bob.json") for line in answer.out.splitlines())
    assert r"steps\u000a/results/bob.json" in answer.out
    graded = subflow("labs", "class", tmp_path, "--csv", tmp_path / "class.csv")
    assert not any(line.startswith("/results/bob.json") for line in (graded.out + graded.err).splitlines())
    assert len((tmp_path / "class.csv").read_text().splitlines()) == 2


@pytest.mark.parametrize("turn", ["\u202e", "\u2066", "\u202a"])
def test_a_script_that_reads_otherwise_than_it_runs_is_refused(subflow: Subflow, tmp_path: Path, turn: str) -> None:
    path = tmp_path / "mine.py"
    from subflow_sim.script import SKELETONS

    path.write_text(SKELETONS["controller"] + f"# {turn}harmless\n", encoding="utf-8")
    answer = subflow("controllers", "check", path)
    line = SKELETONS["controller"].count("\n") + 1
    assert answer.code == 2
    assert f"{path}:{line}:3" in answer.out + answer.err
    assert "turns the direction of writing" in answer.out + answer.err
    assert turn not in answer.out + answer.err


def test_a_link_beside_a_scenario_leads_nowhere_else(subflow: Subflow, scenario: Path, tmp_path: Path) -> None:
    from subflow_sim.script import SKELETONS

    elsewhere, folder = tmp_path / "elsewhere", tmp_path / "from-others"
    elsewhere.mkdir()
    folder.mkdir()
    (elsewhere / "secret.py").write_text(SKELETONS["controller"])
    (folder / "own.py").symlink_to(elsewhere / "secret.py")
    text = scenario.read_text().replace('controller = "lia"', 'controller = "own"')
    (folder / "a.toml").write_text(text + '\n[controllers.own]\nscript = "own.py"\n')
    subflow("run", folder / "a.toml", "--no-store").check_refusal(
        "is a link to a file outside of the scenario's folder"
    )
    (folder / "own.py").unlink()
    (folder / "inside.py").write_text(SKELETONS["controller"])
    (folder / "own.py").symlink_to("inside.py")
    assert "outside of" not in subflow("run", folder / "a.toml", "--no-store").err


@pytest.mark.parametrize(
    ("folder", "file", "name", "told"),
    [
        ("gml", "graph-speed.gml", "a.gml", "line 1: a rate that is read from LinkSpeed and its unit"),
        ("trace", "trace-overflow.csv", "a.up", "line 3: rate_mbps is 7e+307"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_numbers_that_their_units_make_too_large_are_refused(
    subflow: Subflow, scenario: Path, folder: str, file: str, name: str, told: str
) -> None:
    path = scenario.with_name(name)
    path.write_bytes((corpus(folder) / file).read_bytes())
    if folder == "gml":
        answer = subflow("import", path)
    else:
        rate = 'rate = "8Mbit/s"'
        assert rate in scenario.read_text()
        scenario.write_text(scenario.read_text().replace(rate, f'rate = {{ trace = "{name}" }}', 1))
        answer = subflow("run", scenario, "--no-store")
    assert answer.code == 2
    assert told in answer.err.replace("a.gml:1", "line 1")
