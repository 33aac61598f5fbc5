"""Scripts of scenarios in the app: kept with stored runs, offered in forms, written to files, and added to texts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.helpers.members import for_each
from tests.helpers.present import present
from tests.helpers.scripts import CONTROLLER, SCENARIO, SCHEDULER, write_scenario

from subflow_app.features.catalog.core.catalog import app_catalog
from subflow_app.features.editor.core.flow_draft import FlowDraft
from subflow_app.features.editor.core.form import FormField, form_for
from subflow_app.features.editor.core.scenario_doc import Change, ScenarioDoc
from subflow_app.features.editor.core.scenario_source import open_scenario, with_contents
from subflow_app.features.editor.core.scripts import (
    ScriptPlace,
    add_script,
    flows_for,
    free_name,
    new_place,
    open_script,
    script_table,
    scripts_of,
    with_new_script,
    write_script,
)
from subflow_app.features.traces.core.scenario_hash import scenario_hash
from subflow_app.features.traces.core.traces import stored_condition
from subflow_app.foundation.errors import InputError
from subflow_sim.catalog import catalog
from subflow_sim.scenario import load_scenario, parse_scenario

PLAIN = SCENARIO[: SCENARIO.index("[controllers.mine]")] + SCENARIO[SCENARIO.index("[flows.f]") :]


def _field(doc: ScenarioDoc, key: str) -> FormField:
    form = present(form_for(doc, ".".join(key.split(".")[:2]), catalog()))
    return next(field for field in form.fields() if field.key == key)


def test_the_text_stored_with_a_run_holds_its_scripts(tmp_path: Path) -> None:
    source = open_scenario(str(write_scenario(tmp_path)), overrides=["name=stored"])
    assert f"content = '''\n{CONTROLLER}'''" in source.text
    assert f"content = '''\n{SCHEDULER}'''" in source.text
    assert "# my own" in source.text
    for file in tmp_path.iterdir():
        file.unlink()
    assert parse_scenario(source.text) == source.scenario
    assert with_contents(source.text, source.scenario) == source.text


@for_each("comment", ["# it's", "# '''quotes'''", "# \x01", '# """', "# \\", "# ü", "#", "# '", "x = 1 # '"])
@for_each("newline", ["\n", "\r\n"])
def test_whatever_a_script_says_comes_back(tmp_path: Path, comment: str, newline: str) -> None:
    path = write_scenario(tmp_path)
    path.write_bytes(path.read_bytes().replace(b"\n", newline.encode()))
    (tmp_path / "mine.py").write_text(f"{CONTROLLER}{comment}", encoding="utf-8", newline=newline)
    source = open_scenario(str(path))
    assert parse_scenario(source.text).scripts[0].text == f"{CONTROLLER}{comment}"


def test_a_script_that_is_written_within_a_line_is_kept_too(tmp_path: Path) -> None:
    path = write_scenario(tmp_path)
    path.write_text(path.read_text().replace('[controllers.mine]\nscript = "mine.py"', "").replace("  # my own", ""))
    path.write_text('controllers.mine = { script = "mine.py" }\n' + path.read_text())
    source = open_scenario(str(path))
    assert parse_scenario(source.text) == source.scenario


def test_what_a_script_says_is_part_of_the_run_and_what_its_file_is_called_is_not(tmp_path: Path) -> None:
    path = write_scenario(tmp_path)
    original = scenario_hash(load_scenario(path))
    path.write_text(SCENARIO.replace("mine.py", "other.py"))
    (tmp_path / "other.py").write_text(CONTROLLER)
    assert scenario_hash(load_scenario(path)) == original
    (tmp_path / "other.py").write_text(CONTROLLER.replace("/ 2", "/ 3"))
    assert scenario_hash(load_scenario(path)) != original


def test_an_unused_script_changes_no_run(tmp_path: Path) -> None:
    scenario = load_scenario(write_scenario(tmp_path))
    assert scenario_hash(replace(scenario, scripts=())) == scenario_hash(scenario)


def test_forms_offer_the_scripts_of_the_scenario_with_their_options(tmp_path: Path) -> None:
    doc = ScenarioDoc.open(write_scenario(tmp_path))
    assert doc.problems == ()
    controller = _field(doc, "flows.f.controller")
    offered = controller.options[-1]
    assert (controller.text, offered.value) == ("mine", "mine")
    assert offered.summary == "So many packets more per round trip, half the window on loss"
    gain = _field(doc, "flows.f.controller.gain")
    assert (gain.text, gain.placeholder, gain.param.unit) == ("2", "1", "pkt")
    assert _field(doc, "flows.f.scheduler").options[-1].value == "nearest"
    assert _field(doc, "events.0.controller").options[-1].value == "mine"


