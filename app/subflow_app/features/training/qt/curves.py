"""The curves of the selected training runs, and a picture of the policy of one training run, with their choosers.

The picture is redrawn while the policy learns. Neither widget loads pyqtgraph before it draws something.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QComboBox, QMenu, QToolButton, QWidget

from subflow_app.features.training.core.policy_surface import SeenPolicy, Surface, policy_surface
from subflow_app.features.training.core.training_metrics import DEFAULT_TRAINING_PLOTS, TRAINING_PLOTS, TrainingPlot
from subflow_app.features.training.core.training_progress import Training
from subflow_app.foundation.problem_texts import error_text
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.theme import muted
from subflow_app.toolkit.widgets.empty_state import EmptyState
from subflow_app.toolkit.widgets.shorthand import Label, as_written, captioned, h_box, named, pages, v_box
from subflow_app.toolkit.workers import LatestReader, Workers
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.picture import ColourScale, Panel
from subflow_app.vocabulary.plain_text import capitalised

if TYPE_CHECKING:
    from subflow_app.features.plots.qt.panel_plot import PanelPlot
    from subflow_app.features.training.qt.training_plots import TrainingPlots


_X_TEXTS = {"step": translatable("Over decisions"), "elapsed_s": translatable("Over training time")}


class TrainingCurves(QWidget):
    """Plots of those selected metrics that any of the selected training runs has reported."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("training_curves")
        self._shown: tuple[tuple[Training, int], ...] = ()
        self._wanted = set(DEFAULT_TRAINING_PLOTS)
        self._x = "step"
        self.plots: TrainingPlots | None = None  # None before the first curve
        self._empty = EmptyState(
            "plots", tr("No training selected"), tr("Select trainings above to see how they learn.")
        )
        self._pages = pages(self, self._empty, fills=True)
        self.plots_button = self._button(
            "training_plots_button", tr("Plots ▾"), tr("Choose the metrics that are plotted")
        )
        self.x_button = self._button("training_x_button", "", tr("Choose the horizontal axis of the curves"))
        self._fill_plots_menu()
        self._fill_x_menu()
        bar = h_box(None, self.x_button, self.plots_button, None, margins=(6, 2, 6, 2))
        v_box(self, bar, (self._pages, 1), margins=0, spacing=0)

    @property
    def specs(self) -> tuple[TrainingPlot, ...]:
        """The plots that are switched on and have data in a selected training run; return and goodput need no data."""
        always = DEFAULT_TRAINING_PLOTS[:2]
        return tuple(
            spec
            for spec in TRAINING_PLOTS
            if spec.metric.key in self._wanted
            and (spec.metric.key in always or any(training.log.has(spec.metric.key) for training, _hue in self._shown))
        )

    def show_trainings(self, trainings: Sequence[tuple[Training, int]]) -> None:
        """Shows these training runs, each with the index of its colour."""
        self._shown = tuple(trainings)
        self._pages.setCurrentIndex(0)
        if not trainings:
            return
        plots = self._load()
        plots.set_specs(self.specs)
        plots.show_trainings(self._shown)
        self._pages.setCurrentIndex(1)

    def refresh(self) -> None:
        """Draws reports that have arrived since the last call; no effect while the widget is hidden."""
        if self.plots is not None and self._shown and self.isVisible():
            self.plots.set_specs(self.specs)
            self.plots.refresh()

    def set_x(self, x: str) -> None:
        """Sets the horizontal axis, "step" or "elapsed_s"."""
        self._x = x
        self.x_button.setText(f"{tr(_X_TEXTS[x])} ▾")
        if self.plots is not None:
            self.plots.set_x(x)

    def set_plot_wanted(self, metric: str, is_wanted: bool) -> None:
        """Switches a plot on or off."""
        if is_wanted:
            self._wanted.add(metric)
        else:
            self._wanted.discard(metric)
        if self.plots is not None:
            self.plots.set_specs(self.specs)

    # ---- internals ----

    def _load(self) -> TrainingPlots:
        if self.plots is None:
            from subflow_app.features.training.qt.training_plots import TrainingPlots
            from subflow_app.toolkit.plotting.plot_scroll import PlotScroll

            self.plots = TrainingPlots(self.specs, self)
            self.plots.set_x(self._x)
            self._pages.addWidget(PlotScroll(self.plots))
        return self.plots

    def _button(self, name: str, text: str, tip: str) -> QToolButton:
        button = named(QToolButton(self, autoRaise=True), name, tip, tip)
        button.setText(text)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setStyleSheet("QToolButton::menu-indicator { image: none; }")
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return button

    def _fill_plots_menu(self) -> None:
        menu = QMenu(self.plots_button)
        for spec in TRAINING_PLOTS:
            action = menu.addAction(tr(spec.metric.title))
            action.setObjectName(f"training_plot_{spec.metric.key}")
            action.setCheckable(True)
            action.setChecked(spec.metric.key in self._wanted)
            action.toggled.connect(lambda is_on, metric=spec.metric.key: self.set_plot_wanted(metric, is_on))
        self.plots_button.setMenu(menu)

    def _fill_x_menu(self) -> None:
        menu, group = QMenu(self.x_button), QActionGroup(self)
        for x, text in _X_TEXTS.items():
            action = QAction(tr(text), menu)
            action.setCheckable(True)
            action.setChecked(x == self._x)
            action.triggered.connect(lambda _checked, x=x: self.set_x(x))
            group.addAction(action)
            menu.addAction(action)
        self.x_button.setMenu(menu)
        self.set_x(self._x)


