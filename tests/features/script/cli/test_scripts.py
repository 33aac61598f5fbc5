"""Own controllers and schedulers, from the first line of a script to its runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.helpers.command_line import Subflow
from tests.helpers.members import for_each
from tests.helpers.scripts import CONTROLLER, SCENARIO, SCHEDULER, write_scenario

from subflow_app.features.arena.core import results
from subflow_sim.catalog import controllers


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("kind", ["controller", "scheduler"])
def test_a_script_is_begun_checked_and_run(subflow: Subflow, kind: str) -> None:
    begun = subflow(f"{kind}s", "new", "my-own")
    assert begun.code == 0
    text = Path("my-own.py").read_text(encoding="utf-8")
    assert text.count("#") > 2
    assert "my-own: " in text

    checked = subflow(f"{kind}s", "check", "my-own.py")
    assert (checked.code, checked.err) == (0, "")
    assert checked.out.startswith(f"my-own.py: no problems ({kind}")

    table = begun.out[begun.out.index("[") :].split("\n\n")[0]
    plain = SCENARIO[: SCENARIO.index("[controllers.mine]")] + SCENARIO[SCENARIO.index("[flows.f]") :]
    plain = (
        plain[: plain.index("[[events]]")].replace('{ name = "mine", gain = 2 }', '"lia"').replace("nearest", "minrtt")
    )
    Path("scenario.toml").write_text(f"{plain}{table}\n", encoding="utf-8")
    ran = subflow("run", "scenario.toml", "--set", f"flows.f.{kind}=my-own", "--no-store", "--json")
    assert ran.code == 0, ran.err
    assert ran.document["flows"][0][kind] == "my-own"
    assert ran.document["flows"][0]["goodput_bps"] > 1e6


def test_nothing_is_written_over(subflow: Subflow) -> None:
    Path("mine.py").write_text("what I wrote")
    answer = subflow("controllers", "new", "mine")
    assert answer.code == 2
    assert answer.err == "subflow: mine.py already exists; it stays unchanged\n"
    assert Path("mine.py").read_text() == "what I wrote"


@for_each("name", ["lia", "../mine", "mine.py", "", "a b"])
def test_a_name_that_no_script_can_have_writes_nothing(subflow: Subflow, folder: Path, name: str) -> None:
    subflow("controllers", "new", name).check_refusal(name)
    assert list(folder.iterdir()) == []


def test_all_that_is_wrong_is_told_as_compilers_do(subflow: Subflow) -> None:
    Path("a.py").write_text("x = nobody\ndef on_ack(w, ack):\n    w.cwnd += nobody\n")
    Path("b.py").write_text(SCHEDULER)
    answer = subflow("controllers", "check", "a.py", "b.py", "c.py")
    assert answer.code == 2
    assert [line.split(": ")[0] for line in answer.err.splitlines()] == ["a.py:1:5", "a.py:3:15", "subflow"]
    assert answer.out == "b.py: no problems (scheduler)\n"
    answer = subflow("controllers", "check", "a.py", "b.py", "c.py", "--json")
    assert answer.code == 2
    first, second, third = answer.document
    problem = first["problems"][0]
    assert (first["file"], first["kind"], problem["line"], problem["column"]) == ("a.py", "controller", 1, 5)
    assert problem["end_column"] > problem["column"]
    assert second == {"file": "b.py", "kind": "scheduler", "error": "", "problems": []}
    assert "cannot be read" in third["error"]


@for_each(
    ("content", "told"),
    [
        (b"# one\n\xff\xfe", "line 2: not UTF-8"),
        (b"x = 1\n\0", "bad.py"),
        (b"\0" * 10_000_000, "too large for a script; allowed: 64 kB"),
        (b"\x1b[31m red\n", "bad.py:1:"),
        (b"", "bad.py:1:"),
        (b"(" * 60_000, "bad.py:"),
        (b"import os\nos.remove('scenario.toml')\n", "bad.py:1:1: "),
    ],
)
def test_what_is_no_script_is_told(subflow: Subflow, content: bytes, told: str) -> None:
    Path("scenario.toml").write_text("here")
    Path("bad.py").write_bytes(content)
    answer = subflow("controllers", "check", "bad.py")
    answer.check_refusal(told)
    assert not re.search("Traceback|\x1b", answer.err)
    assert Path("scenario.toml").exists()


def test_a_folder_is_no_script(subflow: Subflow) -> None:
    Path("folder.py").mkdir()
    answer = subflow("schedulers", "check", "folder.py")
    assert (answer.code, "Is a directory" in answer.err) == (2, True)


def test_names_and_commands_stand_side_by_side(subflow: Subflow) -> None:
    assert subflow("controllers", "--json", "lia").document == subflow("controllers", "lia", "--json").document
    listed = subflow("controllers", "--json").document
    assert {each.name for each in controllers()} <= {each["name"] for each in listed}
    slip = subflow("controllers", "chekc", "mine.py")
    assert slip.code == 2
    assert "check" in slip.err


def test_a_sweep_compares_a_script_with_what_is_built_in(subflow: Subflow, folder: Path) -> None:
    write_scenario(folder)
    words = ("--axis", "flows.f.controller=lia,mine", "--set", "events=[]", "--seeds", "1", "--jobs", "1", "--json")
    swept = subflow("sweep", "scenario.toml", *words, "--db", "runs.subflow")
    assert swept.code == 0, swept.err
    text = subflow("show", "last", "--json", "--db", "runs.subflow")
    assert text.code == 0
    for file in ("mine.py", "nearest.py", "scenario.toml"):
        Path(file).unlink()
    replayed = subflow("replay", "last", "--at", "1s", "--db", "runs.subflow")
    assert replayed.code == 0, replayed.err
    forked = subflow("fork", "last", "--at", "1s", "--set", "flows.f.controller=mine", "--db", "runs.subflow")
    assert forked.code == 0, forked.err


def test_a_script_meets_others_in_the_arena_and_in_evaluations(subflow: Subflow, folder: Path) -> None:
    write_scenario(folder)
    contest = ("--family", "slow", "--numbers", "1", "--jobs", "1", "--no-store", "--json")
    answer = subflow("arena", "--controllers", "lia,mine.py,mine.py:gain=3", *contest).check()
    names = {each["controller"] for each in answer.document["standings"]}
    assert names == {"lia", "mine", "mine:gain=3"}

    words = ("--scenario", "scenario.toml", "--set", "events=[]", "--seeds", "1-1", "--baselines", "lia", "--json")
    answer = subflow("evaluate", "mine", *words).check()
    assert {each["controller"] for each in answer.document["controllers"]} == {"lia", "mine"}


def test_what_a_script_stands_decides_on_the_exit_code(subflow: Subflow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "QUICK_NUMBERS", range(1, 2))
    Path("newreno.py").write_text(CONTROLLER)  # named like a built-in controller
    stands = subflow("controllers", "check", "newreno.py", "--conformance")
    assert (stands.code, stands.err) == (0, "")
    lines = stands.out.splitlines()
    assert lines[0].startswith("newreno.py: no problems")
    assert [line[:4] for line in lines[1:]] == ["  ✓ "] * 7
    assert lines[-1].startswith("  ✓ how does it score in the arena? score -")

    Path("mine.py").write_text(SCHEDULER.replace("s.is_available", "s.is_available and s.cwnd < 0"))
    Path("wrong.py").write_text("def on_ack(w, ack):\n    nonsense\n")
    answer = subflow("schedulers", "check", "mine.py", "--conformance", "--json")
    assert answer.code == 1
    (document,) = answer.document
    assert {each["check"]: each["verdict"] for each in document["conformance"]}["loss"] == "fail"
    assert subflow("controllers", "check", "wrong.py", "mine.py", "--conformance").code == 2


def test_a_script_is_converted_to_cpp(subflow: Subflow) -> None:
    subflow("controllers", "new", "my-own")
    converted = subflow("controllers", "convert", "my-own.py", "--to", "cpp")
    assert converted.code == 0
    assert "class MyOwn {" in converted.out
    assert "OptionInfo{" in converted.out
    Path("wrong.py").write_text("def on_ack(w, ack):\n    w.cwnd += ack.nothing\n", encoding="utf-8")
    refused = subflow("controllers", "convert", "wrong.py", "--to", "cpp")
    assert refused.code == 2
    assert "wrong.py:2:15: ack has no nothing" in refused.err
    subflow("schedulers", "new", "my-turn")
    refused = subflow("controllers", "convert", "my-turn.py", "--to", "cpp")
    assert refused.code == 2
    assert '"my-turn" is a scheduler' in refused.err
    assert subflow("controllers", "convert", "my-own.py", "--to", "rust").code == 2
