"""The option ``--agents`` of ``subflow reproduce``: both columns, their counts, and errors."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.features.gallery.core.test_columns import RECIPE
from tests.features.gallery.core.tiny import write_tiny
from tests.helpers.command_line import Subflow
from tests.helpers.shipped_policies import use_printed


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    use_printed(monkeypatch, tmp_path / "shipped")
    text = RECIPE.replace("> goodput(", "> 0.1 * goodput(").partition("[variants")[0]
    return write_tiny(tmp_path, "\n".join(line for line in text.splitlines() if not line.startswith("cause =")))


def test_both_columns_are_run_and_counted_apart(subflow: Subflow, tiny: Path, database: Path, tmp_path: Path) -> None:
    command = ("reproduce", tiny, "--db", database, "--jobs", 1)
    both = subflow(*command, "--agents", "both")
    assert both.code == 0, both.err
    assert "2 experiments: 8 runs" in both.err
    lines = both.out.splitlines()
    assert any(line.startswith("tiny (wide) ") for line in lines)
    printed, agents, wide, wide_agents = lines[-4:]
    assert printed.startswith("1 experiment: ")
    assert printed.endswith("3 claim holds")
    assert agents == "agents as printed: 2 of 2 checks that rest on an agent are met"
    assert wide == "agents with wider training: 1 experiment: 2 claim holds"
    assert wide_agents == "agents with wider training: 2 of 2 checks that rest on an agent are met"

    document = subflow(*command, "--agents", "both", "--json").document
    assert document["columns"] == [
        {"paper": "rl-explore", "agents": "printed", "checks": 3, "met": 3, "agent_checks": 2, "agent_met": 2},
        {"paper": "rl-explore", "agents": "wide", "checks": 2, "met": 2, "agent_checks": 2, "agent_met": 2},
    ]
    assert document["counts"]["claim holds"] == 3
    one, other = document["experiments"]
    assert [(each["id"], each["agents"], each["reused"]) for each in (one, other)] == [
        ("tiny", "printed", 4),
        ("tiny", "wide", 4),
    ]
    assert [verdict["uses_agent"] for verdict in one["verdicts"]] == [True, False, True]
    means = {each["series"]: each["mean"] for each in other["values"]}
    assert means["Named"] == means["Even"] != one["values"][1]["mean"]

    usual = subflow(*command, "--json").document
    assert (usual["counts"], len(usual["columns"])) == (document["counts"], 1)
    wide_only = subflow(*command, "--agents", "wide", "--json").document
    assert wide_only["counts"]["claim holds"] == 2

    page = subflow(*command[:-2], "--page", "--agents", "both", "--out", tmp_path / "pages", "--json").document
    assert page["experiments"] == ["tiny", "tiny (wide)"]
    written = Path(page["files"][0]).read_text(encoding="utf-8")
    assert "RL-explore, agents with wider training" in written


def test_experiments_are_listed_by_column(subflow: Subflow) -> None:
    listed = subflow("reproduce", "rl-explore", "--agents", "both", "--list", "--json").document
    assert [each["id"] for each in listed if each["agents"] == "wide"] == [
        *("rl-explore-fig3", "rl-explore-fig5", "rl-explore-fig6", "rl-explore-fig7", "rl-explore-tab1"),
    ]
    assert sum(each["agents"] == "printed" for each in listed) == 8
    assert "rl-explore-fig3 (wide)" in subflow("reproduce", "rl-explore-fig3", "--agents", "wide", "--list").out


def test_a_wrong_column_is_refused(subflow: Subflow) -> None:
    answer = subflow("reproduce", "rl-explore", "--agents", "broad")
    assert (answer.code, "--agents broad: allowed: printed, wide or both" in answer.err) == (2, True)
    answer = subflow("reproduce", "rl-explore-fig1", "--agents", "wide")
    told = "no agent of these experiments has a policy with wider training: rl-explore-fig1"
    assert (answer.code, told in answer.err) == (2, True)
