"""A simulation in a notebook: data frames, curves that a browser draws, and the notebook of the guide."""

from __future__ import annotations

import ast
import json
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.helpers.networks import column

from subflow_sim import ScenarioError, Simulation, load_scenario, parse_scenario, shipped_scenarios

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def simulation() -> Simulation:
    made = Simulation(load_scenario("demo"))
    made.run_until(20)
    return made


def test_a_scenario_that_ships_is_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_scenario("demo") == load_scenario(shipped_scenarios()["demo"])
    monkeypatch.chdir(tmp_path)
    # A file of that name takes precedence.
    (tmp_path / "demo").write_text(shipped_scenarios()["reno-sawtooth"].read_text(encoding="utf-8"), encoding="utf-8")
    assert load_scenario("demo") == load_scenario("reno-sawtooth")
    with pytest.raises(ScenarioError, match=r'dmeo: no such file.*did you mean "demo"\?'):
        load_scenario("dmeo")
    with pytest.raises(ScenarioError, match=r"missing\.toml: cannot be read: No such file"):
        load_scenario("missing.toml")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_data_frame_has_all_samples(simulation: Simulation, library: Any) -> None:
    frame = simulation.to_dataframe(library)
    assert type(frame).__module__.startswith(library)
    assert list(frame.columns) == ["time_s", *(f"{each.owner}:{each.name}" for each in simulation.columns)]
    assert len(frame) == simulation.sample_count == 200
    np.testing.assert_allclose(frame["time_s"].to_numpy(), np.arange(1, 201) * 0.1)
    for place, each in enumerate(simulation.columns):
        stored = frame[f"{each.owner}:{each.name}"].to_numpy()
        np.testing.assert_array_equal(stored, simulation.values(place))
        # A copy: later simulation does not change it.
        assert not np.shares_memory(stored, simulation.values(place))


def test_whichever_library_is_there_is_taken(simulation: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    assert type(simulation.to_dataframe()).__module__.startswith("pandas")
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert type(simulation.to_dataframe()).__module__.startswith("polars")
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match="needs pandas or polars: pip install pandas"):
        simulation.to_dataframe()
    with pytest.raises(ImportError, match="needs polars: pip install polars"):
        simulation.to_dataframe("polars")
    wrong: Any = "excel"
    with pytest.raises(ValueError, match="library 'excel': must be one of pandas, polars"):
        simulation.to_dataframe(wrong)


def test_a_notebook_shows_curves_and_figures(simulation: Simulation) -> None:
    tree = ET.fromstring(simulation._repr_html_())
    charts = tree.findall(".//svg")
    assert [re.sub(r" of .*", "", each.attrib["aria-label"]) for each in charts] == [
        *("Throughput (Mbit/s)", "Congestion window (packets)", "Smoothed round-trip time (ms)"),
    ]
    assert simulation.signature() in "".join(tree.itertext())
    (goodput,) = (row[2].text for row in tree.findall(".//tbody/tr") if row[0].text == "download")
    expected = next(flow for flow in simulation.summary()["flows"] if flow["name"] == "download")
    assert float(goodput or "") == pytest.approx(expected["goodput_bps"] / 1e6, abs=5e-4)

    # Samples of a curve match the axes, which end at round numbers.
    top = float(charts[1].findall("text")[0].text or "")
    assert re.sub(r"[.0]", "", f"{top:g}") in ("1", "15", "2", "3", "4", "5", "6", "8")
    points = [tuple(map(float, pair.split(","))) for pair in charts[1].findall("polyline")[0].attrib["points"].split()]
    drawn = [top * (1 - (y - 8) / (150 - 24 - 8)) for _x, y in points]
    samples = column(simulation, "cwnd_pkts", "download/1")
    np.testing.assert_allclose(drawn, samples[np.isfinite(samples)][: len(drawn)], atol=top / 1000)
    assert points[-1][0] == pytest.approx(720 - 8)


def test_before_a_run_it_says_what_to_do_and_names_are_no_markup() -> None:
    text = shipped_scenarios()["demo"].read_text(encoding="utf-8").replace('name = "Demo', 'name = "<b>&Demo')
    shown = Simulation(parse_scenario(text))._repr_html_()
    assert "&lt;b&gt;&amp;Demo" in shown
    assert "run_until" in shown
    assert "<svg" not in shown
    ET.fromstring(shown)


def test_the_notebook_of_the_guide_runs_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # it needs no file
    cells = json.loads((ROOT / "docs" / "notebook.ipynb").read_text(encoding="utf-8"))["cells"]
    names: dict[str, Any] = {}
    shown = [_run("".join(cell["source"]), names) for cell in cells if cell["cell_type"] == "code"]
    assert shown[0]._repr_html_().count("<svg") == 3
    assert set(shown[1]) == {"lia", "olia", "uncoupled"}
    assert all(rate > 5 for rate in shown[1].values())
    assert shown[2] is True
    assert len(shown[3]) == 3


def _run(source: str, names: dict[str, Any]) -> Any:
    """Runs a cell like a notebook; returns the value of its last line."""
    body = ast.parse(source).body
    last = body.pop()
    assert isinstance(last, ast.Expr)
    exec(compile(ast.Module(body, []), "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)
