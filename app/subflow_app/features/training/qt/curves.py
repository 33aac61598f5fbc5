"""The curves of the selected trainings with their choices; exists without pyqtgraph, which the first curve loads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from subflow_app.features.training.core.training_metrics import DEFAULT_TRAINING_PLOTS, TRAINING_PLOTS, TrainingPlot
from subflow_app.features.training.core.training_progress import Training
from subflow_app.toolkit.widgets.empty_state import EmptyState
from subflow_app.toolkit.widgets.shorthand import h_box, named, pages, v_box
from subflow_app.vocabulary.language import tr, translatable

if TYPE_CHECKING:
    from subflow_app.features.training.qt.training_plots import TrainingPlots

_X_TEXTS = {"step": translatable("Over decisions"), "elapsed_s": translatable("Over training time")}


class TrainingCurves(QWidget):
    """Plots of every metric that is switched on and that a selected training has."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Nothing is selected."""
        super().__init__(parent)
        self.setObjectName("training_curves")
        self._shown: tuple[tuple[Training, int], ...] = ()
        self._wanted = set(DEFAULT_TRAINING_PLOTS)
        self._x = "step"
        self.plots: TrainingPlots | None = None  # the plots; None before the first curve
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
        """What is plotted: what is wanted, as far as a selected training has it, and return and goodput anyway."""
        always = DEFAULT_TRAINING_PLOTS[:2]
        return tuple(
            spec
            for spec in TRAINING_PLOTS
            if spec.metric.key in self._wanted
            and (spec.metric.key in always or any(training.log.has(spec.metric.key) for training, _hue in self._shown))
        )

    def show_trainings(self, trainings: Sequence[tuple[Training, int]]) -> None:
        """Shows these trainings, each with the number of its colour."""
        self._shown = tuple(trainings)
        self._pages.setCurrentIndex(0)
        if not trainings:
            return
        plots = self._load()
        plots.set_specs(self.specs)
        plots.show_trainings(self._shown)
        self._pages.setCurrentIndex(1)

    def refresh(self) -> None:
        """Draws the reports that came since the last call; nothing to do while hidden."""
        if self.plots is not None and self._shown and self.isVisible():
            self.plots.set_specs(self.specs)
            self.plots.refresh()

    def set_x(self, x: str) -> None:
        """Draws over "step" or "elapsed_s"."""
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

    # ---- inside ----

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
