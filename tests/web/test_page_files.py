"""A page is one small file without a network, and gives its scenario back with what was changed in it."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.web.conftest import SCENARIO, stored_run

from subflow_app.core.errors import InputError
from subflow_app.core.exporting import web_page
from subflow_app.core.exporting.page_import import read_page
from subflow_app.core.exporting.web_page import script_text, write_page
from subflow_sim import Simulation, parse_scenario
from subflow_store import Store

MOST_BYTES = 500_000


def data_of(text: str) -> Any:
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    return json.loads(found)


def unpacked(text: str, name: str) -> str:
    """A script of the page, as its browser unpacks it."""
    ((size, packed),) = re.findall(f'id="{name}" data-size="([0-9]+)">(.*?)</script>', text)
    return gzip.decompress(base64.b85decode(packed.replace(",", "<"))[: int(size)]).decode()


def changed(page: Path, folder: Path, change: Callable[[Any], object]) -> Path:
    """The page with other data."""
    text = page.read_text(encoding="utf-8")
    data = data_of(text)
    before = script_text(data)
    change(data)
    path = folder / "changed.html"
    path.write_text(text.replace(before, script_text(data)), encoding="utf-8")
    return path


def signature_of(text: str, seed: int = 3) -> str:
    simulation = Simulation(parse_scenario(text), seed=seed)
    simulation.run_until(simulation.duration_s)
    return simulation.signature()


def test_it_is_small_and_asks_no_network(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert len(text.encode()) <= MOST_BYTES
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert "default-src 'none'" in policy
    assert "connect-src" not in policy
    assert "unsafe-inline" not in policy
    (boot,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    script, worker = unpacked(text, "script"), unpacked(text, "worker")
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    for part in (boot, script, style):
        assert "sha256-" + base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() in policy
    for part in (boot, script, worker):
        assert not re.search(r"(src|href)=|https?://|import\(|fetch\(|eval\(", part)


def test_no_name_is_markup(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "<b>& more" not in text
    assert data_of(text)["runs"][0]["scenario"]["scenario"]["flows"][0]["name"] == "download"


def test_the_scenario_comes_back_as_it_was(page: Path) -> None:
    found = read_page(page)
    assert found.scenario.name == "Two paths </script><b>& more"
    assert signature_of(found.text) == found.signature == signature_of(SCENARIO)


def test_a_change_from_the_start_is_in_the_values(page: Path, tmp_path: Path) -> None:
    edits = [
        {"kind": "link", "link": 0, "key": "loss", "value": 0.05},
        {"kind": "link", "link": 1, "key": "queue", "value": 10},
        {"kind": "flow", "flow": "download", "key": "controller", "value": "olia"},
    ]
    change = {"from": None, "edits": edits, "signature": "as the page has it"}
    found = read_page(changed(page, tmp_path, lambda data: data.update(change=change)))
    assert found.scenario.links["wifi"].forward.loss == found.scenario.links["wifi"].reverse.loss == 0.05
    assert found.scenario.links["lte"].forward.queue.limit_pkts == 10
    assert found.scenario.flows["download"].controller.name == "olia"
    assert found.signature == "as the page has it"


def test_a_change_from_a_time_on_is_an_event(page: Path, tmp_path: Path) -> None:
    edits = [
        {"kind": "link", "link": 1, "key": "rate", "value": 3e6},
        {"kind": "flow", "flow": "download", "key": "controller", "value": "balia"},
    ]
    change = {"from": 2.0, "applied": "2.000000001", "edits": edits}
    found = read_page(changed(page, tmp_path, lambda data: data.update(change=change)))
    rate, controller = (event for event in found.scenario.events if event.at_s < 3)
    assert (rate.at_s, rate.link, rate.direction, rate.rate_bps) == (2.000000001, "lte", "forward", 3e6)
    assert controller.flow == "download"
    assert controller.controller is not None
    assert controller.controller.name == "balia"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda data: data.update(format=2), "format = 2: this version reads 1"),
        (lambda data: data["runs"][0].update(toml="format = 1"), "its scenario is not usable"),
        (lambda data: data["runs"].clear(), "run 1: it has 0"),
        (lambda data: data.update(runs=7), "a damaged page"),
        (lambda data: data.update(change={"from": None, "edits": [{"kind": "link"}]}), "a damaged page"),
    ],
)
def test_a_damaged_page_is_refused_with_what_is_wrong(
    page: Path, tmp_path: Path, change: Callable[[Any], object], told: str
) -> None:
    with pytest.raises(InputError, match=re.escape(told)):
        read_page(changed(page, tmp_path, change))


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"<html></html>"])
def test_what_is_no_page_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.html"
    path.write_bytes(content)
    with pytest.raises(InputError, match="not a page that `subflow export RUN --page` has made"):
        read_page(path)


def test_several_runs_share_a_page(store: Store, run_id: int, tmp_path: Path) -> None:
    other = stored_run(store, SCENARIO.replace('"lia"', '"olia"'))
    path = write_page(store, [run_id, other], tmp_path / "both.html")
    assert [read_page(path, number).scenario.flows["download"].controller.name for number in (1, 2)] == ["lia", "olia"]
    with pytest.raises(InputError, match="run 3: it has 2"):
        read_page(path, 3)


def test_a_learned_controller_brings_its_policy_once(store: Store, tmp_path: Path) -> None:
    learned = SCENARIO.replace('"lia"', '"drl-cc"').replace('"8s"', '"7s"')
    path = write_page(
        store, [stored_run(store, learned), stored_run(store, learned, seed=4)], tmp_path / "learned.html"
    )
    data = data_of(path.read_text(encoding="utf-8"))
    assert len(data["policies"]) == 1
    assert [run["scenario"]["scenario"]["flows"][0]["decider"]["policy"] for run in data["runs"]] == [0, 0]


def test_without_the_core_no_page_is_offered(
    store: Store, run_id: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_page, "assets_folder", lambda: tmp_path)
    assert not web_page.is_offered()
    with pytest.raises(InputError, match="has no core for web pages"):
        write_page(store, [run_id], tmp_path / "none.html")
