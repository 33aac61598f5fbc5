"""The History panel: the list of stored runs, its search field, its groups and columns, and what is done with runs.

Start reading at ``panel.py``.
"""

from subflow_app.features.history.qt.changes import HistoryCommand
from subflow_app.features.history.qt.panel import History

__all__ = ["History", "HistoryCommand"]
