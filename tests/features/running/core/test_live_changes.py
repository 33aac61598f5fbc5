"""A change of a running run: written into its text, stored with it, or refused with the reason."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from pathlib import Path

import pytest
from tests.helpers.present import present
from tests.helpers.scenario_texts import TWO_PATHS

from subflow_app.features.running.core.live_changes import LiveChange, with_change
from subflow_app.features.running.core.runs import RunJob, RunResult
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.foundation.toml_edit import read_toml
from subflow_sim.errors import ScenarioError, SimulationError
from subflow_sim.scenario import parse_scenario
from subflow_sim.simulation import Simulation
from subflow_store import Store

DEADLINE_S = 30.0


class Running:
    """A job in its own thread, which stops at a time given by the test."""

    def __init__(self, store: Store | None = None, text: str = TWO_PATHS) -> None:
        self.job = RunJob(parse_scenario(text), text, store=store)
        self.job.run_to(1.0)
        self.result: RunResult | None = None
        # A failing test leaves the job on hold: a daemon thread does not keep the interpreter from exiting.
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self.wait_until_held()

    def _run(self) -> None:
        self.result = self.job.run()

    def wait_until_held(self) -> None:
        while not self.job.is_held:
            threading.Event().wait(0.001)

    def change(self, **values: object) -> LiveChange:
        return self.ask(**values).result(DEADLINE_S)

    def ask(self, **values: object) -> Future[LiveChange]:
        return self.job.apply(values)  # type: ignore[arg-type]

    def finish(self) -> RunResult:
        self.job.set_speed_limit(None)
        self.job.unpause()
        self._thread.join(DEADLINE_S)
        return present(self.result)


@pytest.fixture
def running() -> Running:
    return Running()


def signature_of(text: str) -> str:
    simulation = Simulation(parse_scenario(text))
    simulation.run_until(simulation.duration_s)
    return simulation.signature()


def test_the_stored_text_of_a_changed_run_gives_the_same_run(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.db") as store:
        running = Running(store)
        running.change(link="wifi", rate="2Mbit/s", delay="20ms")
        running.job.run_to(7.654321)
        running.change(link="lte", direction="forward", loss="3%", queue="10pkt")
        running.job.set_speed_limit(5.0)
        running.job.unpause()  # from now on while it runs
        running.change(link="wifi", up=False)
        running.change(flow="download", subflow=2, backup=True)
        running.change(link="wifi", up=True)
        running.change(flow="download", subflow=1, open=False)
        result = running.finish()
        assert result.status is JobState.FINISHED
        text = store.run(present(result.run_id)).scenario_text
    assert text == running.job.scenario_text
    assert len(read_toml(present(text))["events"]) == 6
    assert signature_of(present(text)) == result.signature
    assert signature_of(TWO_PATHS) != result.signature
    assert [change.values.get("link") for change in running.job.live_changes].count("wifi") == 3


def test_a_change_while_the_run_holds_comes_a_nanosecond_after_where_it_holds(running: Running) -> None:
    first = running.change(link="wifi", up=False)
    second = running.change(link="wifi", up=True)
    assert first.event.at_s == second.event.at_s == pytest.approx(1.000000001, abs=1e-12)
    assert running.job.is_held
    assert running.job.scenario_text.count('at = "1000000001ns"') == 2
    assert signature_of(running.job.scenario_text) == running.finish().signature


def test_a_change_that_the_format_forbids_is_refused_and_nothing_happens(running: Running) -> None:
    with pytest.raises(ScenarioError, match='unknown link "wlan"'):
        running.change(link="wlan", up=False)
    with pytest.raises(ScenarioError, match="has 2 subflows"):
        running.change(flow="download", subflow=9, open=False)
    result = running.finish()
    assert running.job.scenario_text == TWO_PATHS
    assert running.job.live_changes == ()
    assert result.signature == signature_of(TWO_PATHS)


def test_a_change_of_a_run_that_is_over_is_refused(running: Running) -> None:
    running.finish()
    with pytest.raises(SimulationError, match="the run is over"):
        running.change(link="wifi", up=False)


def test_a_change_that_the_end_of_the_run_overtakes_gets_an_answer(running: Running) -> None:
    running.job.stop()
    answer = running.ask(link="wifi", up=False)
    running.finish()
    # The change succeeds if it comes in time, otherwise it is refused with the reason.
    assert answer.exception(DEADLINE_S) is None or "over" in str(answer.exception())


def test_events_in_an_inline_array_take_a_change_too() -> None:
    text = 'events = [{ at = "1s", link = "wifi", up = false }]\n' + TWO_PATHS
    changed = with_change(text, {"link": "lte", "rate": "1Mbit/s"}, 2.000000001)
    assert read_toml(changed)["events"] == [
        {"at": "1s", "link": "wifi", "up": False},
        {"at": "2000000001ns", "link": "lte", "rate": "1Mbit/s"},
    ]


def test_a_change_leaves_the_rest_of_the_text_and_its_line_ends_alone() -> None:
    text = TWO_PATHS.replace("\n", "\r\n")
    changed = with_change(text, {"link": "lte", "up": False}, 2.0)
    assert changed.startswith(text.rstrip())
    assert changed.endswith('[[events]]\r\nat = "2000000000ns"\r\nlink = "lte"\r\nup = false\r\n')


def test_a_run_holds_exactly_where_it_is_sent_and_stays_the_same_run(running: Running) -> None:
    held = []
    for at_s in (1.0, 1.0, 1.000000007, 2.5, 30.123456789):
        running.job.run_to(at_s)
        running.change(link="wifi", loss="2%")  # answered on hold or before
        running.wait_until_held()
        held.append(running.job.progress.sim_time_s)
    assert held[-1] == pytest.approx(30.123456789, abs=1e-12)
    assert signature_of(running.job.scenario_text) == running.finish().signature
