"""A run in a database, made in the process of the check, for those that try what comes after a run."""

from __future__ import annotations

from pathlib import Path

from subflow_app.shell.selftest.check import SHORT_RUN, require


def keep_short_run(database: Path) -> int:
    """Makes `SHORT_RUN` and keeps it; returns its number.

    Raises:
        CheckError: if it is not kept.
    """
    from subflow_app.features.catalog.core.uses import Use
    from subflow_app.features.editor.core.scenario_source import open_scenario
    from subflow_app.features.running.core.runs import RunJob
    from subflow_store import open_store

    name, *options = SHORT_RUN
    source = open_scenario(name, use=Use.SELF_TEST, overrides=[word for word in options if word != "--set"])
    with open_store(database) as store:
        result = RunJob(source.scenario, source.text, store=store).run()
    require(result.run_id is not None, f"the run is not kept: {result.store_error or result.error}")
    return result.run_id or 0
