"""Shipped files are found by name, and missing ones are reported."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.helpers.members import for_each

from subflow_app.foundation.errors import InputError, ResourceError
from subflow_app.foundation.resources import DEMO_SCENARIO, find_scenario, resource_path, scenario_names


def test_every_file_of_the_folder_is_a_scenario_by_its_name() -> None:
    folder = resource_path("scenarios")

    assert set(scenario_names()) == {path.stem for path in folder.glob("*.toml")}
    assert DEMO_SCENARIO in scenario_names()
    for name in scenario_names():
        assert find_scenario(name) == folder / f"{name}.toml"


def test_a_file_comes_before_a_shipped_scenario_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / DEMO_SCENARIO).write_text("")

    assert find_scenario(DEMO_SCENARIO) == Path(DEMO_SCENARIO)


def test_missing_resource_is_a_damaged_installation() -> None:
    with pytest.raises(ResourceError, match=r"scenarios/no\.toml is missing"):
        resource_path("scenarios/no.toml")


@for_each(
    ("typed", "message"),
    [
        ("demmo", 'did you mean "demo"'),
        ("quite-another-thing-entirely", "shipped scenarios: .*demo"),
        ("demo.toml", "demo.toml: no such scenario file$"),
        ("some/where", "some/where: no such scenario file$"),
        (".", "is a folder"),
    ],
)
def test_missing_files_are_named(typed: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(InputError, match=message):
        find_scenario(typed)
