"""Stepping through a run, and sending it to a time: what the actions ask, the run does exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from subflow_app.features.editor.core.form_text import unit_of, with_unit
from subflow_app.features.running.core.stepping import StepSize, next_event_s, step_end_s
from subflow_app.foundation.errors import InputError
from subflow_app.vocabulary.language import tr
from subflow_sim.errors import ParamError
from subflow_sim.scenario import Scenario
from subflow_sim.units import Dimension, format_quantity, parse_quantity

if TYPE_CHECKING:
    from subflow_app.features.editor.qt.documents import Documents
    from subflow_app.features.running.qt.run_control import RunControl
    from subflow_app.features.running.qt.run_session import RunSession
    from subflow_app.toolkit.dialogs import Dialogs
    from subflow_app.toolkit.preferences import Preferences


class Stepping:
    """Lets the run of a window go on to a time and hold there; starts one if nothing runs."""

    def __init__(
        self, runs: RunControl, session: RunSession, documents: Documents, preferences: Preferences, dialogs: Dialogs
    ) -> None:
        """Joins the parts of one window."""
        self._runs = runs
        self._session = session
        self._documents = documents
        self._preferences = preferences
        self._dialogs = dialogs

    def step(self, size: StepSize) -> None:
        """Goes on by one step and holds."""
        scenario, now_s, interval_s = self._where()
        if scenario is not None:
            self._go_to(step_end_s(size, scenario, now_s, interval_s))

    def run_until(self) -> None:
        """Asks for a time, goes on to it and holds.

        Raises:
            InputError: if what was typed is not a time, or one that has passed or lies after the end.
        """
        scenario, now_s, _interval_s = self._where()
        if scenario is None:
            return
        at_s = next_event_s(scenario, now_s)
        suggested = format_quantity(scenario.duration_s if at_s is None else at_s, Dimension.TIME)
        label = tr("Simulated time to pause at; the next event or the end is suggested")
        typed = self._dialogs.line(tr("Run until"), label, suggested)
        if not typed:
            return
        end = format_quantity(scenario.duration_s, Dimension.TIME)
        try:
            until_s = parse_quantity(with_unit(typed, unit_of(suggested, Dimension.TIME)), Dimension.TIME)
        except ParamError as error:
            raise InputError(tr('"{text}" is not a time to run until: {reason}', text=typed, reason=error)) from error
        if not now_s < until_s <= scenario.duration_s:
            now = format_quantity(now_s, Dimension.TIME)
            why = tr(
                'The run cannot go to "{text}": choose a time after {now}, up to {end}.', text=typed, now=now, end=end
            )
            raise InputError(why)
        self._go_to(until_s)

    def _where(self) -> tuple[Scenario | None, float, float]:
        """The scenario that runs or would run, how far it is, and the time between two samples."""
        job = self._runs.job
        if job is not None:
            return job.scenario, job.progress.sim_time_s, job.sample_interval_s
        return self._documents.doc.scenario, 0.0, self._preferences.settings.sample_interval_s

    def _go_to(self, until_s: float) -> None:
        if self._runs.is_running:
            self._runs.run_to(until_s)
        else:
            self._session.start(until_s)
