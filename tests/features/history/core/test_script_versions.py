"""Versions of a script are read from its runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.helpers.present import present
from tests.helpers.scripts import CONTROLLER, SCHEDULER, write_scenario

from subflow_app.features.editor.core.scenario_source import open_scenario
from subflow_app.features.history.core.script_versions import script_versions, version_names
from subflow_app.features.running.core.runs import RunJob
from subflow_app.vocabulary.measures import MEASURES
from subflow_store import Store, open_store

OTHER = CONTROLLER.replace("w.cwnd / 2", "w.cwnd / 3")


def run(store: Store, folder: Path, text: str, *, overrides: tuple[str, ...] = ()) -> int:
    write_scenario(folder)
    (folder / "mine.py").write_text(text)
    source = open_scenario(str(folder / "scenario.toml"), overrides=("duration=1s", "events=[]", *overrides))
    return present(RunJob(source.scenario, source.text, store=store).run().run_id)


def test_each_text_is_a_version_with_its_latest_run(tmp_path: Path) -> None:
    with open_store(tmp_path / "runs.db") as store:
        first = run(store, tmp_path, CONTROLLER)
        second = run(store, tmp_path, OTHER)
        again = run(store, tmp_path, CONTROLLER, overrides=("seed=2",))
        run(store, tmp_path, CONTROLLER, overrides=("name=another",))
        found = script_versions(store, "controller", "mine", "scenario")
        # The latest run comes first; versions are numbered by their first run.
        assert [(each.number, each.run.id, each.count) for each in found] == [(1, again, 2), (2, second, 1)]
        assert [each.text for each in found] == [CONTROLLER, OTHER]
        assert found[0].run.id != first
        (flow,) = present(store.run(again).summary)["flows"]
        assert found[0].figure(MEASURES["goodput_bps"]) == flow["goodput_bps"] > 0
        assert found[0].figure(MEASURES["mean_rtt_s"]) == flow["mean_rtt_s"]
        assert found[0].figure(MEASURES["loss_ratio"]) == pytest.approx(flow["loss_ratio"])

        (scheduler,) = script_versions(store, "scheduler", "nearest", "scenario")
        assert (scheduler.text, scheduler.count) == (SCHEDULER, 3)
        assert script_versions(store, "controller", "nearest", "scenario") == ()
        store.delete([second])
        assert [each.run.id for each in script_versions(store, "controller", "mine", "scenario")] == [again]
        with pytest.raises(InterruptedError):
            script_versions(store, "controller", "mine", "scenario", lambda: True)
        # A script without a flow has no figures.
        run(store, tmp_path, OTHER.replace("/ 3", "/ 4"), overrides=("flows.f.controller=lia",))
        version = script_versions(store, "controller", "mine", "scenario")[0]
        assert [version.figure(MEASURES[name]) for name in ("goodput_bps", "mean_rtt_s")] == [None, None]


def test_versions_of_compared_runs_are_named(tmp_path: Path) -> None:
    with open_store(tmp_path / "runs.db") as store:
        first, second = (store.run(run(store, tmp_path, text)) for text in (CONTROLLER, OTHER))
        names = version_names(store, [first, second])
        # The scheduler is the same in both runs.
        assert names == {
            ("controllers.mine.content", first.id): "mine, version 1",
            ("controllers.mine.content", second.id): "mine, version 2",
        }
        assert version_names(store, [first, store.run(run(store, tmp_path, CONTROLLER))]) == {}
