"""One experiment, large: its figure, what the paper claims, the verdicts, the paper's numbers beside ours, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QPlainTextEdit,
    QSplitter,
    QTabWidget,
    QWidget,
)

from subflow_app.features.gallery.core.exhibits import Exhibit
from subflow_app.features.gallery.core.recipe import SOURCES
from subflow_app.features.gallery.core.report_tables import (
    published_table,
    rulings_table,
    settings_table,
    trial_table,
    verdict_table,
)
from subflow_app.features.gallery.core.reproduction_queue import QueuedState
from subflow_app.features.gallery.core.rulings import rulings
from subflow_app.features.gallery.qt.figure_view import FigureView
from subflow_app.features.gallery.qt.text_table import TextTableView
from subflow_app.features.gallery.qt.texts import cause_text, counts_text, state_text, takes_text, verdict_text
from subflow_app.toolkit.plain_text import Label
from subflow_app.toolkit.theme import muted
from subflow_app.toolkit.widgets.action_buttons import action_buttons
from subflow_app.toolkit.widgets.shorthand import h_box, heading, named, split, v_box
from subflow_app.vocabulary.language import tr

_FIGURE_SHARE = (7, 3)


class ExperimentPage(QWidget):
    """Shows an :class:`Exhibit`; what is done with it are actions of the window."""

    def __init__(self, actions: Sequence[QAction], parent: QWidget | None = None) -> None:
        """Nothing yet; ``actions`` become buttons beside the title."""
        super().__init__(parent)
        named(self, "gallery_page", tr("Experiment"))
        self.exhibit: Exhibit | None = None  # what is shown
        self.title = heading(named(Label(self, wordWrap=True), "gallery_title"), 1.15)
        self.claim = named(Label(self, wordWrap=True), "gallery_claim")
        self.claim.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.state = named(muted(Label(self, wordWrap=True)), "gallery_state")
        top = h_box(None, (self.title, 1), h_box(None, *action_buttons(actions), spacing=2))
        self.figure = FigureView(self)
        self.verdicts = TextTableView("gallery_verdicts", tr("Verdicts"))
        self.published = TextTableView("gallery_published", tr("Printed in the paper, and ours"))
        self.rulings = TextTableView("gallery_rulings", tr("Rulings"))
        self.settings = TextTableView("gallery_settings", tr("Settings"))
        self.why = named(QPlainTextEdit(self, readOnly=True), "gallery_why", tr("Differences and their causes"))
        self.why.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self.why.setTabChangesFocus(True)
        self.trials = TextTableView("gallery_trials", tr("Causes of failed checks"))
        self.tabs = named(QTabWidget(self, documentMode=True), "gallery_tabs", tr("Experiment"))
        self.tabs.addTab(self.verdicts, tr("Verdicts"))
        self.tabs.addTab(self.trials, tr("Causes"))
        self.tabs.addTab(self.published, tr("Beside the paper"))
        self.tabs.addTab(self.why, tr("Why it differs"))
        self.tabs.addTab(self.rulings, tr("Rulings"))
        self.tabs.addTab(self.settings, tr("Settings"))
        sizes = [100 * share for share in _FIGURE_SHARE]
        parts = QSplitter(Qt.Orientation.Vertical, self)
        splitter = split(parts, self.figure, self.tabs, shares=_FIGURE_SHARE, sizes=sizes)
        v_box(self, top, self.claim, self.state, (splitter, 1), margins=(10, 6, 6, 4), spacing=4)

    def show_exhibit(self, exhibit: Exhibit, queued: QueuedState | None) -> None:
        """Shows an experiment, or another state of it; its picture comes by itself."""
        is_other = self.exhibit is None or self.exhibit.name != exhibit.name
        self.exhibit = exhibit
        recipe, results = exhibit.recipe, exhibit.results
        self.show_queued(queued)
        if recipe is None:
            self.title.setText(exhibit.name)
            self.claim.clear()
            self.figure.show_words(exhibit.problem)
            return
        figure = recipe.figure if not recipe.figure[:1].isdecimal() else tr("figure {figure}", figure=recipe.figure)
        self.title.setText(f"{SOURCES[recipe.paper]}, {figure}: {recipe.title}")
        self.claim.setText(tr("The paper: {claim}", claim=recipe.claim))
        if is_other or exhibit.figure is None:
            self.figure.show_words(tr("Drawing…") if exhibit.figure is not None else self._will_show(exhibit))
        lines = [recipe.disagrees] if recipe.disagrees else []
        lines += [tr("Not measured: {reason}", reason=reason) for reason in exhibit.missing] if results else []
        self.why.setPlainText("\n\n".join(lines) or tr("Nothing is known to differ."))
        register = rulings()
        self.rulings.show_table(rulings_table([register[name] for name in recipe.rulings]))
        if results is None:
            for table in (self.verdicts, self.trials, self.published, self.settings):
                table.show_table(replace(table.text_model.table, rows=()))
            return
        told = verdict_table(results)
        rows = tuple(
            (row[0], verdict_text(verdict.kind), *row[2:4], cause_text(verdict), *row[5:])
            for row, verdict in zip(told.rows, exhibit.verdicts, strict=True)
        )
        self.verdicts.show_table(replace(told, rows=rows))
        self.trials.show_table(trial_table(results))
        self.published.show_table(published_table(results))
        self.settings.show_table(settings_table(results))

    def show_queued(self, queued: QueuedState | None) -> None:
        """Shows where it stands."""
        if self.exhibit is not None:
            told = [state_text(self.exhibit, queued), counts_text(self.exhibit.counts), takes_text(self.exhibit)]
            self.state.setText(" · ".join(text for text in told if text))

    def _will_show(self, exhibit: Exhibit) -> str:
        """What a run would draw."""
        assert exhibit.recipe is not None
        if exhibit.problem:
            return exhibit.problem
        recipe = exhibit.recipe
        labels = [recipe.measures[name].label for panel in recipe.panels for name in panel.measures]
        measures = ", ".join(dict.fromkeys(labels))
        series = ", ".join(recipe.series)
        if recipe.axis.is_single:
            told = tr("A run will draw here: {measures} of {series}.", measures=measures, series=series)
        else:
            told = tr(
                "A run will draw here: {measures} of {series} against {axis}.",
                measures=measures,
                series=series,
                axis=recipe.axis.label,
            )
        return f"{tr('Not run yet.')} {told}"
