"""The page on extending, followed to the letter: its skeletons compile and do the work that the page promises."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot
from tests.helpers.command_line import Subflow
from tests.helpers.core_program import copied_core, said_by
from tests.helpers.skeletons import SKELETONS, loaded_skeleton
from tests.helpers.window import TWO_PATHS

from subflow_agents import agent, registry
from subflow_agents.config import TrainingConfig
from subflow_agents.registry import AgentInfo
from subflow_agents.reports import NoControl, TrainingState
from subflow_agents.training import run_training
from subflow_app.features.exporting.core import table_formats
from subflow_app.features.exporting.qt import run_export_dialog
from subflow_app.features.measured import core as measured_core
from subflow_app.features.measured.core import trace_formats
from subflow_app.features.running.core.runs import RunJob
from subflow_app.features.traces.core.traces import SUBFLOW, SeriesKey, StoredTraces
from subflow_sim import _core, agent_spec
from subflow_sim.scenario import parse_scenario
from subflow_store import open_store

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")

# A scenario with a field and an event of the skeletons, read for the window and lowered for the core.
_READING = """
import json
import subflow_sim.lowering as lowering
from subflow_app.features.catalog.core.catalog import app_catalog
from subflow_app.features.editor.core.event_strip import strip_rows
from subflow_app.features.editor.core.event_words import change_words, entry_of
from subflow_app.features.editor.core.form import change_labels, form_for
from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.forking.core.plan import link_values
from subflow_sim.scenario import parse_scenario
from subflow_sim.schema import scenario_schema
from sys import stdin

