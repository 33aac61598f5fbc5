"""A page is one small file without network access, and returns its scenario with the changes made in it."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.helpers.members import for_each
from tests.helpers.pages import data_of, packed_text, with_data
from tests.web.conftest import SCENARIO, stored_run

from subflow_app.features.breaking.core.break_text import failure_words, write_claim_page
from subflow_app.features.breaking.core.counterexample import named_counterexample
from subflow_app.features.exporting.core import page_import, study_pages, web_page
from subflow_app.features.exporting.core.page_import import read_page
from subflow_app.features.exporting.core.study_pages import write_sweep_page
from subflow_app.features.exporting.core.web_page import write_page
from subflow_app.features.sweeps.core.plan_file import SweepOptions, open_plan
from subflow_app.features.sweeps.core.sweep_job import SweepJob
from subflow_app.features.sweeps.core.sweep_results import stored_table
from subflow_app.foundation.errors import InputError
from subflow_sim import Simulation, parse_scenario
from subflow_store import Store

MOST_BYTES = 548_000


def changed(page: Path, folder: Path, change: Callable[[Any], object]) -> Path:
    """The page with another document."""
    text = page.read_text(encoding="utf-8")
    data = data_of(text)
    change(data)
    path = folder / "changed.html"
    path.write_text(with_data(text, data), encoding="utf-8")
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
    script, worker = packed_text(text, "script"), packed_text(text, "worker")
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    for part in (boot, script, style):
        assert "sha256-" + base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() in policy
    for part in (boot, script, worker):
        assert not re.search(r"(src|href)=|https?://|import\(|fetch\(|eval\(", part)


def test_the_worker_looks_at_the_memory_only_after_the_call_that_may_let_it_grow(page: Path) -> None:
    worker = packed_text(page.read_text(encoding="utf-8"), "worker")
    assert "core.memory.buffer" in worker
    # JavaScript evaluates the buffer first, which the call would detach.
    assert not re.search(r"core\.memory\.buffer, core\.", worker)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_its_faint_text_can_be_read(page: Path, scheme: int) -> None:
    text = page.read_text(encoding="utf-8")

    def luminance(name: str) -> float:
        colour = re.findall(rf"--{name}: #(\w{{6}})", text)[scheme]
        parts = [int(colour[at : at + 2], 16) / 255 for at in (0, 2, 4)]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    for ground in ("back", "panel"):
        low, high = sorted((luminance("faint"), luminance(ground)))
        # Minimum contrast of text: WCAG 2.2, success criterion 1.4.3.
        assert (high + 0.05) / (low + 0.05) >= 4.5
    # Bars of queues differ from their lines and from the page, and have no colour of a subflow.
    for ground in ("back", "wire"):
        low, high = sorted((luminance("full"), luminance(ground)))
        assert (high + 0.05) / (low + 0.05) >= 3  # of graphical objects: criterion 1.4.11
    colour = re.findall(r"--full: #(\w{6})", text)[scheme]
    assert (
        max(int(colour[at : at + 2], 16) for at in (0, 2, 4)) - min(int(colour[at : at + 2], 16) for at in (0, 2, 4))
        < 32
    )


def test_no_name_is_markup(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "<b>& more" not in text
    assert data_of(text)["runs"][0]["scenario"]["scenario"]["flows"][0]["name"] == "download"


def test_the_scenario_comes_back_as_it_was(page: Path) -> None:
    found = read_page(page).scenario()
    assert found.scenario.name == "Two paths </script><b>& more"
    assert signature_of(found.text) == found.signature == signature_of(SCENARIO)


def test_a_run_with_a_seed_of_its_own_comes_back_with_it(store: Store, tmp_path: Path) -> None:
    number = stored_run(store, SCENARIO, seed=11)
    found = read_page(write_page(store, [number], tmp_path / "seed.html")).scenario()
    assert found.scenario.seed == 11
    assert signature_of(found.text, found.scenario.seed) == found.signature == store.run(number).signature


def test_a_change_from_the_start_is_in_the_values(page: Path, tmp_path: Path) -> None:
    edits = [
        {"kind": "link", "link": 0, "key": "loss", "value": 0.05},
        {"kind": "link", "link": 1, "key": "queue", "value": 10},
        {"kind": "flow", "flow": "download", "key": "controller", "value": "olia"},
    ]
    change = {"from": None, "edits": edits, "signature": "recorded by the page"}
    found = read_page(changed(page, tmp_path, lambda data: data.update(change=change))).scenario()
    assert found.scenario.links["wifi"].forward.loss == found.scenario.links["wifi"].reverse.loss == 0.05
    assert found.scenario.links["lte"].forward.queue.limit_pkts == 10
    assert found.scenario.flows["download"].controller.name == "olia"
    assert found.signature == "recorded by the page"


def test_a_change_from_a_time_on_is_an_event(page: Path, tmp_path: Path) -> None:
    edits = [
        {"kind": "link", "link": 1, "key": "rate", "value": 3e6},
        {"kind": "flow", "flow": "download", "key": "controller", "value": "balia"},
    ]
    change = {"from": 2.0, "applied": "2.000000001", "edits": edits}
    found = read_page(changed(page, tmp_path, lambda data: data.update(change=change))).scenario()
    rate, controller = (event for event in found.scenario.events if event.at_s < 3)
    assert (rate.at_s, rate.link, rate.direction, rate.rate_bps) == (2.000000001, "lte", "forward", 3e6)
    assert controller.flow == "download"
    assert controller.controller is not None
    assert controller.controller.name == "balia"


@for_each(
    ("change", "told"),
    [
        (lambda data: data.update(format=2), "format = 2: this version reads 1"),
        (lambda data: data["runs"][0].update(toml="format = 1"), "its scenario is not usable"),
        (lambda data: data["runs"].clear(), "run 1 does not exist; allowed: 1 to 0"),
        (lambda data: data.update(runs=7), "a damaged page"),
        (lambda data: data.update(change={"from": None, "edits": [{"kind": "link"}]}), "a damaged page"),
    ],
)
def test_a_damaged_page_is_refused_with_what_is_wrong(
    page: Path, tmp_path: Path, change: Callable[[Any], object], told: str
) -> None:
    with pytest.raises(InputError, match=re.escape(told)):
        read_page(changed(page, tmp_path, change)).scenario()


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"<html></html>"])
def test_what_is_no_page_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.html"
    path.write_bytes(content)
    with pytest.raises(InputError, match="not a page that `subflow export RUN --page` has made"):
        read_page(path).scenario()


def test_several_runs_share_a_page(store: Store, run_id: int, tmp_path: Path) -> None:
    other = stored_run(store, SCENARIO.replace('"lia"', '"olia"'))
    path = write_page(store, [run_id, other], tmp_path / "both.html")
    both = read_page(path)
    assert [both.scenario(number).scenario.flows["download"].controller.name for number in (1, 2)] == ["lia", "olia"]
    with pytest.raises(InputError, match="run 3 does not exist; allowed: 1 to 2"):
        both.scenario(3)


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


def test_a_damaged_part_of_a_page_is_told(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, other = page.read_text(encoding="utf-8"), tmp_path / "other.html"
    packed = text.index('id="told"') + 200
    other.write_text(f"{text[:packed]}0000000000{text[packed + 10 :]}", encoding="utf-8")
    with pytest.raises(InputError, match="a damaged page: its runs cannot be unpacked"):
        read_page(other).scenario()
    monkeypatch.setattr(page_import, "_MOST_TOLD_BYTES", 1000)
    with pytest.raises(InputError, match=r"its runs end too early, or take more than 0\.001 MB"):
        read_page(page).scenario()


def test_a_sweep_has_a_page_with_a_run_of_each_point(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    axes = ("links.wifi.loss=0%,1%", "flows.download.controller=lia,olia")
    scenario = tmp_path / "two.toml"
    scenario.write_text(SCENARIO.replace('"8s"', '"7s"'), encoding="utf-8")
    plan = open_plan(str(scenario), SweepOptions(axes=axes, seeds="1,2"))
    job = SweepJob(plan, store, jobs=1)
    job.run().check()
    row = store.sweeps.rows(limit=1)[0]
    data = data_of(write_sweep_page(store, row.id, tmp_path / "sweep.html").read_text(encoding="utf-8"))
    points, goodput = data["sweep"]["points"], data["sweep"]["figures"][0]
    assert [point["label"] for point in points[:2]] == [
        "links.wifi.loss = 0%, flows.download.controller = lia",
        "links.wifi.loss = 0%, flows.download.controller = olia",
    ]
    assert [data["runs"][point["run"]]["flows"][0]["controller"] for point in points] == ["lia", "olia"] * 2
    assert {run["seed"] for run in data["runs"]} == {"1"}
    assert data["sweep"]["x"] == {"title": "links.wifi.loss (%)", "names": None, "is_log": False}
    assert [line["label"] for line in goodput["lines"]] == ["lia", "olia"]
    table = stored_table(store, row.id)
    for line in goodput["lines"]:
        for mark in line["points"]:
            cell = table.rows[mark["point"]].cells["goodput_bps"]
            assert mark["y"] * 1e6 == pytest.approx(cell.mean)
            # Without losses the run is deterministic: both seeds gave the same run, so its figures have no interval.
            assert (mark["half"] is None) == table.rows[mark["point"]].is_one_run == (mark["x"] == 0)
            assert mark["half"] is None or mark["half"] * 1e6 == pytest.approx(cell.ci95)
            assert mark["low"] * 1e6 == pytest.approx(max(cell.mean - cell.ci95, 0.0))
    monkeypatch.setattr(study_pages, "MOST_POINTS", 3)
    with pytest.raises(InputError, match="has runs at 4 points: a page holds at most 3"):
        write_sweep_page(store, row.id, tmp_path / "sweep.html")


def test_a_counterexample_has_a_page_with_both_runs_and_where_they_part(tmp_path: Path) -> None:
    each = named_counterexample("improve-olia")
    text = write_claim_page(each, tmp_path / "claim.html").read_text(encoding="utf-8")
    assert f"<title>Counterexample for olia: {each.claim.title} – Subflow</title>" in text
    data = data_of(text)
    assert [run["name"] for run in data["runs"]] == ["olia", "newreno on the best path"]
    (chapter,) = data["chapters"]
    assert chapter["title"] == each.says
    assert {*failure_words(each)} < {*chapter["texts"]}
    assert each.told not in " ".join(chapter["texts"])
    assert chapter["tables"][0]["rows"][0][:2] == ["linux", "2.5 (95 % interval 2.28 to 2.75)"]
    assert chapter["at"]["key"] == "subflow/1"
    assert data["runs"][0]["signature"] == signature_of(data["runs"][0]["toml"], each.first_seed)
