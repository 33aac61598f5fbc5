"""The History panel: the list of stored runs with search, groups and columns, and changes to runs.

Start reading at ``panel.py``.
"""

from subflow_app.features.history.qt.changes import HistoryCommand
from subflow_app.features.history.qt.panel import History

__all__ = ["History", "HistoryCommand"]
