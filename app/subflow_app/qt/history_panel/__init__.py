"""The History panel: the list of stored runs, its search field, its groups and columns, and what is done with runs.

Start reading at ``panel.py``.
"""

from subflow_app.qt.history_panel.changes import HistoryCommand
from subflow_app.qt.history_panel.panel import History

__all__ = ["History", "HistoryCommand"]