text = stdin.read()
scenario = parse_scenario(text)
documents = []
lowering.core_scenario = documents.append
lowering.lower(scenario)
doc = ScenarioDoc(text, algorithms=app_catalog())
parts = ("links.wifi", "events.0")
groups = [group for part in parts for group in form_for(doc, part, app_catalog()).groups]
shown = {field.key: field.text for group in groups for field in group.fields}
(mark,) = strip_rows(doc.data, scenario.duration_s)[0].items
schema = scenario_schema()["$defs"]
print(json.dumps({
    "link": documents[0]["links"][0]["extra_delay"],
    "events": [event["extra_delay"] for event in documents[0]["events"]],
    "form": [shown[part + ".extra_delay"] for part in parts],
    "words": change_words(entry_of(scenario.events[0])),
    "strip": mark.changes,
    "labels": "extra_delay" in change_labels(),
    "fork": link_values(scenario, "wifi", "forward", 1.5)["extra_delay"],
    "schema": ["extra_delay" in schema[part]["properties"] for part in ("link", "event")],
}))
"""

# A run of a small network with both, as from a scenario.
_PROGRAM = """
#include <cstdio>
#include "cc/controllers.h"
#include "scenario_json.h"
#include "scenarios.h"
using namespace subflow;
using namespace subflow::literals;
int main() {
    Scenario scenario = testing::linux_profile(20_s);
    const PathSpec fast = testing::add_path(scenario, {.loss = 0.001});
    const PathSpec slow = testing::add_path(scenario, {.one_way = 10_ms, .loss = 0.001});
    FlowSpec& flow = testing::add_mptcp(scenario, {fast, slow}, "scalable");
    flow.scheduler.name = "leastloaded";
    scenario.links[0].discipline = HeadDropOptions{.at_once = 2};
    scenario.links[0].queue_limit_pkts = 20;
    for (const double value : {0.5, 1.5}) {
        try {
            make_controller(AlgorithmChoice{"uncoupled", {{"base", std::string("scalable")}, {"growth", value}}});
            std::printf("taken ");
        } catch (const ScenarioError& error) {
            std::printf("%s ", std::string(error.what()).find("growth") == std::string::npos ? "failed" : "refused");
        }
    }
    scenario.links[0].extra_delay = 5_ms;
    scenario.events.push_back({.at = 10_s, .link = 0, .extra_delay = 25_ms});
    const Network network = testing::finished(scenario);
    std::printf("%.3f %lld %lld\\n", network.flow_result(0).goodput_bps / 1e6,
                static_cast<long long>(network.links()[0].stats().drops_queue),
                static_cast<long long>(network.links()[0].delay().value));
    std::printf("%s\\n", write_scenario(scenario).c_str());
    return 0;
}
"""


def test_the_page_leads_to_each_of_them_and_to_files_that_are_there() -> None:
    assert set(re.findall(r"skeletons/([a-z0-9_.-]+)", PAGE)) == {
        path.name for path in SKELETONS.iterdir() if path.is_file() and path.name != "README.md"
    }
    named = re.findall(r"`((?:app|agents|sim|docs|assets|tests)/[\w./-]+)`", PAGE)
    assert len(named) > 15
    assert [path for path in named if not (ROOT / path).exists()] == []
    lists = (
        ("sim/core/cc/controllers.h", "using AnyController ="),
        ("sim/core/queue_disc/disciplines.h", "using ManagedQueue ="),
        ("app/subflow_app/features/exporting/core/table_formats.py", "TABLE_FORMATS: "),
        ("app/subflow_app/features/measured/core/trace_formats.py", "_READERS = ("),
        ("agents/subflow_agents/registry.py", "_AGENTS: "),
        ("app/subflow_app/shell/features.py", "KINDS = "),
        ("app/subflow_app/toolkit/workspaces.py", "PANELS = "),
        ("app/subflow_app/toolkit/workspaces.py", "ARRANGEMENTS: "),
    )
    for path, line in lists:
        assert path in named
        assert line in (ROOT / path).read_text(encoding="utf-8")


def _apply(folder: Path, *options: str) -> None:
    """Apply the skeletons of a field and of an event to a copy of the sources."""
    for name in ("link_field.patch", "event_kind.patch"):
        subprocess.run(["git", "apply", "-C1", *options, SKELETONS / name], cwd=folder, check=True)


def test_a_field_and_an_event_are_three_files_and_their_use(tmp_path: Path) -> None:
    for name, uses in (("link_field.patch", 1), ("event_kind.patch", 3)):
        changed = re.findall(r"^\+\+\+ b/(.*)", (SKELETONS / name).read_text(encoding="utf-8"), re.MULTILINE)
        assert len(changed) == 3 + uses
        assert {"sim/core/scenario.h", "sim/subflow_sim/scenario_model.py"} < set(changed)
    package = tmp_path / "sim" / "subflow_sim"
    shutil.copytree(ROOT / "sim" / "core", tmp_path / "sim" / "core")
    shutil.copytree(ROOT / "sim" / "subflow_sim", package, ignore=shutil.ignore_patterns("__pycache__", "_core*"))
    compiled = Path(_core.__file__)
    shutil.copyfile(compiled, package / compiled.name)
    _apply(tmp_path)
    text = TWO_PATHS.replace('loss = "1%"\n', 'loss = "1%"\nextra_delay = "5ms"\n')
    text += '\n[[events]]\nat = "1s"\nlink = "wifi"\nextra_delay = "20ms"\n'
    # Without the start-up files of packages, which would put the unchanged sources on the path.
    places = [tmp_path / "sim", ROOT / "app", ROOT / "agents", Path(np.__file__).parents[1]]
    done = subprocess.run(
        [sys.executable, "-S", "-c", _READING],
        input=text,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, places))},
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "link": 5_000_000,
        "events": [20_000_000, 20_000_000],
        "form": ["5ms", "20ms"],
        "words": ["extra delay 20 ms"],
        "strip": [["extra_delay", "20ms"]],
        "labels": True,
        "fork": "20ms",
        "schema": [True, True],
    }


@pytest.mark.full("compiles the core")
@pytest.mark.timeout(600)
def test_parts_of_the_core_are_a_file_and_a_line_each(tmp_path: Path) -> None:
    core = copied_core(tmp_path)
    _apply(tmp_path, "-p2", "--include=core/*")
    shutil.copyfile(SKELETONS / "scalable.h", core / "cc" / "scalable.h")
    shutil.copyfile(SKELETONS / "least_loaded.h", core / "sched" / "least_loaded.h")
    shutil.copyfile(SKELETONS / "head_drop.h", core / "queue_disc" / "head_drop.h")
    disciplines = core / "queue_disc" / "disciplines.h"
    text = disciplines.read_text(encoding="utf-8")
    text = text.replace("DualPi2Queue>;", "DualPi2Queue, HeadDropQueue>;", 1)
    disciplines.write_text(text.replace('#include "red.h"\n', '#include "head_drop.h"\n#include "red.h"\n', 1))
    for path, header, name in (
        (core / "cc" / "controllers.h", "scalable", "Scalable"),
        (core / "sched" / "schedulers.h", "least_loaded", "LeastLoaded"),
    ):
        text = path.read_text(encoding="utf-8")
        listed = text.replace("std::variant<", f"std::variant<{name}, ", 1)
        included = listed.replace("#include <vector>\n", f'#include <vector>\n#include "{header}.h"\n', 1)
        path.write_text(included, encoding="utf-8")
    figures, document = said_by(tmp_path, core, _PROGRAM, [ROOT / "tests" / "sim_core" / "scenarios.cpp"]).splitlines()
    # A controller of single paths is a base of `uncoupled` as well, which takes its options and refuses other values.
    *answers, goodput_text, drops_text, delay_text = figures.split()
    assert answers == ["taken", "refused"]
    goodput_mbps, drops, delay_ns = float(goodput_text), int(drops_text), int(delay_text)
    assert delay_ns == 75e6  # of a path of 50 ms
    assert 5 < goodput_mbps < 20  # of two links of 10 Mbit/s
    assert drops > 0
    assert drops % 2 == 0  # two at once
    assert '"discipline":{"head_drop":{"at_once":2}}' in document
    assert '"extra_delay":25000000' in document


def test_a_plot_is_a_file_and_a_line() -> None:
    plot = loaded_skeleton("plot.py", "subflow_app.features.plots.core.queueing_delay").PLOT
    scenario = parse_scenario(TWO_PATHS)
    with open_store(":memory:") as store:
        result = RunJob(scenario, TWO_PATHS, seed=1, store=store, name="two").run()
        assert result.run_id is not None
        traces = StoredTraces(store, result.run_id)
        assert plot.is_in(traces)
        curves = plot.curves(traces)
    assert [curve.owner for curve in curves] == ["download/1", "download/2"]
    for curve in curves:
        known = curve.values[np.isfinite(curve.values)]
        assert known.size > 0
        assert known.min() >= 0
        assert known.max() < 0.3  # no queue of this network is longer


def test_a_form_of_tables_is_a_file_and_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, subflow: Subflow, qtbot: QtBot
) -> None:
    write = loaded_skeleton("table_format.py", "subflow_app.features.exporting.core.json_lines").write_json_lines
    row = table_formats.TableFormat("json-lines", "JSON, a line per trace", write)
    monkeypatch.setattr(table_formats, "TABLE_FORMATS", (*table_formats.TABLE_FORMATS, row))
    monkeypatch.setattr(run_export_dialog, "TABLE_FORMATS", table_formats.TABLE_FORMATS)
    database = tmp_path / "runs.db"
    with open_store(database) as store:
        RunJob(parse_scenario(TWO_PATHS), TWO_PATHS, seed=1, store=store, name="two").run()
        dialog = run_export_dialog.RunExportDialog(store.run(1), ())
    qtbot.addWidget(dialog)
    assert dialog.tables["json-lines"].text() == "JSON, a line per trace"
    assert "json-lines" in subflow("export", "--help").out
    subflow("export", 1, "--db", database, "--format", "json-lines", "--out", tmp_path / "out")
    facts, *series = map(json.loads, (tmp_path / "out" / "samples.jsonl").read_text(encoding="utf-8").splitlines())
    assert facts["seed"] == 1
    (rate,) = (each for each in series if (each["owner"], each["quantity"]) == ("download", "goodput_bps"))
    assert len(rate["time_s"]) == len(rate["values"]) > 10
    assert 5e6 < np.mean(rate["values"]) < 12e6  # of links of 8 and 4 Mbit/s


def test_a_kind_of_measured_files_is_a_file_and_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, subflow: Subflow
) -> None:
    reader = loaded_skeleton("trace_format.py", "subflow_app.features.measured.core.ping_reader")
    monkeypatch.setattr(trace_formats, "_READERS", ("ping_reader", *trace_formats._READERS))
    monkeypatch.setattr(measured_core, "ping_reader", reader, raising=False)
    trace_formats.trace_formats.cache_clear()
    lines = [f"[{1690000000 + n}.000000] 64 bytes: icmp_seq={n} ttl=64 time={20 + n}.0 ms" for n in range(5)]
    file = tmp_path / "ping.txt"
    file.write_text("\n".join(("PING example.org", *lines)))
    database = tmp_path / "runs.db"
    try:
        assert "ping" in subflow("import", "--help").out
        answer = subflow("import", file, "--flow", "download", "--db", database, "--json")
        assert answer.document["columns"] == ["srtt_s:download/1"]
        with open_store(database) as store:
            _, rtts = StoredTraces(store, 1).read(SeriesKey(SUBFLOW, "download/1", "srtt_s", "s"))
        np.testing.assert_allclose(rtts, [0.020, 0.021, 0.022, 0.023, 0.024], rtol=1e-6)
        file.write_text("PING example.org\n")
        assert "no reply with a time" in subflow("import", file, "--db", database).err
    finally:
        trace_formats.trace_formats.cache_clear()


@pytest.fixture
def my_agent(monkeypatch: pytest.MonkeyPatch) -> AgentInfo:
    """The agent of the page, with its line in the list."""
    info: AgentInfo = loaded_skeleton("agent.py", "subflow_agents.my_agent").AGENT
    monkeypatch.setattr(registry, "_AGENTS", {**registry._AGENTS, info.name: ("my_agent", "AGENT")})
    return info


def test_an_agent_is_a_file_and_a_line(my_agent: AgentInfo) -> None:
    assert agent("my-agent") is my_agent
    assert {option.name: option.default for option in my_agent.options()}["history"] == 4
    spec = agent_spec(my_agent.controller, my_agent.controller_options(my_agent.config()))
    assert spec is not None
    assert spec.scope == my_agent.scope


@pytest.mark.full("loads PyTorch and trains")
def test_it_is_trained_and_leaves_a_policy(my_agent: AgentInfo, tmp_path: Path) -> None:
    text = (ROOT / "assets" / "scenarios" / "train-single-path.toml").read_text(encoding="utf-8")
    config = TrainingConfig("my-agent", text, steps=200, num_envs=2, evaluation_every=0, folder=str(tmp_path))
    result = run_training(config, NoControl(), lambda report: None)
    assert result.state is TrainingState.FINISHED
    assert (tmp_path / "policy.safetensors").is_file()
