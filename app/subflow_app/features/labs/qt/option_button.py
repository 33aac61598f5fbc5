"""An option of a question: a radio button whose text is broken into lines, however narrow its panel is."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QPaintEvent, QPalette
from PySide6.QtWidgets import (
    QRadioButton,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QStyleOptionFocusRect,
    QStylePainter,
    QWidget,
)

_LEAST_WIDTH = 160
_WIDE = 260
_ALIGNMENT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter) | int(Qt.TextFlag.TextWordWrap)


class OptionButton(QRadioButton):
    """Qt's own radio buttons keep their text in one line, and a long one makes the page wider than its panel."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        """Not chosen."""
        super().__init__(text, parent)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def hasHeightForWidth(self) -> bool:
        """Lines need height."""
        return True

    def heightForWidth(self, width: int) -> int:
        """The height of all lines in px."""
        contents = self._part(QStyle.SubElement.SE_RadioButtonContents, QSize(width, self.height()))
        room = QRect(0, 0, max(1, contents.width()), 10_000)
        lines = self.fontMetrics().boundingRect(room, _ALIGNMENT, self._shown()).height()
        return max(super().sizeHint().height(), lines + 6)

    def sizeHint(self) -> QSize:
        """One line if it is short."""
        width = min(super().sizeHint().width(), _WIDE)
        return QSize(width, self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        """Narrow; how high it is then depends on its width."""
        return QSize(min(super().sizeHint().width(), _LEAST_WIDTH), super().sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """The style's button, with the text in lines."""
        painter = QStylePainter(self)
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.rect = self._part(QStyle.SubElement.SE_RadioButtonIndicator, self.size())
        painter.drawPrimitive(QStyle.PrimitiveElement.PE_IndicatorRadioButton, option)
        contents = self._part(QStyle.SubElement.SE_RadioButtonContents, self.size())
        painter.drawItemText(
            contents, _ALIGNMENT, self.palette(), self.isEnabled(), self._shown(), QPalette.ColorRole.WindowText
        )
        if self.hasFocus():
            focus = QStyleOptionFocusRect()
            focus.initFrom(self)
            focus.rect = contents
            painter.drawPrimitive(QStyle.PrimitiveElement.PE_FrameFocusRect, focus)

    def _shown(self) -> str:
        return self.text().replace("&&", "&")

    def _part(self, element: QStyle.SubElement, size: QSize) -> QRect:
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.rect = QRect(0, 0, size.width(), size.height())
        return self.style().subElementRect(element, option, self)
