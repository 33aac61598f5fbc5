"""A scenario and its text agree: both contain the overrides, and the rest of the text stays unchanged."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.helpers.members import for_each

from subflow_app.features.catalog.core.uses import Use, read_scenario
from subflow_app.features.editor.core.scenario_source import open_scenario, with_overrides
from subflow_app.foundation.errors import InputError
from subflow_sim.errors import ScenarioError
from subflow_sim.scenario import parse_scenario

TEXT = """\
format = 1
name = "Two paths" # the title
duration = "10s"

[nodes]
client = {}
server = {}

[links]
lte = { ends = ["client", "server"], rate = "8Mbit/s" }

# the lossy one
[links.wifi]
ends = ["client", "server"]
rate = "8Mbit/s"
delay = "50ms"
queue = "67pkt"   # one BDP

[flows.download]
kind = "mptcp"
from = "server"
to = "client"
controller = "lia"
paths = [["wifi"], ["lte"]]

[[events]]
at = "5s"
link = "wifi"
up = false
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "two.toml"
    path.write_text(TEXT, encoding="utf-8")
    return path


@for_each(
    "overrides",
    [
        [],
        ["seed=7"],
        ["links.wifi.loss=1%", "links.wifi.rate=4e6"],
        ["links.wifi.queue.limit=10pkt"],
        ["links.lte.reverse.delay=5ms"],
        ["flows.download.controller=uncoupled"],
        ["flows.download.controller.name=uncoupled", "flows.download.count=3"],
        ['flows.download.paths=[["lte"]]'],
        ["events.0.at=6s", "events[0].up=true"],
        ['links.wifi.rate={ steps = [["0s", "1Mbit/s"], ["2s", "2Mbit/s"]] }'],
        ["name=Ein Titel, mit = darin"],
        [
            'flows.download.controller={ name = "mpcc-loss", beta = 20 }',
            'flows.download.controller={ name = "mpcc-loss" }',
        ],
    ],
    ids=" ".join,
)
def test_text_with_overrides_describes_the_scenario_that_runs(file: Path, overrides: list[str]) -> None:
    source = open_scenario(str(file), overrides=overrides)

    assert source.scenario == parse_scenario(TEXT, overrides=overrides)
    assert parse_scenario(source.text) == source.scenario


def test_a_controller_that_an_override_replaces_loses_its_options_and_that_is_reported(file: Path) -> None:
    own = 'controller = { name = "mpcc-loss", beta = 20 }'
    file.write_text(re.sub(r"controller = .*", own, TEXT, count=1), encoding="utf-8")

    for value in ("mpcc-loss", '{ name = "mpcc-loss" }'):
        source = open_scenario(str(file), overrides=[f"flows.download.controller={value}"])
        assert "beta" not in source.text
        assert read_scenario(Use.RUN, source.text) == source.scenario
        (told,) = source.replaced
        assert re.match(r"flows\.download\.controller = mpcc-loss: .*beta = 20", told)
    kept = open_scenario(str(file), overrides=["flows.download.controller.beta=30"])
    assert (kept.replaced, kept.scenario.flows["download"].controller.options["beta"]) == ((), 30)


def test_comments_and_layout_stay_when_values_are_overridden() -> None:
    changed = with_overrides(TEXT, ["links.wifi.queue=10pkt", "duration=20s"])

    assert changed == TEXT.replace('"67pkt" ', '"10pkt" ').replace('"10s"', '"20s"')


def test_seed_is_written_into_the_text(file: Path) -> None:
    source = open_scenario(str(file), seed=41)
    assert source.scenario.seed == parse_scenario(source.text).seed == 41


def test_all_problems_of_file_and_overrides_are_told_at_once(file: Path) -> None:
    file.write_text(TEXT.replace('"8Mbit/s"\ndelay', '"0"\ndelay'), encoding="utf-8")

    with pytest.raises(ScenarioError) as caught:
        open_scenario(str(file), overrides=["links.lte.loss=200%", "links.dsl.rate=1Mbit/s"])

    keys = [problem.key for problem in caught.value.problems]
    assert {"links.wifi.rate", "links.lte.loss", "links.dsl.rate"} <= set(keys)


def test_byte_order_mark_is_no_part_of_the_text(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf" + TEXT.encode())

    assert open_scenario(str(file)).text == TEXT


def test_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.toml: no such scenario file"):
        open_scenario(str(tmp_path / "nowhere.toml"))
