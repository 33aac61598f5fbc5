"""What the links are doing while a run goes on, told to the topology picture from the newest samples."""

from __future__ import annotations

from typing import NamedTuple

from subflow_app.features.editor.qt.topology.view import TopologyView
from subflow_app.features.running.core.runs import RunJob
from subflow_app.features.traces.core.traces import LINK, SeriesKey


class _Direction(NamedTuple):
    owner: str
    utilisation: SeriesKey
    queue: SeriesKey


class LinkStates:
    """Feeds one topology view."""

    def __init__(self, view: TopologyView) -> None:
        """Nothing runs yet."""
        self._view = view
        self._job: RunJob | None = None
        self._text = ""
        self._directions: list[_Direction] = []
        self._is_shown = False
        self._is_held = False

    def hold(self, is_held: bool) -> None:
        """Leaves the picture to others, or takes it back with the next samples."""
        self._is_held = is_held
        if is_held:
            self._is_shown = False

    def start(self, job: RunJob, shown_text: str) -> None:
        """Shows this run from now on; ``shown_text`` is the scenario in the picture."""
        keys = {(key.owner, key.name): key for key in job.traces.keys() if key.scope == LINK}  # noqa: SIM118
        owners = dict.fromkeys(owner for owner, _ in keys)
        self._directions = [
            _Direction(owner, keys[owner, "utilisation"], keys[owner, "queue_pkts"]) for owner in owners
        ]
        self._job = job
        self._text = shown_text

    def update(self, shown_text: str) -> None:
        """Shows the newest samples; ``shown_text`` is the scenario in the picture, which may have been edited since."""
        if self._job is None or self._is_held:
            return
        if shown_text != self._text:
            self._clear_picture()
            return
        traces = self._job.traces
        is_down: dict[str, bool] = {}
        for mark in traces.marks():
            if mark.kind in ("link_up", "link_down"):
                is_down[mark.owner] = mark.kind == "link_down"
        for owner, utilisation, queue in self._directions:
            _, shares = traces.read(utilisation)
            _, lengths = traces.read(queue)
            count = min(len(shares), len(lengths))
            if count:
                down = is_down.get(owner, is_down.get(owner.partition("/")[0], False))
                self._view.set_link_state(owner, float(shares[count - 1]), float(lengths[count - 1]), not down)
        self._view.set_position(self._job.progress.sim_time_s)
        self._is_shown = True

    def stop(self) -> None:
        """Shows the links as they are when nothing runs."""
        self._job = None
        self._clear_picture()

    def _clear_picture(self) -> None:
        if self._is_shown:
            self._view.clear_link_states()
            self._view.set_position(None)
            self._is_shown = False
