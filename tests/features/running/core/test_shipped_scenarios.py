"""Every shipped scenario runs and is stored; memory and database contain the same data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.helpers.members import for_each
from tests.helpers.present import present

from subflow_app.features.editor.core.scenario_source import open_scenario
from subflow_app.features.paper.core.figure_plan import run_plan
from subflow_app.features.paper.core.figures import save_figure
from subflow_app.features.plots.core import PLOTS
from subflow_app.features.running.core.runs import RunJob
from subflow_app.features.traces.core.traces import StoredTraces
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.foundation.resources import find_scenario, scenario_names
from subflow_store import open_store


@for_each("name", scenario_names())
def test_shipped_scenario_runs_and_its_stored_traces_equal_the_live_ones(name: str, tmp_path: Path) -> None:
    source = open_scenario(str(find_scenario(name)))
    with open_store(tmp_path / "runs.db") as store:
        job = RunJob(source.scenario, source.text, store=store)
        result = job.run()
        assert result.status is JobState.FINISHED
        stored = StoredTraces(store, present(result.run_id))

        assert stored.labels == job.traces.labels
        assert stored.keys() == job.traces.keys()
        assert stored.marks() == job.traces.marks()
        for key in stored.keys():  # noqa: SIM118
            kept, live = stored.read(key), job.traces.read(key)
            np.testing.assert_allclose(kept[0], live[0], rtol=1e-12)
            np.testing.assert_array_equal(kept[1], live[1])
        for plot in PLOTS:
            for kept_curve, live_curve in zip(plot.curves(stored), plot.curves(job.traces), strict=True):
                assert (kept_curve.label, kept_curve.colour) == (live_curve.label, live_curve.colour)

    # The goodput of the summary is the mean of the samples after the warm-up.
    for flow in result.summary["flows"]:
        (key,) = (
            key
            for key in job.traces.keys()  # noqa: SIM118
            if (key.scope, key.owner, key.name) == ("flow", flow["name"], "goodput_bps")
        )
        time_s, values = job.traces.read(key)
        counted = time_s > source.scenario.warmup_s + 0.05
        span_s = source.scenario.duration_s - source.scenario.warmup_s
        # Holds if warm-up and duration are multiples of the 0.1 s between samples, as in all shipped scenarios.
        total_bits = float(values[counted].sum(dtype=np.float64)) * 0.1
        assert total_bits / span_s == pytest.approx(flow["goodput_bps"], rel=1e-6)


@pytest.mark.full("each plot is drawn of made-up runs in every test of figures")
def test_figures_of_the_fairness_scenario_can_be_drawn(tmp_path: Path) -> None:
    source = open_scenario(str(find_scenario("t-10b")))
    job = RunJob(source.scenario, source.text)
    job.run()

    for plot in (plot for plot in PLOTS if plot.series(job.traces)):
        assert save_figure(run_plan([plot], [job.traces]), tmp_path / f"{plot.id}.svg").stat().st_size > 1000
