"""All actions of the window in one table, from which menus, toolbar, shortcuts and the list of shortcuts are built.

A new action needs a row, in its feature or in the file of its menu, and an entry in ``menus``. Its callback makes one
call to the responsible part of the window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from subflow_app.features.arena.qt import feature as arena
from subflow_app.features.breaking.qt import feature as breaking
from subflow_app.features.comparison.qt import feature as comparison
from subflow_app.features.crashes.qt import feature as crashes
from subflow_app.features.editor.qt import actions as topology
from subflow_app.features.emulation.qt import feature as emulation
from subflow_app.features.explain.qt import feature as explain
from subflow_app.features.exporting.qt import actions as exporting
from subflow_app.features.fairness.qt import feature as fairness
from subflow_app.features.forking.qt import feature as forking
from subflow_app.features.gallery.qt import feature as gallery
from subflow_app.features.guide import qt as guide
from subflow_app.features.importing.qt import feature as importing
from subflow_app.features.kernel.qt import feature as kernel
from subflow_app.features.labs.qt import feature as labs
from subflow_app.features.paper.qt import reporting
from subflow_app.features.playhead.qt import feature as playhead
from subflow_app.features.running.qt import queue
from subflow_app.features.script.qt import feature as script
from subflow_app.features.sweeps.qt import feature as sweeps
from subflow_app.features.training.qt import agent_feature
from subflow_app.features.training.qt import session as training
from subflow_app.shell.actions import file, run, view
from subflow_app.toolkit.action_bar import ActionSpec

if TYPE_CHECKING:
    from subflow_app.shell.main_window import MainWindow

ACTIONS: tuple[ActionSpec[MainWindow], ...] = (
    *file.file_rows(),
    *exporting.rows(),
    *reporting.rows(),
    *file.edit_rows(),
    *topology.rows(),
    *view.arrange_rows(),
    *view.view_rows(),
    *run.run_rows(),
    *queue.rows(),
    *agent_feature.rows(),
    *playhead.rows(),
    *forking.rows(),
    *explain.rows(),
    *training.rows(),
    *run.history_rows(),
    *sweeps.rows(),
    *gallery.rows(),
    *arena.rows(),
    *breaking.rows(),
    *script.rows(),
    *comparison.compare_rows(),
    *fairness.rows(),
    *comparison.kernel_rows(),
    *kernel.rows(),
    *emulation.rows(),
    *importing.rows(),
    *labs.rows(),
    *file.help_rows(),
    *guide.rows(),
    *crashes.rows(),
)