_NO_TITLE = translatable("No policy yet")
_NO_TEXT = translatable("Select one training: its policy appears here soon after it has started to learn.")
_LABEL_WIDTH = 12  # characters
_ABBREVIATIONS = ("rtt", "mptcp")


class PolicyView(QWidget):
    """Picture of a policy. A worker thread computes one picture at a time, and only the latest request waits for it."""

    def __init__(
        self, workers: Workers, observe: Callable[[Training], SeenPolicy], parent: QWidget | None = None
    ) -> None:
        """Starts with an empty page; ``observe`` runs a policy briefly to collect observations."""
        super().__init__(parent)
        self.setObjectName("policy_view")
        self._observe = observe
        self._training: Training | None = None
        self._seen: SeenPolicy | None = None
        self._seen_key: tuple[str, int] | None = None
        self._asking: tuple[str, int] | None = None  # key of the request in progress
        self._reader = LatestReader(workers, self, "policy view")
        self._reader.read.connect(lambda found: self._on_made(*found))
        self._reader.failed.connect(self._on_failed)
        self.picture: PanelPlot | None = None  # None before the first picture
        self.across = self._chooser("policy_x", tr("Feature along the picture"))
        self.up = self._chooser("policy_y", tr("Feature up the picture"))
        self.output = self._chooser("policy_output", tr("Action shown by the colour"))
        self.status = named(muted(Label(self, wordWrap=True)), "policy_status")
        self._empty = EmptyState("policy", tr(_NO_TITLE), tr(_NO_TEXT))
        self._pages = pages(self, self._empty, fills=True)
        self._choosers = QWidget(self)
        across, up = captioned(tr("&Across:"), self.across), captioned(tr("&Up:"), self.up)
        h_box(self._choosers, *across, *up, *captioned(tr("C&olour:"), self.output), None, margins=(8, 4, 8, 4))
        v_box(self, self._choosers, (self._pages, 1), self.status, margins=0, spacing=0)
        self.status.setContentsMargins(8, 2, 8, 4)
        self._show_nothing(tr(_NO_TITLE), tr(_NO_TEXT))

    @property
    def panel(self) -> Panel | None:
        """The picture; None if the page shows no policy."""
        is_shown = self.picture is not None and self._pages.currentWidget() is self.picture
        return self.picture.shown_panel() if self.picture is not None and is_shown else None

    def show_training(self, training: Training | None) -> None:
        """Shows the policy of this training run; None shows an empty page."""
        if training is not self._training:
            self._training = training
            self._seen = self._seen_key = self._asking = None
            self._reader.forget()
            self._show_nothing(tr(_NO_TITLE), tr(_NO_TEXT))
        self.refresh()

    def refresh(self) -> None:
        """Redraws the picture if a newer policy was written; no effect while the widget is hidden."""
        training = self._training
        if training is None or not self.isVisible() or training.policy_path is None:
            return
        if (training.id, training.policy_version) not in (self._seen_key, self._asking):
            self._ask()

    # ---- internals ----

    def _ask(self) -> None:
        """Requests a picture. If a picture is being computed, the request waits until that is done."""
        training = self._training
        if training is None:
            return
        self._asking = key = (training.id, training.policy_version)
        wanted = (self.across.currentText(), self.up.currentText(), self.output.currentText())

        def work(_is_given_up: Callable[[], bool]) -> tuple[tuple[str, int], _Made]:
            # Checked in the worker, because an earlier request may have provided the observations in the meantime.
            seen = self._seen if key == self._seen_key else None
            return key, _draw(seen or self._observe(training), wanted)

        self._reader.ask(work, is_other=False)

    def _on_made(self, key: tuple[str, int], made: _Made) -> None:
        self._seen, self._seen_key = made.seen, key
        self._show(made)

    def _on_failed(self, error: Exception) -> None:
        # Count this version of the policy as seen, so that only a newer policy file leads to another attempt.
        if not self._reader.is_busy:
            self._seen_key = self._asking
        if self._seen is None:
            self._show_nothing(tr("The policy cannot be shown"), error_text(error))

    def _show(self, made: _Made) -> None:
        picture, seen = self._load(), made.seen
        self._fill_choosers(made)
        across, up, output = seen.features[made.x], seen.features[made.y], seen.outputs[made.output]
        low, high = (0.0, len(output.choices) - 1.0) if output.choices else (output.minimum, output.maximum)
        # The full range of actions, so that colours keep their meaning while the policy learns.
        scale = ColourScale(
            _title(output.name, output.unit),
            low,
            high,
            "fading" if low < 0 < high else "rising",
            ticks=tuple((float(number), choice) for number, choice in enumerate(output.choices)),
        )
        titles = _title(across.name, across.unit), _title(up.name, up.unit)
        picture.show_panel(made.surface.panel(*titles, scale), ())
        self._pages.setCurrentWidget(picture)
        self._choosers.show()
        count = fmt.count(len(made.surface.points))
        sentences = [tr("Dots: the latest {count} decisions of this policy on its training scenario.", count=count)]
        if len(seen.features) > 2:
            sentences.append(tr("The other features are at their median."))
        self.status.setText(" ".join(sentences))

    def _show_nothing(self, title: str, text: str) -> None:
        self._empty.set_text(title, text)
        self._pages.setCurrentWidget(self._empty)
        self._choosers.hide()
        self.status.clear()

    def _fill_choosers(self, made: _Made) -> None:
        seen = made.seen
        features = [(_words(feature.name), tr(feature.help)) for feature in seen.features]
        outputs = [(_words(output.name), "") for output in seen.outputs]
        for chooser, entries, chosen in (
            (self.across, features, made.x),
            (self.up, features, made.y),
            (self.output, outputs, made.output),
        ):
            if [chooser.itemText(number) for number in range(chooser.count())] == [text for text, _tip in entries]:
                # The entries are unchanged, so the selection is kept: the person may have just changed it.
                continue
            chooser.blockSignals(True)
            chooser.clear()
            for number, (text, tip) in enumerate(entries):
                chooser.addItem(text)
                chooser.setItemData(number, as_written(tip) or None, Qt.ItemDataRole.ToolTipRole)
            chooser.setCurrentIndex(chosen)
            chooser.blockSignals(False)
        self.output.setEnabled(len(outputs) > 1)

    def _load(self) -> PanelPlot:
        if self.picture is None:
            from subflow_app.features.plots.qt.panel_plot import PanelPlot

            self.picture = PanelPlot("heat_map", tr("Action of the policy over two observation features"), parent=self)
            self._pages.addWidget(self.picture)
        return self.picture

    def _chooser(self, name: str, tip: str) -> QComboBox:
        chooser = named(QComboBox(self, sizeAdjustPolicy=QComboBox.SizeAdjustPolicy.AdjustToContents), name, tip, tip)
        chooser.setMinimumContentsLength(_LABEL_WIDTH)
        chooser.currentIndexChanged.connect(lambda _index: self._ask())
        return chooser


class _Made(NamedTuple):
    """A picture with its policy, and the indexes of the chosen features and action."""

    seen: SeenPolicy
    x: int
    y: int
    output: int
    surface: Surface


def _draw(seen: SeenPolicy, wanted: tuple[str, str, str]) -> _Made:
    """Draw the features and the action with these names; for an unknown name, the first feature or action."""
    names = [_words(feature.name) for feature in seen.features]
    outputs = [_words(output.name) for output in seen.outputs]
    x = names.index(wanted[0]) if wanted[0] in names else 0
    y = names.index(wanted[1]) if wanted[1] in names else (x + 1) % len(names)
    output = outputs.index(wanted[2]) if wanted[2] in outputs else 0
    return _Made(seen, x, y, output, policy_surface(seen.policy, seen.features, seen.seen, x, y, output=output))


def _words(name: str) -> str:
    return " ".join(word.upper() if word in _ABBREVIATIONS else word for word in name.split("_"))


def _title(name: str, unit: str) -> str:
    text = _words(name)
    text = capitalised(text)
    return f"{text} ({unit})" if unit not in ("", "1") else text
