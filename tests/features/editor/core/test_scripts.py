"""Scripts of a scenario that is being edited: found, read, written, and added to it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.helpers.members import for_each
from tests.helpers.scripts import CONTROLLER, SCHEDULER, write_scenario

from subflow_app.features.editor.core.scenario_doc import Change, ScenarioDoc
from subflow_app.features.editor.core.scripts import (
    ScriptPlace,
    flows_for,
    free_name,
    new_place,
    scripts_of,
    with_new_script,
)
from subflow_app.foundation.errors import InputError


def test_scripts_are_found_whatever_else_is_wrong(tmp_path: Path) -> None:
    doc = ScenarioDoc.open(write_scenario(tmp_path))
    doc.set_value("links.x.rate", "nonsense")
    (tmp_path / "mine.py").write_text("nonsense")
    mine, nearest = scripts_of(doc.data, tmp_path)
    assert (mine.kind, mine.name, mine.key, mine.path) == (
        "controller",
        "mine",
        "controllers.mine",
        tmp_path / "mine.py",
    )
    assert mine.read() == "nonsense"
    assert (nearest.kind, nearest.read()) == ("scheduler", SCHEDULER)


def test_a_text_that_the_scenario_holds_has_no_file(tmp_path: Path) -> None:
    place = ScriptPlace("controller", "mine", "mine.py", tmp_path, "a\r\nb\n")
    assert place.path is None
    assert not place.is_shipped
    assert place.read() == "a\nb\n"


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.py"):
        ScriptPlace("controller", "mine", "gone.py", tmp_path).read()
    with pytest.raises(InputError, match="no folder"):
        ScriptPlace("controller", "mine", "gone.py").read()


def test_a_new_script_of_a_file_is_a_file_beside_it(tmp_path: Path) -> None:
    doc = ScenarioDoc.open(write_scenario(tmp_path))
    place = new_place("controller", "yours", doc.data, tmp_path)
    doc.apply(with_new_script(doc.text, place, CONTROLLER, ("f",)))
    assert (tmp_path / "yours.py").read_text() == CONTROLLER
    assert doc.problems == ()
    assert doc.scenario is not None
    assert doc.scenario.flows["f"].controller.name == "yours"
    assert "content" not in doc.text
    # The comment of the other one stays.
    assert "# my own" in doc.text


def test_a_new_script_of_no_file_is_in_the_scenario() -> None:
    doc = ScenarioDoc.new()
    flows = flows_for(doc.data)
    place = new_place("scheduler", "nearest", doc.data, None)
    doc.apply(with_new_script(doc.text, place, SCHEDULER, flows))
    assert doc.problems == ()
    (there,) = scripts_of(doc.data, None)
    assert there.read() == SCHEDULER
    assert doc.scenario is not None
    assert {flow.scheduler.name for flow in doc.scenario.flows.values()} == {"nearest"}

    told: list[Change] = []
    doc.subscribe(told.append)
    doc.set_script(there.key, SCHEDULER + "# more\n")
    assert scripts_of(doc.data, None)[0].read() == SCHEDULER + "# more\n"
    assert [(change.kind, change.keys) for change in told] == [("script", ("schedulers.nearest",))]


def test_a_file_that_was_written_is_read_again(tmp_path: Path) -> None:
    doc = ScenarioDoc.open(write_scenario(tmp_path))
    scripts_of(doc.data, tmp_path)[0].write(CONTROLLER.replace("max=10", "max=1"))
    assert doc.is_valid
    doc.set_script("controllers.mine", None)
    assert [problem.key for problem in doc.problems] == ["flows.f.controller.gain"]


@for_each(
    ("name", "told"),
    [
        ("newreno", "built in"),
        ("mine", "already"),
        ("a b", "is not a name"),
        ("", "is not a name"),
        ("old", "already exists"),
    ],
)
def test_names_that_cannot_be_are_told(tmp_path: Path, name: str, told: str) -> None:
    doc = ScenarioDoc.open(write_scenario(tmp_path))
    (tmp_path / "old.py").write_text("somebody else's")
    with pytest.raises(InputError, match=told):
        new_place("controller", name, doc.data, tmp_path)
    assert (tmp_path / "old.py").read_text() == "somebody else's"


def test_a_name_that_is_taken_gets_a_number(tmp_path: Path) -> None:
    doc = ScenarioDoc.open(write_scenario(tmp_path))
    assert free_name("controller", "mine", doc.data, tmp_path) == "mine-2"
    assert free_name("scheduler", "other", doc.data, tmp_path) == "other"


def test_flows_that_send_datagrams_have_no_scripts() -> None:
    data = {"flows": {"a": {"kind": "cbr"}, "b": {"kind": "tcp"}, "c": "nonsense", "d": {}}}
    assert flows_for(data) == ("b", "d")
