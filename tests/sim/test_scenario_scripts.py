"""Scripts of a scenario: the place where each is read, its problems, and the script that runs."""

from __future__ import annotations

import os
import pickle
from dataclasses import replace
from pathlib import Path

import pytest
from tests.helpers.members import for_each
from tests.helpers.scripts import CONTROLLER, SCENARIO, SCHEDULER, write_scenario

from subflow_sim.catalog import catalog, catalog_of, resolved
from subflow_sim.errors import Problem, ScenarioError
from subflow_sim.scenario import load_scenario, parse_scenario
from subflow_sim.scenario_model import ScriptFile
from subflow_sim.scenario_reader import read_change
from subflow_sim.script import MAX_SCRIPT_BYTES
from subflow_sim.script_reader import shipped_scripts
from subflow_sim.simulation import Simulation
from subflow_sim.training import Distribution


def _problems(path: Path, old: str = "", new: str = "", overrides: tuple[str, ...] = ()) -> list[Problem]:
    """Problems of the scenario after the replacement of a text."""
    text = path.read_text()
    assert text.count(old) >= 1
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(text.replace(old, new, 1), file="s.toml", folder=path.parent, overrides=overrides)
    return list(caught.value.problems)


def _line(text: str) -> int:
    return SCENARIO[: SCENARIO.index(text)].count("\n") + 1


def test_flows_and_events_choose_scripts_with_their_options(tmp_path: Path) -> None:
    scenario = load_scenario(write_scenario(tmp_path))
    mine = ScriptFile("mine", "controller", CONTROLLER)
    flow = scenario.flows["f"]
    assert scenario.scripts == (mine, ScriptFile("nearest", "scheduler", SCHEDULER))
    assert (flow.controller.name, flow.controller.options, flow.controller.script) == ("mine", {"gain": 2.0}, mine)
    assert flow.scheduler.script == scenario.scripts[1]
    (event,) = scenario.events
    assert event.controller is not None
    assert (event.controller.options, event.controller.script) == ({"gain": 1.0}, mine)


def test_a_scenario_offers_its_scripts_behind_what_is_built_in(tmp_path: Path) -> None:
    scenario = load_scenario(write_scenario(tmp_path))
    known = catalog_of(scenario)
    assert [each.name for each in known.controllers] == [*(each.name for each in catalog().controllers), "mine"]
    assert known.schedulers[-1].name == "nearest"
    assert known.controllers[-1].summary == "So many packets more per round trip, half the window on loss"
    assert "mine" in known.controllers_for(is_multipath=True)
    assert "mine" in known.controllers_for(is_multipath=False)
    assert "mine" in known.successors(scenario.flows["f"].controller, is_multipath=True)
    assert "mine" not in known.learners


def test_what_a_script_is_called_and_what_it_says_is_all_that_a_process_needs(tmp_path: Path) -> None:
    scenario = load_scenario(write_scenario(tmp_path))
    assert pickle.loads(pickle.dumps(scenario)) == scenario
    choice = scenario.flows["f"].controller
    assert resolved(choice, "textbook").options == {"gain": 2.0}


def test_a_script_runs_and_the_same_text_gives_the_same_run(tmp_path: Path) -> None:
    path = write_scenario(tmp_path)
    signatures = set()
    for text in (path.read_text(), path.read_text().replace('"mine.py"', '"other.py"')):
        (tmp_path / "other.py").write_text(CONTROLLER.replace("\n", "\r\n"), newline="")
        simulation = Simulation(parse_scenario(text, folder=tmp_path))
        simulation.run_until(3.0)
        signatures.add(simulation.signature())
        assert simulation.summary()["flows"][0]["goodput_bps"] > 5e6
    assert len(signatures) == 1


def test_a_run_that_goes_on_changes_to_a_script_of_its_scenario(tmp_path: Path) -> None:
    scenario = load_scenario(write_scenario(tmp_path))
    table = {"at": "2s", "flow": "f", "controller": {"name": "mine", "gain": 3}}
    changed = Simulation(scenario)
    declared = Simulation(replace(scenario, events=(*scenario.events, read_change(scenario, table))))
    changed.run_until(2.0)
    changed.apply(read_change(scenario, table))
    for simulation in (changed, declared):
        simulation.run_until(3.0)
    assert changed.signature() == declared.signature()


