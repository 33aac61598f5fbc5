"""The numbers of a page equal those of the program: same names, units, digits and means, from the core."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.golden.update import shipped
from tests.helpers.browsers import Browser, wait_until
from tests.helpers.pages import READY, data_of, move_to
from tests.helpers.web_core import ASSETS, WebCore
from tests.web.conftest import stored_run

from subflow_app.features.explain.core.run_events import KINDS
from subflow_app.features.exporting.core.web_page import told_words, write_page
from subflow_app.features.plots.core import PLOTS_BY_ID
from subflow_app.features.plots.core.spec import measured_mean
from subflow_app.features.traces.core.traces import StoredTraces
from subflow_app.vocabulary.measures import MEASURES, default_measures
from subflow_sim import Simulation, parse_scenario
from subflow_sim.portable import portable
from subflow_sim.simulation import mark_kinds
from subflow_store import Store

NUMBERS = (Path(__file__).parents[1] / "helpers" / "numbers.toml").read_text(encoding="utf-8")
FLOWS_SHOWN = (
    *("completion_s", "active_goodput_bps", "goodput_bps", "mean_rtt_s", "p95_rtt_s", "loss_ratio", "retransmits"),
)
SUBFLOWS_SHOWN = ("throughput_bps", "goodput_bps", "active_mean_cwnd_pkts", "mean_rtt_s", "loss_ratio")


@pytest.fixture(scope="module")
def made() -> tuple[WebCore, int, Simulation]:
    scenario = parse_scenario(NUMBERS)
    core, simulation = WebCore(), Simulation(scenario)
    run = core.open(portable(scenario, scenario.seed), scenario.seed, 0.1)
    core.finish(run)
    simulation.run_until(simulation.duration_s)
    return core, run, simulation


def test_the_results_of_the_core_are_those_of_the_summary(made: tuple[WebCore, int, Simulation]) -> None:
    core, run, simulation = made
    core.checked("results", run)
    told, summary = json.loads(core.text()), simulation.summary()
    assert told["measured_from_s"] == pytest.approx(summary["warmup_s"])
    for flow, other in zip(told["flows"], summary["flows"], strict=True):
        assert flow.items() <= other.items()
    subflows = [subflow for flow in summary["flows"] for subflow in flow["subflows"]]
    for subflow, other in zip(told["subflows"], subflows, strict=True):
        assert subflow.items() <= other.items()


def test_the_means_of_the_core_are_those_of_the_legend(made: tuple[WebCore, int, Simulation], store: Store) -> None:
    core, run, simulation = made
    traces = StoredTraces(store, stored_run(store, NUMBERS, seed=5))
    places = {(column.owner, column.name): place for place, column in enumerate(simulation.columns)}
    for name in ("cwnd", "rtt", "queue", "goodput"):
        for curve in PLOTS_BY_ID[name].curves(traces):
            mean = core.call("column_mean", run, places[curve.owner, PLOTS_BY_ID[name].columns[0][1]])
            assert mean == pytest.approx(measured_mean(curve, 7.3), rel=1e-9, nan_ok=True), (name, curve.owner)


def test_the_samples_of_the_core_have_the_gaps_of_the_simulator(made: tuple[WebCore, int, Simulation]) -> None:
    core, run, simulation = made
    count = core.call("sample_count", run)
    for place, column in enumerate(simulation.columns):
        values = struct.unpack(f"<{count}f", core.memory(core.call("column_values", run, place), 4 * count))
        assert values == pytest.approx(simulation.values(place).tolist(), rel=0, abs=0, nan_ok=True), column


def test_every_column_and_every_kind_of_mark_has_a_name_for_people() -> None:
    columns = {column.name: column.unit for scenario in shipped().values() for column in Simulation(scenario).columns}
    assert len(columns) > 25
    assert {name for name in columns if name not in MEASURES} == set()
    assert {name: MEASURES[name].si_unit for name, unit in columns.items() if unit} == {
        name: "" if name == "interval_rtt_gradient" else unit for name, unit in columns.items() if unit
    }
    assert {name for name, _ in mark_kinds()} <= set(KINDS)


def test_scripts_of_pages_type_no_names_or_units_of_measures_again() -> None:
    names = {each.title for each in MEASURES.values() if " " in each.title} | {"Goodput", "Throughput", "Utilisation"}
    for script in (ASSETS / "page").glob("*.js"):
        text = script.read_text(encoding="utf-8")
        assert {name for name in names if f'"{name}"' in text} == set(), script.name
        assert "⌀" not in text


def test_a_page_in_english_has_no_german() -> None:
    words = told_words("en")["words"]
    assert words["german"] == {}
    assert words["measures"]["measures"]["completion_s"]["title"] == "Completion time"


@pytest.fixture
def opened(browser: Browser, store: Store, tmp_path: Path) -> tuple[Browser, Mapping[str, Any]]:
    run_id = stored_run(store, NUMBERS, seed=5)
    browser.open(write_page(store, [run_id], tmp_path / "numbers.html").as_uri())
    wait_until(browser, READY)
    row = store.run(run_id)
    assert row.summary is not None
    if browser.run("document.documentElement.lang") != "en":
        browser.run("(document.getElementById('language').click(), 0)")
    return browser, row.summary


def table(browser: Browser, place: int) -> list[list[str]]:
    """The cells of a table of figures, headings first."""
    rows = f"[...document.querySelectorAll('#tables table')[{place}].querySelectorAll('tr')]"
    return browser.run(f"{rows}.map((row) => [...row.children].map((cell) => cell.innerText.trim()))")  # type: ignore[no-any-return]


@pytest.mark.full("two browsers start and simulate")
def test_figures_are_written_as_in_the_program(opened: tuple[Browser, dict[str, Any]]) -> None:
    browser, summary = opened
    heads, *rows = table(browser, 0)
    assert [head.partition(" (")[0] for head in heads[2:]] == [MEASURES[key].heading for key in FLOWS_SHOWN]
    for row, flow in zip(rows, summary["flows"], strict=True):
        assert row[0] == flow["name"]
        assert row[2:] == [MEASURES[key].text(flow[key]) for key in FLOWS_SHOWN]
        assert {each.key for each in default_measures(flow)} <= set(FLOWS_SHOWN)
    subflows = [subflow for flow in summary["flows"] for subflow in flow["subflows"]]
    for row, subflow in zip(table(browser, 1)[1:], subflows, strict=True):
        assert row[1:] == [MEASURES[key].text(subflow[key]) for key in SUBFLOWS_SHOWN]
    tip = browser.run("document.querySelector('#tables thead span').title")
    assert tip.startswith(MEASURES["completion_s"].definition)


@pytest.mark.full("two browsers start and simulate")
def test_legend_and_network_say_the_same_at_the_cursor(opened: tuple[Browser, dict[str, Any]]) -> None:
    browser, _ = opened
    move_to(browser, 9.98)
    chart = "[...document.querySelectorAll('.chart')].find((each) => each.innerText.includes('Queue'))"
    wait_until(browser, "document.querySelector('#network .readout').textContent.startsWith('9.98')")
    wait_until(browser, f"{chart}.querySelector('b').textContent === '9.98 s'")
    told = browser.run("document.querySelector('#network .readout').innerText")
    keys = browser.run(f"[...{chart}.querySelectorAll('.key')].map((each) => each.textContent)")
    # The network shows the fullest queues in whole packets; the legend shows the same values, and their mean.
    shown = {key.split(" →")[0]: float(key.split("→ ")[1].split()[0]) for key in keys}
    assert set(shown) == {"a", "b"}
    for link, pkts in shown.items():
        assert (f"{link} → {pkts:g}" in told) == (pkts > 0)
    assert sum(shown.values()) > 5
    assert all("(mean 7.3–40 s: " in key for key in keys)


@pytest.mark.full("two browsers start and simulate")
def test_curves_to_choose_from_and_reasons_are_in_words(opened: tuple[Browser, dict[str, Any]], tmp_path: Path) -> None:
    browser, _ = opened
    more = browser.run("[...document.getElementById('more').options].map((each) => each.textContent)")
    assert {"Share of packets", "Head-of-line blocking", "Minimum RTT"} <= set(more)
    assert not [text for text in more if "_" in text]
    move_to(browser, 3)
    browser.run("(document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'w', bubbles: true})), 0)")
    wait_until(browser, "document.querySelector('#why_answer table')")
    names = browser.run("[...document.querySelectorAll('#why_answer table th')].map((each) => each.textContent)")
    assert names
    assert not [name for name in names if "_" in name]


def test_a_page_knows_the_table_of_measures(store: Store, tmp_path: Path) -> None:
    path = write_page(store, [stored_run(store, NUMBERS, seed=5)], tmp_path / "numbers.html")
    words = data_of(path.read_text(encoding="utf-8"))["words"]
    assert words["measures"]["measures"]["loss_ratio"]["combine"]["how"] == "ratio"
    assert [mark["name"] for mark in words["marks"]] == [name for name, _ in mark_kinds()]
