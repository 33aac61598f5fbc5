"""Trees of two levels for views: rows, and rows below them."""

from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel, QModelIndex

from subflow_app.toolkit.models.table_model import Index


class TreeModel(QAbstractItemModel):
    """The id of an index is 0 for an upper row, else one more than the number of the row that it is below."""

    def count(self, above: int | None) -> int:
        """Number of the rows below an upper row; None: of the upper rows."""
        raise NotImplementedError

    # ---- QAbstractItemModel ----

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008 - Qt's default
        """The index of a cell; invalid if there is none."""
        if not self.hasIndex(row, column, parent):
            return QModelIndex()
        return self.createIndex(row, column, parent.row() + 1 if parent.isValid() else 0)

    def parent(self, index: Index = QModelIndex()) -> QModelIndex:  # type: ignore[override] # noqa: B008
        """The upper row of one below."""
        above = index.internalId() if index.isValid() else 0
        return self.createIndex(above - 1, 0, 0) if above else QModelIndex()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of upper rows, or of those below one."""
        if not parent.isValid():
            return self.count(None)
        return 0 if parent.internalId() or parent.column() > 0 else self.count(parent.row())
