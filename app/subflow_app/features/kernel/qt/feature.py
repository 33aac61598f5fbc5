"""*Run > Try in the kernel*: a controller in the kernel of this machine, beside its simulation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from PySide6.QtWidgets import QWidget

from subflow_app.features.comparison.qt.feature import CompareFeature
from subflow_app.foundation.errors import InputError
from subflow_app.toolkit.action_bar import WRITABLE, ActionSpec
from subflow_app.toolkit.dialogs import open_dialog
from subflow_app.toolkit.feature import Feature, FeatureHolder
from subflow_app.toolkit.ports import StudyPorts
from subflow_app.vocabulary.language import tr

if TYPE_CHECKING:
    from subflow_app.features.editor.qt.documents import Documents
    from subflow_app.features.editor.qt.inspector.inspector import Inspector
    from subflow_app.features.history.qt import History
    from subflow_app.features.kernel.qt.dialog import TrialDialog
    from subflow_sim.scenario_model import ScriptFile


class KernelPorts(FeatureHolder, StudyPorts, Protocol):
    """Parts of the window that trials in the kernel use."""

    documents: Documents
    history: History
    inspector: Inspector

    def window(self) -> QWidget:
        """The window on which the dialog opens."""


class KernelFeature(Feature):
    """Opens the dialog, and shows the runs of its trials."""

    def __init__(self, ports: KernelPorts) -> None:
        super().__init__()
        self.ports = ports
        self.dialog: TrialDialog | None = None  # while it is open

    def ask(self) -> None:
        """Opens the dialog with the controllers of the scenario and those that ship.

        Raises:
            InputError: if no writable database is open.
        """
        from subflow_app.features.kernel.core.trial import kernel_controllers
        from subflow_app.features.kernel.qt.dialog import TrialDialog

        if self.dialog is not None:
            self.dialog.raise_()
            self.dialog.activateWindow()
            return
        store = self.ports.database.writable
        if store is None:
            raise InputError(
                tr("A trial in the kernel is kept as two runs: open a database that can be written first.")
            )
        controllers = {**self._own_controllers(), **kernel_controllers()}
        dialog = TrialDialog(controllers, store, self.ports.workers, self.ports.window())
        dialog.kept.connect(self.ports.history.reload)
        dialog.wanted.connect(self._compare)
        dialog.destroyed.connect(self._on_closed)
        self.dialog = dialog
        open_dialog(dialog)

    def close(self) -> None:
        """Ends a trial in progress."""
        if self.dialog is not None:
            self.dialog.study.forget()

    def _own_controllers(self) -> dict[str, ScriptFile]:
        """Controllers of the open scenario that are scripts, by name; none while it has mistakes."""
        from subflow_app.features.catalog.core.uses import Use
        from subflow_app.features.editor.core.scenario_source import source_of_document

        self.ports.inspector.commit_pending()
        source = source_of_document(Use.KERNEL, self.ports.documents.doc)
        flows = () if source is None else source.scenario.flows.values()
        scripts = [flow.controller.script for flow in flows if flow.controller.script is not None]
        return {each.name: each for each in scripts}

    def _compare(self, run_ids: tuple[int, int]) -> None:
        self.ports.features[CompareFeature].compare_runs(run_ids, pair=run_ids)

    def _on_closed(self) -> None:
        self.dialog = None


def rows() -> Iterator[ActionSpec[FeatureHolder]]:
    """The kernel's part of the Run menu."""
    yield ActionSpec(
        "run.try_kernel",
        "Try in the &kernel…",
        "Load a controller into this machine's own kernel, and compare it with its simulation as both run",
        "kernel",
        (),
        lambda w, _: w.features[KernelFeature].ask(),
        (WRITABLE,),
    )
