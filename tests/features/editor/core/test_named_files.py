"""Saving a scenario in another folder copies the files that it names, and overwrites no file."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.helpers.policies import Plan, write_random_policy
from tests.helpers.scripts import CONTROLLER, SCENARIO, write_scenario

from subflow_app.features.editor.core.scenario_doc import ScenarioDoc, ScenarioFileError
from subflow_sim.scenario import load_scenario

TEXT = SCENARIO.replace('"nearest.py"', '"own/nearest.py"').replace('"8Mbit/s"', '{ trace = "own/up.trace" }', 1)
TEXT += """
[flows.g]
kind = "mptcp"
from = "a"
to = "b"
paths = [["y"]]
controller = { name = "drl-cc", policy = "policies/trained.safetensors" }
"""


@pytest.fixture
def doc(tmp_path: Path) -> ScenarioDoc:
    """A document in its own folder, with all files that it names."""
    folder = tmp_path / "here"
    (folder / "own").mkdir(parents=True)
    (folder / "policies").mkdir()
    path = write_scenario(folder, TEXT)
    (folder / "nearest.py").rename(folder / "own" / "nearest.py")
    (folder / "own" / "up.trace").write_text("1\n2\n")
    write_random_policy(folder / "policies" / "trained.safetensors", Plan("drl-cc", "lstm", "target", "action"))
    opened = ScenarioDoc.open(path)
    assert opened.problems == ()
    return opened


def _files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_what_it_names_comes_along(doc: ScenarioDoc, tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir()
    doc.save(there / "copy.toml")
    named = {"mine.py", "own/nearest.py", "own/up.trace", "policies/trained.safetensors"}
    assert _files(there) == {"copy.toml", *named}
    assert load_scenario(there / "copy.toml").flows == load_scenario(tmp_path / "here" / "scenario.toml").flows


def test_in_its_own_folder_nothing_is_copied(doc: ScenarioDoc, tmp_path: Path) -> None:
    before = _files(tmp_path)
    doc.save()
    doc.save(tmp_path / "here" / "copy.toml")
    assert _files(tmp_path) == before | {"here/copy.toml"}


def test_the_same_file_may_be_there_already(doc: ScenarioDoc, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(CONTROLLER)
    doc.save(tmp_path / "copy.toml")
    assert load_scenario(tmp_path / "copy.toml").scripts[0].text == CONTROLLER


def test_another_file_is_not_written_over(doc: ScenarioDoc, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("what I wrote")
    before = _files(tmp_path)
    with pytest.raises(ScenarioFileError, match=r"mine\.py already exists, and is not the file"):
        doc.save(tmp_path / "copy.toml")
    assert (tmp_path / "mine.py").read_text() == "what I wrote"
    assert _files(tmp_path) == before
    assert doc.path == tmp_path / "here" / "scenario.toml"


def test_a_folder_that_is_not_there_is_told(doc: ScenarioDoc, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ScenarioFileError, match="cannot be saved"):
        doc.save(tmp_path / "file" / "copy.toml")


def test_content_in_the_scenario_needs_no_file(doc: ScenarioDoc, tmp_path: Path) -> None:
    doc.set_text(TEXT.replace('"mine.py"', f"\"mine.py\"\ncontent = '''\n{CONTROLLER}'''"))
    (tmp_path / "here" / "mine.py").unlink()
    there = tmp_path / "there"
    there.mkdir()
    doc.save(there / "copy.toml")
    assert "mine.py" not in _files(there)
    assert load_scenario(there / "copy.toml").scripts[0].text == CONTROLLER
