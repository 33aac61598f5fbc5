"""Parts of the window that scripts use, and the line of a script that made a decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from subflow_app.toolkit.feature import FeatureHolder
from subflow_app.toolkit.ports import PanelPorts
from subflow_sim.scenario_model import ScriptKind

if TYPE_CHECKING:
    from PySide6.QtGui import QUndoStack

    from subflow_app.features.editor.qt.documents import Documents
    from subflow_app.features.editor.qt.recovery import Recovery
    from subflow_app.features.running.qt.run_control import RunControl
    from subflow_app.features.running.qt.run_session import RunSession
    from subflow_app.features.running.qt.shown_runs import ShownRuns
    from subflow_app.toolkit.dialogs import Dialogs
    from subflow_app.toolkit.preferences import Preferences
    from subflow_app.toolkit.widgets.banner import Banners


class ScriptPorts(FeatureHolder, PanelPorts, Protocol):
    """Parts of the window that the feature and its desk use."""

    banners: Banners
    dialogs: Dialogs
    document_stack: QUndoStack
    documents: Documents
    preferences: Preferences
    recovery: Recovery
    runs: RunControl
    session: RunSession
    shown: ShownRuns

    @property
    def closes_unasked(self) -> bool:
        """True if the window closes without asking about unsaved changes."""

    def tell(self, text: str) -> None:
        """Shows a message for a while."""

    def tell_failure(self, error: Exception) -> None:
        """Shows an error."""


@dataclass(frozen=True, slots=True)
class ScriptMoment:
    """Line of a script that made a decision.

    Attributes:
        kind: kind of the script.
        name: name of the script.
        text: text of the script in the run.
        line: executed line, from 1.
    """

    kind: ScriptKind
    name: str
    text: str
    line: int