def test_all_problems_of_a_script_are_told_at_once_and_those_who_choose_it_say_nothing(tmp_path: Path) -> None:
    path = write_scenario(tmp_path)
    (tmp_path / "mine.py").write_text("x = absent\n\ndef on_ack(w, ack):\n    w.cwnd += absent\n")
    problems = _problems(path, "gain = 2", "nonsense = 2")
    assert {(problem.key, problem.line) for problem in problems} == {
        ("controllers.mine.script", _line('script = "mine.py"'))
    }
    # Scripts that no flow uses are read as well.
    assert _problems(path, 'controller = { name = "mine", gain = 2 }', 'controller = "lia"')[:2] == problems
    assert [problem.message.partition(": ")[0] for problem in problems] == [
        '"mine.py" line 1, column 5',
        '"mine.py" line 4, column 15',
    ]


@for_each(
    ("old", "new", "key", "message", "allowed"),
    [
        ('"mine.py"', '"no.py"', "controllers.mine.script", '"no.py" cannot be read: No such file', "folder"),
        ('"mine.py"', '"../mine.py"', "controllers.mine.script", "not within the folder", "in the scenario's folder"),
        ('"mine.py"', '"/mine.py"', "controllers.mine.script", "not within the folder", "in the scenario's folder"),
        ('"mine.py"', "'C:\\mine.py'", "controllers.mine.script", "not within the folder", "in the scenario's folder"),
        ('"mine.py"', '"no\\u0000.py"', "controllers.mine.script", "contains a control character", "text"),
        ('"mine.py"', '"no-such-script"', "controllers.mine.script", "no script of that name ships", "beside"),
        ('"mine.py"', '"."', "controllers.mine.script", "no script of that name ships", "beside"),
        ('"mine.py"', '"folder.py"', "controllers.mine.script", "Is a directory", "in the scenario's folder"),
        ('"mine.py"', '"pipe.py"', "controllers.mine.script", "not a regular file", "in the scenario's folder"),
        ('"mine.py"', '"large.py"', "controllers.mine.script", "too large", "64 kB"),
        ('"mine.py"', '"binary.py"', "controllers.mine.script", "line 2: not UTF-8", "UTF-8"),
        ('"mine.py"', '"null.py"', "controllers.mine.script", "not the text of a script", "null characters"),
        ('"mine.py"', '"english.py"', "controllers.mine.script", "line 1", ""),
        ('"mine.py"', '"empty.py"', "controllers.mine.script", "line 1", ""),
        ('"mine.py"', '"nearest.py"', "controllers.mine.script", "a scheduler, not a controller", "[schedulers.mine]"),
        ('"mine.py"', '"option.py"', "controllers.mine.script", "policy", ""),
        ('"mine.py"', "3", "controllers.mine.script", "a whole number", "text in quotes"),
        ('script = "mine.py"', "", "controllers.mine.script", "missing", "text"),
        ('"mine.py"', '"mine.py"\ncontent = 3', "controllers.mine.content", "a whole number", "lines of a script"),
        ('"mine.py"', '"mine.py"\ntext = "x"', "controllers.mine.text", "unknown key", '"script" or "content"'),
        ("[controllers.mine]", '[controllers."m y"]', 'controllers."m y"', "not a name", "letters"),
        ("[controllers.mine]", "[controllers.lia]", "controllers.lia", "built in", '"my-lia"'),
        ("[schedulers.nearest]", "[schedulers.minrtt]", "schedulers.minrtt", "built in", '"my-minrtt"'),
        ("gain = 2", "gain = 11", "flows.f.controller.gain", "too large", "from 0 to 10"),
        ("gain = 2", 'gain = "2 s"', "flows.f.controller.gain", "", "number"),
        ("gain = 2", "gian = 2", "flows.f.controller.gian", 'did you mean "gain"', "gain"),
        ('controller = "mine"', 'controller = "mien"', "events[0].controller", 'did you mean "mine"', '"mine"'),
        ('controller = "mine"', 'controller = "nearest"', "events[0].controller", "unknown controller", '"mine"'),
        ('"mine"\n', '{ name = "uncoupled", base = "mine" }\n', "events[0].controller.base", "no scripts as", "mine"),
    ],
)
def test_what_cannot_be_is_told(tmp_path: Path, old: str, new: str, key: str, message: str, allowed: str) -> None:
    path = write_scenario(tmp_path)
    (tmp_path / "folder.py").mkdir()
    os.mkfifo(tmp_path / "pipe.py")
    with (tmp_path / "large.py").open("wb") as file:
        file.truncate(10_000_000)
    (tmp_path / "binary.py").write_bytes(b"# one\n\xff\xfe\x00")
    (tmp_path / "null.py").write_bytes(b"# one\nx = 1\x00\n")
    (tmp_path / "english.py").write_text("Take more, then less.\n")
    (tmp_path / "empty.py").write_text("")
    (tmp_path / "option.py").write_text(CONTROLLER.replace("gain", "policy"))
    told = [problem for problem in _problems(path, old, new) if problem.key == key]
    assert any(message in problem.message and allowed in problem.allowed for problem in told), told


