"""A figure of the guide that is a run: its recorded curves as a picture, and the page that simulates it again."""

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
    """One of them.

    Attributes:
        file: name of its page.
        title: of its scenario.
        picture: the recorded curves, as HTML.
        page: that shows it; without the parts that such pages share, if they share any.
    """

    file: str
    title: str
    picture: str
    page: str


def live_figure(scenario: str, quantities: Sequence[str], changes: Sequence[str] = (), shared: str = "") -> LiveFigure:
    """Make a figure; its run is made for it.

    Args:
        scenario: a shipped one.
        quantities: names of its traces, which the picture and the page show.
        changes: "KEY=VALUE" made in the scenario.
        shared: address of what pages share, as `web_page.shared_parts` makes it; empty: the page is whole without.

    Raises:
        InputError: if there is no such scenario, or its run has no such picture.
        ScenarioError: if it is not usable with the changes.
    """
    source = open_scenario(scenario, use=Use.PAGE, overrides=changes)
    with open_store(":memory:") as store:
        result = RunJob(source.scenario, source.text, store=store).run()
        assert result.run_id is not None
        policies: list[bytes] = []
        run = stored_run_document(store, result.run_id, policies)
        picture = recorded_curves(StoredTraces(store, result.run_id), quantities)
    page = runs_page(run["name"], [run], policies, picture, shared=shared, language=ENGLISH, charts=list(quantities))
    told = f"-{hashlib.sha256(' '.join(changes).encode()).hexdigest()[:8]}" if changes else ""
    return LiveFigure(f"{scenario}{told}.html", source.scenario.name, picture, page)
