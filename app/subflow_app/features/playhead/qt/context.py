"""One context for the whole window: the scenario, a stored run, or several runs over each other.

While runs from the history are shown that are not of the open scenario, canvas, inspector and lanes show the scenario
of one of them, read-only, and a banner over the canvas names the runs and leads back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.history.core.run_names import run_names, told_apart
from subflow_app.features.playhead.qt.feature import PlayheadFeature
from subflow_app.features.traces.core.scenario_hash import scenario_hash
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.feature import Feature, FeatureMap
from subflow_app.toolkit.theme import Tokens, set_style
from subflow_app.toolkit.widgets.labels import ElidedLabel, IconLabel
from subflow_app.toolkit.widgets.shorthand import Label, h_box, heading, named
from subflow_app.vocabulary.language import tr, trn

if TYPE_CHECKING:
    from subflow_app.features.editor.qt.documents import Documents
    from subflow_app.features.editor.qt.inspector.inspector import Inspector
    from subflow_app.features.editor.qt.topology.view import TopologyView
    from subflow_app.features.plots.qt.plot_view import PlotView
    from subflow_app.features.running.qt.shown_runs import RunOpening, ShownRuns
    from subflow_app.features.traces.core.traces import Traces

_HEIGHT = 32  # px
_MOST_LISTED = 3  # runs whose names the banner lists; of more runs, it lists the controllers
COPY_KEYS = "Ctrl+Shift+Return"


class ContextBanner(QFrame):
    """The names of the runs shown, with the ways back to the scenario and to a copy of the run's scenario."""

    back_wanted = Signal()
    copy_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start hidden."""
        super().__init__(parent)
        named(self, "context_banner")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._title = heading(named(Label(self), "context_title"))
        self._words = named(ElidedLabel(self, Qt.TextElideMode.ElideRight), "context_words")
        self.back = named(QPushButton(tr("Back to the scenario"), self), "context_back")
        self.back.setFlat(True)
        self.back.setToolTip(tr("Show the open scenario again (Esc)"))
        self.back.clicked.connect(self.back_wanted)
        self.copy = named(QPushButton(tr("Edit a copy"), self), "context_copy")
        keys = QKeySequence(COPY_KEYS)
        self.copy.setShortcut(keys)
        shown = keys.toString(QKeySequence.SequenceFormat.NativeText)
        self.copy.setToolTip(tr("Open the scenario of this run as a new one ({keys})", keys=shown))
        self.copy.clicked.connect(self.copy_wanted)
        sign = IconLabel("history", "accent", 14, self)
        h_box(self, sign, self._title, (self._words, 1), self.back, self.copy, margins=(12, 3, 8, 3), spacing=8)
        self.setFixedHeight(max(_HEIGHT, self.fontMetrics().height() + 14))
        set_style(self, _style)
        self.hide()

    def say(self, title: str, words: str, *, can_copy: bool) -> None:
        """Show the names of runs; ``can_copy`` is false for runs without a scenario, and for several runs."""
        self._title.setText(title)
        self._words.setText(words)
        self.setAccessibleName(f"{title} {words}")
        self.copy.setVisible(can_copy)
        self.show()

    @property
    def text(self) -> str:
        """The whole text; empty while the banner is hidden."""
        return "" if self.isHidden() else self.accessibleName()

    def sizeHint(self) -> QSize:
        """As high as one line with buttons."""
        return QSize(super().sizeHint().width(), self.height())


def _style(t: Tokens) -> str:
    return (
        f"#context_banner {{ background: {t.info_fill}; border: none; border-bottom: 1px solid {t.border}; }}"
        f"#context_back {{ color: {t.accent}; border: none; background: none; padding: 2px 8px; }}"
        f"#context_back:hover, #context_back:focus {{ text-decoration: underline; }}"
    )


class ContextPorts(Protocol):
    """Parts of the window that show the scenario or a run."""

    documents: Documents
    inspector: Inspector
    opening: RunOpening
    plots: PlotView
    shown: ShownRuns
    topology: TopologyView

    @property
    def features(self) -> FeatureMap:
        """The features of the window."""


class ContextFeature(Feature):
    """Shows the scenario of the runs from the history in all parts that show a scenario, and leads back."""

    def __init__(self, ports: ContextPorts) -> None:
        """Start with the open scenario."""
        super().__init__()
        self.ports = ports
        self.banner = ContextBanner()
        self._run: Traces | None = None  # the run whose scenario is shown; None: the open scenario

    @property
    def is_of_run(self) -> bool:
        """True while the scenario of a stored run is shown instead of the open one."""
        return self._run is not None

    def connect_parts(self) -> None:
        """Follow the runs shown, the chosen run, and the open scenario."""
        ports = self.ports
        ports.topology.set_banner(self.banner)
        ports.shown.changed.connect(self._update)
        ports.features[PlayheadFeature].playhead.changed.connect(self._follow_choice)
        ports.documents.replaced.connect(lambda _doc: self._on_replaced())
        ports.documents.edited.connect(self._on_edited)
        self.banner.back_wanted.connect(self.back)
        self.banner.copy_wanted.connect(self.edit_copy)

    def back(self) -> None:
        """Show the open scenario again, with the runs that were shown before, if they are of this scenario."""
        self.ports.shown.return_to_own(self._condition())

    def edit_copy(self) -> None:
        """Open the scenario of the run as a new one, after asking about unsaved changes."""
        run = self._run
        if run is not None and run.row is not None:
            self.ports.opening.open_scenario_of(run.row.id)

    # ---- internals ----

    def _condition(self) -> str | None:
        scenario = self.ports.documents.doc.scenario
        return None if scenario is None else scenario_hash(scenario)

    def _on_replaced(self) -> None:
        # The window has put the new scenario into all parts.
        self._run = None
        self.banner.hide()
        self._update()

    def _on_edited(self) -> None:
        if self.is_of_run:
            self._update()

    def _follow_choice(self) -> None:
        playhead = self.ports.features[PlayheadFeature].playhead
        if self.is_of_run and playhead.run is not None and playhead.run.traces is not self._run:
            self._update()

    def _update(self) -> None:
        ports, condition = self.ports, self._condition()
        runs = ports.plots.runs
        is_foreign = ports.shown.is_chosen and any(run.condition != condition for run in runs)
        place = ports.features[PlayheadFeature].playhead.run_shown
        run = runs[place] if is_foreign and 0 <= place < len(runs) else None
        if run is not self._run:
            self._run = run
            self._show_scenario_of(run)
        if run is None:
            self.banner.hide()
        else:
            self.banner.say(*self._words(run, runs), can_copy=len(runs) == 1 and _text_of(run) is not None)
        ports.topology.lay_over()

    def _show_scenario_of(self, run: Traces | None) -> None:
        """Show the scenario of a run, or the open one for None, in canvas, inspector and lanes."""
        ports = self.ports
        text = None if run is None else _text_of(run)
        doc = ports.documents.doc if text is None else ScenarioDoc(text)
        is_read_only = text is not None
        key = ports.topology.selected
        ports.topology.set_document(doc, is_read_only=is_read_only)
        ports.inspector.set_document(doc, is_read_only=is_read_only)
        ports.features[PlayheadFeature].lanes.set_document(doc, is_read_only=is_read_only)
        if key:
            ports.topology.select(key)

    def _words(self, run: Traces, runs: tuple[Traces, ...]) -> tuple[str, str]:
        if len(runs) == 1:
            row = run.row
            if row is None:
                return run.title, ""
            stored = tr("stored {when}", when=fmt.moment(row.ended_at or row.started_at))
            if _text_of(run) is None:
                without = (tr("measured"), stored, tr("without a network: below is the open scenario"))
                return tr("Run {number}", number=row.id), " · ".join(without)
            controllers = ", ".join(dict.fromkeys(run.controllers.values()))
            seed = tr("seed {seed}", seed=row.seed)
            parts = [", ".join(filter(None, (controllers, seed))), stored]
            return tr("Run {number}", number=row.id), " · ".join(parts)
        shorts = told_apart(run_names(runs))[1]
        shown = shorts[runs.index(run)]
        all_controllers = dict.fromkeys(name for each in runs for name in each.controllers.values())
        listed = ", ".join(shorts if len(runs) <= _MOST_LISTED else all_controllers)
        words = tr("{runs} · the network shows {run}", runs=listed, run=shown)
        return trn("{count} run", "{count} runs", len(runs)), words


def _text_of(run: Traces) -> str | None:
    """The text of the scenario of a run; None for a measurement, which lacks a scenario."""
    return (run.row.scenario_text or None) if run.row is not None else None
