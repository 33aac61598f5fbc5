"""Button over the plots, whose text shows the bin length and whose menu contains the choices for curves."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QAbstractScrollArea, QMenu, QToolButton

from subflow_app.features.plots.qt.curve_id import bins_text
from subflow_app.toolkit.theme import Tokens, set_style
from subflow_app.toolkit.widgets.shorthand import sized
from subflow_app.vocabulary.language import tr

_TOP = 1  # px; aligns the button with the title of the first plot


class CurvesButton(QToolButton):
    """Button that covers the upper right corner of the plots, so that the plots keep their full height."""

    def __init__(self, plots: QAbstractScrollArea, menu: QMenu, bin_s: float | None) -> None:
        """Creates the button, which opens ``menu``; its text shows ``bin_s``, see :meth:`show_bins`."""
        super().__init__(plots)
        self.setObjectName("curves_button")
        self.setAutoRaise(True)
        # Like toolbar buttons, the button accepts no focus; menus offer the same choices to keyboard users.
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setMenu(menu)
        self.setToolTip(tr("Drawing of the curves: bins, colours, seeds and many flows"))
        self.fit_font(self.font())
        self._plots = plots
        plots.viewport().installEventFilter(self)
        set_style(self, _style)
        self.show_bins(bin_s)

    def fit_font(self, font: QFont) -> None:
        """Uses ``font`` at 90 % of its size."""
        small = sized(font, 0.9)
        self.setFont(small)

    def show_bins(self, bin_s: float | None) -> None:
        """Sets the button's text to a bin length in s; 0 means raw samples, and None automatic bins."""
        self.setText(f"{bins_text(bin_s)} ▾")
        self.setAccessibleName(bins_text(bin_s))
        self._place()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keeps the button in the corner."""
        if event.type() == QEvent.Type.Resize:
            self._place()
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        self.adjustSize()
        area = self._plots.viewport().geometry()
        self.move(area.right() - self.width() + 1, area.top() + _TOP)
        self.raise_()


def _style(t: Tokens) -> str:
    return (
        f"QToolButton {{ background: {t.base}; color: {t.muted_text}; border: none; padding: 1px 4px; }}"
        f"QToolButton:hover {{ background: {t.alternate_base}; color: {t.text}; }}"
        "QToolButton::menu-indicator { image: none; }"
    )
