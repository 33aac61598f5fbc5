"""A layout that puts widgets beside each other and goes on in the next row where the room ends, like words."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class WrapLayout(QLayout):
    """Its height follows from its width."""

    def __init__(self, parent: QWidget | None = None, spacing: int = 6) -> None:
        """An empty one."""
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._gap = spacing

    def addItem(self, item: QLayoutItem) -> None:
        """Puts an item behind the others."""
        self._items.append(item)

    def count(self) -> int:
        """Number of items."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """An item; None past the end."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """Takes an item out."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        """It wants no more than it needs."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """Fewer items fit beside each other where there is less room."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Height of all rows."""
        return self._arranged(QRect(0, 0, width, 0), is_trial=True)

    def setGeometry(self, area: QRect) -> None:
        """Places all items."""
        super().setGeometry(area)
        self._arranged(area, is_trial=False)

    def sizeHint(self) -> QSize:
        """As little as possible."""
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        """Room for the largest item."""
        size = QSize()
        for item in self._items:
            if not item.isEmpty():
                size = size.expandedTo(item.minimumSize())
        margins = self.contentsMargins()
        return size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom())

    def _arranged(self, area: QRect, *, is_trial: bool) -> int:
        margins = self.contentsMargins()
        inside = area.adjusted(margins.left(), margins.top(), -margins.right(), -margins.bottom())
        x, y, row = inside.x(), inside.y(), 0
        for item in self._items:
            if item.isEmpty():
                continue
            size = item.sizeHint().expandedTo(item.minimumSize())
            if x > inside.x() and x + size.width() > inside.right() + 1:
                x, y, row = inside.x(), y + row + self._gap, 0
            if not is_trial:
                item.setGeometry(QRect(QPoint(x, y), size))
            x += size.width() + self._gap
            row = max(row, size.height())
        return y + row - area.y() + margins.bottom()