def test_a_script_that_is_being_changed_is_offered_as_it_last_was(tmp_path: Path) -> None:
    doc = ScenarioDoc.open(write_scenario(tmp_path))
    (tmp_path / "mine.py").write_text("nonsense nonsense\n")
    doc.set_script("controllers.mine", None)
    assert not doc.is_valid
    assert _field(doc, "flows.f.controller").options[-1].value == "mine"
    assert _field(doc, "flows.f.controller.gain").text == "2"
    (tmp_path / "mine.py").write_text(CONTROLLER.replace("gain", "growth"))
    doc.set_value("flows.f.controller", "mine")
    assert doc.is_valid
    assert _field(doc, "flows.f.controller.growth").placeholder == "1"
    doc.set_text(doc.text.replace("[controllers.mine]", "[controllers.yours]"))
    assert [script.name for script in doc.scripts] == ["yours", "nearest"]


def test_new_flows_can_have_scripts(tmp_path: Path) -> None:
    scenario = load_scenario(write_scenario(tmp_path))
    draft = FlowDraft(scenario, "a", "b", app_catalog(scenario))
    assert "mine" in draft.controllers
    assert draft.schedulers[-1] == "nearest"
    draft.set_kind("tcp")
    assert "mine" in draft.controllers


def test_a_script_is_added_to_a_scenario(tmp_path: Path) -> None:
    path = write_scenario(tmp_path, PLAIN.replace('{ name = "mine", gain = 2 }', '"lia"').replace("nearest", "minrtt"))
    doc = ScenarioDoc.open(path)
    doc.apply(add_script(doc.text, "controller", "mine"))
    assert doc.text.endswith(f"\n{script_table('controller', 'mine')}")
    assert doc.is_valid
    doc.apply(add_script(doc.text, "controller", "more", "mine.py"))
    doc.apply(add_script(doc.text, "scheduler", "inside", content=SCHEDULER))
    assert [(script.name, script.file) for script in doc.scripts] == [
        ("mine", "mine.py"),
        ("more", "mine.py"),
        ("inside", "inside.py"),
    ]
    with pytest.raises(InputError, match='has a controller "more" already'):
        add_script(doc.text, "controller", "more")


def test_a_file_is_written_and_read(tmp_path: Path) -> None:
    path = tmp_path / "my-own.py"
    write_script(path, CONTROLLER, is_new=True)
    script = open_script(path)
    assert (script.name, script.kind, script.text, script.file) == ("my-own", "controller", CONTROLLER, "my-own.py")
    with pytest.raises(InputError, match="already exists"):
        write_script(path, SCHEDULER, is_new=True)
    write_script(path, SCHEDULER)
    assert open_script(path).kind == "scheduler"
    with pytest.raises(InputError, match="cannot be written"):
        write_script(tmp_path / "none" / "my-own.py", CONTROLLER)
    (tmp_path / "link.py").symlink_to(tmp_path / "elsewhere.py")
    with pytest.raises(InputError, match="already exists"):
        write_script(tmp_path / "link.py", CONTROLLER, is_new=True)
    assert not (tmp_path / "elsewhere.py").exists()


def test_runs_of_another_text_are_no_repetitions(tmp_path: Path) -> None:
    path = write_scenario(tmp_path)
    texts = [open_scenario(str(path), seed=seed).text for seed in (1, 2)]
    (tmp_path / "mine.py").write_text(CONTROLLER.replace("/ 2", "/ 3"))
    texts.append(open_scenario(str(path)).text)
    first, second, other = (stored_condition(text, number) for number, text in enumerate(texts))
    assert first == second != other


def test_scripts_are_found_whatever_else_is_wrong(tmp_path: Path) -> None:
    doc = ScenarioDoc.open(write_scenario(tmp_path))
    doc.set_value("links.x.rate", "nonsense")
    (tmp_path / "mine.py").write_text("nonsense")
    mine, nearest = scripts_of(doc.data, tmp_path)
    assert (mine.kind, mine.name, mine.key) == ("controller", "mine", "controllers.mine")
    assert mine.path == tmp_path / "mine.py"
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
    assert present(doc.scenario).flows["f"].controller.name == "yours"
    assert "content" not in doc.text
    # The comment of the other script stays.
    assert "# my own" in doc.text


def test_a_new_script_of_no_file_is_in_the_scenario() -> None:
    doc = ScenarioDoc.new()
    flows = flows_for(doc.data)
    place = new_place("scheduler", "nearest", doc.data, None)
    doc.apply(with_new_script(doc.text, place, SCHEDULER, flows))
    assert doc.problems == ()
    (there,) = scripts_of(doc.data, None)
    assert there.read() == SCHEDULER
    assert {flow.scheduler.name for flow in present(doc.scenario).flows.values()} == {"nearest"}

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
        ("ü", "is not a name"),
        ("x" * 65, "is not a name"),
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
