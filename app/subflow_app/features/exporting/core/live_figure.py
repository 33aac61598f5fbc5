"""A figure of the guide: a picture of a run's recorded curves, and the page that simulates the run."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from subflow_app.features.catalog.core.uses import Use
from subflow_app.features.editor.core.scenario_source import open_scenario
from subflow_app.features.exporting.core.web_page import recorded_curves, runs_page, stored_run_document
from subflow_app.features.running.core.runs import RunJob
from subflow_app.features.traces.core.traces import StoredTraces
from subflow_app.vocabulary.language import ENGLISH
from subflow_store import open_store


@dataclass(frozen=True, slots=True)
class LiveFigure:
    """A figure, which consists of a picture and a page.

    Attributes:
        file: file name of the page.
        title: title of the scenario.
        picture: the recorded curves, as HTML.
        page: HTML of the page, without the shared parts if it loads them from an address.
    """

    file: str
    title: str
    picture: str
    page: str


def live_figure(scenario: str, quantities: Sequence[str], changes: Sequence[str] = (), shared: str = "") -> LiveFigure:
    """Simulate a scenario, and create a figure of the run.

    Args:
        scenario: name of a shipped scenario.
        quantities: names of the traces that picture and page show.
        changes: overrides of the scenario, "KEY=VALUE".
        shared: address of the parts that pages share, see `web_page.shared_parts`; empty to include them in the page.

    Raises:
        InputError: if the scenario does not exist.
        ScenarioError: if the changes make the scenario invalid.
    """
    source = open_scenario(scenario, use=Use.PAGE, overrides=changes)
    with open_store(":memory:") as store:
        result = RunJob(source.scenario, source.text, store=store).run()
        assert result.run_id is not None
        policies: list[bytes] = []
        run = stored_run_document(store, result.run_id, policies)
        picture = recorded_curves(StoredTraces(store, result.run_id), quantities)
    page = runs_page(run["name"], [run], policies, picture, shared=shared, language=ENGLISH, charts=list(quantities))
    text = f"-{hashlib.sha256(' '.join(changes).encode()).hexdigest()[:8]}" if changes else ""
    return LiveFigure(f"{scenario}{text}.html", source.scenario.name, picture, page)