def test_a_script_without_a_folder_cannot_be_found() -> None:
    with pytest.raises(ScenarioError, match="this scenario has no folder"):
        parse_scenario(SCENARIO)


def _embedded(text: str) -> str:
    return f"\"mine.py\"\ncontent = '''\n{text}'''"


def test_the_content_counts_and_needs_no_file(tmp_path: Path) -> None:
    path = write_scenario(tmp_path)
    tripled = CONTROLLER.replace("option(1,", "option(3,")
    (tmp_path / "mine.py").unlink()
    scenario = parse_scenario(path.read_text().replace('"mine.py"', _embedded(tripled)), folder=tmp_path)
    assert scenario.scripts[0].text == tripled
    assert scenario.events[0].controller is not None
    assert scenario.events[0].controller.options == {"gain": 3.0}
    problems = _problems(path, '"mine.py"', '"mine.py"\ncontent = "x = absent"')
    assert [problem.message.partition(": ")[0] for problem in problems] == ["line 1, column 5"]
    (long,) = _problems(path, '"mine.py"', _embedded(tripled.replace("max(", "absent + max(")))
    assert long.value == '"\\"\\"\\"So many packets more per round trip, half the window…'
    assert "too large" in _problems(path, '"mine.py"', _embedded("#" * (MAX_SCRIPT_BYTES + 1)))[0].message


def test_another_file_cannot_be_set_where_the_content_counts(tmp_path: Path) -> None:
    path = write_scenario(tmp_path)
    text = path.read_text()
    (tmp_path / "other.py").write_text(CONTROLLER.replace("option(1,", "option(3,"))
    other = parse_scenario(text, folder=tmp_path, overrides=["controllers.mine.script=other.py"])
    assert "option(3," in other.scripts[0].text
    path.write_text(text.replace('"mine.py"', _embedded(CONTROLLER)))
    (problem,) = _problems(path, overrides=("controllers.mine.script=other.py",))
    assert (problem.file, problem.key) == ("--set", "controllers.mine.script")
    assert "has the content of this script" in problem.message


def test_too_many_scripts_are_refused(tmp_path: Path) -> None:
    path = write_scenario(tmp_path)
    many = "".join(f'[controllers.c{number}]\nscript = "mine.py"\n' for number in range(101))
    (problem,) = _problems(path, "[flows.f]", f"{many}[flows.f]")
    assert problem.message == "102 scripts are too many"


def test_episodes_of_training_need_no_files(tmp_path: Path) -> None:
    path = write_scenario(tmp_path)
    path.write_text(path.read_text() + '[training.draws]\n"links.x.rate" = { uniform = ["2Mbit/s", "8Mbit/s"] }\n')
    scenario = load_scenario(path)
    for file in ("mine.py", "nearest.py"):
        (tmp_path / file).unlink()
    assert Distribution.from_scenario(scenario).draw(1, 0, 0).scripts == scenario.scripts


@for_each("name", sorted(shipped_scripts()))
def test_scripts_that_ship_are_named_without_a_file(name: str) -> None:
    text = SCENARIO.replace("mine.py", name).replace('{ name = "mine", gain = 2 }', '"mine"')
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(text)
    assert {problem.key for problem in caught.value.problems} <= {"schedulers.nearest.script"} | (
        {"controllers.mine.script"} if "def select" in shipped_scripts()[name].read_text() else set()
    )
