"""The playhead on the canvas: packets move, queues fill, links show what they carry, windows show as gauges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from subflow_app.features.editor.qt.topology.view import TopologyView
from subflow_app.features.explain.core.instants import PacketPlaces, SubflowGauge, Track, packet_places
from subflow_app.features.playhead.qt.gauges import Gauge, Gauges
from subflow_app.features.playhead.qt.packet_item import PacketItem
from subflow_app.features.playhead.qt.playhead import Playhead
from subflow_app.features.playhead.qt.tracks import track_of
from subflow_app.features.plots.core.spec import transport_colours
from subflow_app.features.traces.core.traces import Traces, owner_label
from subflow_app.toolkit.theme import Tokens, current_tokens, follow_theme
from subflow_app.toolkit.widgets.shorthand import timer
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.palette import hex_colour

if TYPE_CHECKING:
    from subflow_app.features.plots.qt.plot_view import PlotView

# Packets of the moment before are faint once the state that is wanted takes so long to come.
_STALE_MS, _STALE_OPACITY = 100, 0.25


class CanvasShow(QObject):
    """Draws the time of one playhead on one canvas."""

    def __init__(self, playhead: Playhead, view: TopologyView, plots: PlotView) -> None:
        """Draws the time that somebody has gone to or, as long as nobody has, nothing."""
        super().__init__(view)
        self._playhead = playhead
        self._view = view
        self._plots = plots
        self._item: PacketItem | None = None
        self._gauges = Gauges(view)
        view.set_stand_in(self._gauges)
        self._gauges.chosen.connect(lambda flow: view.select(f"flows.{flow}"))
        self._tracks: Mapping[str, Track] | None = None
        self._matching: frozenset[str] | None = None
        self._colours: dict[str, str] | None = None
        self._is_shown = False
        self._stale = timer(self, self._fade, _STALE_MS, is_single=True)
        view.scene.laid_out.connect(self._forget_picture)
        playhead.moved.connect(self._on_moved)
        playhead.arrived.connect(self._on_arrived)
        playhead.left.connect(self._clear)
        playhead.events_changed.connect(self._forget_run)
        follow_theme(self._recolour)
        if playhead.time_s is not None:
            self._on_moved(playhead.time_s)

    @property
    def places(self) -> PacketPlaces | None:
        """The packets that are drawn; None while there are none."""
        return self._item.places if self._item is not None else None

    @property
    def left_out(self) -> int:
        """Packets that are not drawn, because a link has too many."""
        return self.places.left_out if self.places is not None else 0

    def difference(self) -> str:
        """Why the picture does not, or not quite, move with the run; empty if it does."""
        run = self._playhead.run
        samples = self._playhead.samples
        if run is None or samples is None:
            return ""
        owners = {owner.partition("/")[0] for owner in samples.link_owners}
        missing = sorted(owners - self._matched(run.traces))
        if not missing:
            return ""
        if len(missing) == len(owners):
            return tr("The picture shows a scenario other than that of this run: only plots and events move.")
        return tr(
            "Some links of this run are not in the picture ({links}): only the others move.",
            links=", ".join(missing[:5]) + ("…" if len(missing) > 5 else ""),
        )

    def _recolour(self, _tokens: Tokens) -> None:
        self._colours = None
        if self._item is not None:
            self._draw()

    # ---- drawing ----

    def _on_moved(self, _time_s: float) -> None:
        self._draw_links()
        if self._playhead.instant is None:
            self._draw_gauges()
        elif not self._stale.isActive():
            self._stale.start()

    def _on_arrived(self) -> None:
        self._stale.stop()
        if self._item is not None:
            self._item.setOpacity(1.0)
        self._draw()

    def _fade(self) -> None:
        """Shows that the packets are still those of another moment."""
        if self._item is not None and self._playhead.is_waiting:
            self._item.setOpacity(_STALE_OPACITY)

    def _draw(self) -> None:
        if self._playhead.time_s is None:
            return
        self._draw_links()
        self._draw_packets()
        self._draw_gauges()

    def _draw_links(self) -> None:
        run, samples, time_s = self._playhead.run, self._playhead.samples, self._playhead.time_s
        if run is None or samples is None or time_s is None:
            return
        self._is_shown = True
        instant = self._playhead.instant
        exact = {}
        if instant is not None:
            links = instant.links
            exact = dict(
                zip(links.names, zip(links.queue_pkts.tolist(), links.is_up.tolist(), strict=True), strict=True)
            )
        matched = self._matched(run.traces)
        for sample in samples.links_at(time_s):
            if sample.owner.partition("/")[0] in matched:
                queue_pkts, is_up = exact.get(sample.owner, (sample.queue_pkts, sample.is_up))
                self._view.set_link_state(sample.owner, sample.utilisation, queue_pkts, bool(is_up))

    def _draw_packets(self) -> None:
        instant, run = self._playhead.instant, self._playhead.run
        if instant is None or run is None:
            return
        scene = self._view.scene
        if self._item is None:
            self._item = PacketItem()
            scene.addItem(self._item)
        matched = self._matched(run.traces)
        if self._tracks is None:
            self._tracks = {name: track_of(item) for name, item in scene.link_items().items() if item.curve is not None}
            self._view.set_quiet(bool(matched))
        tracks = {name: track for name, track in self._tracks.items() if name in matched}
        colours = self._subflow_colours(run.traces)
        self._item.show_places(
            packet_places(instant, tracks),
            {number: colours.get(name, "#808080") for number, name in enumerate(instant.subflows.names)},
        )

    def _draw_gauges(self) -> None:
        run, samples, time_s = self._playhead.run, self._playhead.samples, self._playhead.time_s
        if run is None or samples is None or time_s is None:
            return
        if not self._matched(run.traces):
            # The picture is of something else, and so is its legend.
            self._view.show_stand_in(False)
            return
        instant = self._playhead.instant
        if instant is not None:
            now = instant.subflows
            told = [
                SubflowGauge(name, state, cwnd, ssthresh, inflight)
                for name, state, cwnd, ssthresh, inflight in zip(
                    now.names,
                    now.state,
                    now.cwnd_pkts.tolist(),
                    now.ssthresh_pkts.tolist(),
                    now.inflight_pkts.tolist(),
                    strict=True,
                )
                if state != "datagrams"
            ]
        else:
            told = samples.gauges_at(time_s)
        colours = self._subflow_colours(run.traces)
        owners = [each.owner for each in told]
        self._gauges.show_gauges(
            [
                Gauge(_name_of(each.owner, owners, run.traces.labels), colours.get(each.owner, "#808080"), each)
                for each in told
            ],
            samples.largest_cwnd_pkts,
        )
        self._view.show_stand_in(bool(told))

    def _clear(self) -> None:
        self._stale.stop()
        if self._item is not None:
            self._item.setOpacity(1.0)
            self._item.show_places(None, {})
        self._tracks = None
        self._view.set_quiet(False)
        self._view.show_stand_in(False)
        if self._is_shown:
            self._is_shown = False
            self._view.clear_link_states()
            self._view.set_position(None)

    # ---- what is known of picture and run ----

    def _forget_picture(self) -> None:
        self._tracks = self._matching = None
        if self._playhead.time_s is not None:
            self._draw()

    def _forget_run(self) -> None:
        self._matching = self._colours = None

    def _matched(self, traces: Traces) -> frozenset[str]:
        """The links that run and picture have with the same names and ends."""
        if self._matching is None:
            scenario, samples = self._view.doc.sketch, self._playhead.samples
            drawn = self._view.scene.link_items()
            self._matching = frozenset(
                owner.partition("/")[0]
                for owner in (samples.link_owners if samples is not None else ())
                if scenario is not None
                and owner.partition("/")[0] in drawn
                and traces.labels.get(owner) == owner_label(scenario, owner)
            )
        return self._matching

    def _subflow_colours(self, traces: Traces) -> dict[str, str]:
        """Those of the plots, as a person may have chosen them."""
        if self._colours is None:
            is_dark = current_tokens().is_dark
            keys = transport_colours(traces)
            for stack in self._plots.stacks:
                keys |= {
                    key.owner: curve.colour
                    for key, curve in stack.curves.items()
                    if key.run == self._playhead.run_shown and key.owner in keys and "/" in key.owner
                }
            self._colours = {owner: hex_colour(key, dark=is_dark) for owner, key in keys.items()}
        return self._colours


def _name_of(owner: str, owners: Sequence[str], labels: Mapping[str, str]) -> str:
    """What a subflow is called where there is little room: as its flow, its path, or both where one says too little."""
    flow = owner.partition("/")[0]
    of_flow = sum(each.partition("/")[0] == flow for each in owners)
    if of_flow == 1:
        return labels.get(flow, flow)
    label = labels.get(owner, owner)
    return label.partition(" · ")[2] or label if of_flow == len(owners) else label
