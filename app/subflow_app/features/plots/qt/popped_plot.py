"""A plot in a separate window, with the runs, lines, colours and time range of the stack that it was taken from."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QWidget

from subflow_app.features.plots.core import PlotSpec
from subflow_app.features.plots.qt.plot_stack import PlotStack
from subflow_app.toolkit.plotting.plot_scroll import PlotScroll
from subflow_app.toolkit.widgets.shorthand import v_box
from subflow_app.vocabulary.language import tr

_SIZE = QSize(760, 420)


class PoppedPlot(QWidget):
    """Separate window of one plot; closing the window returns the plot to its stack."""

    returned = Signal(str)  # id of the plot

    def __init__(self, spec: PlotSpec, origin: PlotStack, parent: QWidget) -> None:
        """Shows ``spec`` as ``origin`` does, and shares time range and crosshair with it."""
        super().__init__(parent, Qt.WindowType.Window)
        self.setObjectName(f"popped_{spec.id}")
        self.setWindowTitle(tr("{plot} plot — Subflow", plot=tr(spec.title)))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.spec = spec
        self.stack = PlotStack([spec], self)
        self.stack.setAccessibleName(tr("{plot} plot", plot=tr(spec.title)))
        v_box(self, PlotScroll(self.stack, self), margins=0)
        self.resize(_SIZE)
        self.stack.take_switches(origin)
        self.stack.show_runs(origin.runs)
        self.stack.set_hidden(origin.hidden)
        self.stack.follow_time(*origin.time_range)
        self.stack.time_range_changed.connect(origin.follow_time)
        origin.time_range_changed.connect(self.stack.follow_time)
        self.stack.cursor_moved.connect(origin.set_cursor)
        origin.cursor_moved.connect(self.stack.set_cursor)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Returns the plot to its origin."""
        event.accept()
        self.returned.emit(self.spec.id)
