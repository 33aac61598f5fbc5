"""Goes through all that the window can show, panels, workspaces and dialogs, and says what is wrong with it.

    python -m tests.helpers.tour [--language CODE] [--theme MODE] [--pictures FOLDER]

What is looked for: something that takes the keyboard but that a screen reader cannot name, and texts that do not fit
where they stand. Prints what it found, a line each. Set `QT_SCALE_FACTOR` to look at it on a screen of many pixels.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import QElapsedTimer, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QApplication,
    QCheckBox,
    QComboBox,
    QDialog,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QRadioButton,
    QScrollBar,
    QTabBar,
    QToolButton,
    QWidget,
)
from tests.helpers.fake_trainings import FakeDesk
from tests.helpers.window import TWO_PATHS, make_window

from subflow_app.core.settings import LANGUAGE_CHOICES
from subflow_app.plots import PLOTS
from subflow_app.qt.actions.choices import PANELS, WORKSPACES
from subflow_app.qt.app import make_application
from subflow_app.qt.fairness.feature import FairnessFeature
from subflow_app.qt.main_window import MainWindow
from subflow_app.qt.speech import choose_language
from subflow_app.qt.theme import MODES, ThemeMode

_PATIENCE_MS = 60_000
# Shortened on purpose where there is little room: the whole text is their tool tip.
_ELIDING = {"ElidedLabel"}
SCENARIO = f"""{TWO_PATHS}
[[events]]
at = "1s"
link = "wifi"
rate = "2Mbit/s"
"""


def places(window: MainWindow) -> Iterator[tuple[str, QWidget]]:
    """What is shown, one after the other, each with its name; a dialog is closed when the next place is asked for."""
    window.documents.open_text(SCENARIO, "two-ways")
    window.bar.trigger("run.speed_express")
    window.bar.trigger("run.toggle")
    _wait_for(lambda: not window.runs.is_running)
    for name in WORKSPACES:
        window.workspaces.show(name)
        window.workspaces.reset()
        _settle()
        yield f"workspace {name}", window
    window.workspaces.show("run")
    fairness = window.features[FairnessFeature]
    for name in PANELS:
        window.docks.set_open(name, True)
        _settle()
        if name == "train":
            _wait_for(lambda: window.training_session.page.form is not None)
            _settle()
        if name == "fairness":
            _wait_for(lambda: fairness.reader is not None and not fairness.reader.is_busy)
            _settle()
        yield f"panel {name}", window
    for key in ("", "flows.download", "links.wifi", "nodes.client"):
        window.docks.set_open("inspector", True)
        window.topology.select(key)
        _settle()
        yield f"inspector of {key or 'the scenario'}", window
    window.drawing.flows.ask_new("server", "client")
    yield from _dialogs("flow")
    window.drawing.flows.close()
    window.docks.set_open("history", True)
    window.history.select([run.id for run in window.history.runs()[:1]])
    for name, show in (
        ("settings", window.window_dialogs.show_settings),
        ("palette", window.window_dialogs.show_palette),
        ("shortcuts", window.window_dialogs.show_shortcuts),
        ("about", window.window_dialogs.show_about),
        ("welcome", window.window_dialogs.show_welcome),
    ):
        show()
        yield from _dialogs(name)
    for made in _asked(window):
        made.show()
        yield from _dialogs(made.objectName())


def _asked(window: MainWindow) -> Iterator[QDialog]:
    """Dialogs that wait for an answer, made as the window makes them."""
    from subflow_app.qt.history_panel.comparison_dialog import ComparisonDialog
    from subflow_app.qt.history_panel.key_dialog import KeyDialog
    from subflow_app.qt.queue.enqueue_dialog import EnqueueDialog
    from subflow_app.qt.report_dialog import ReportDialog
    from subflow_app.qt.run_export_dialog import RunExportDialog
    from subflow_app.qt.template_gallery import TemplateGallery
    from subflow_app.qt.training.promote_dialog import PromoteDialog

    runs = window.history.runs()[:1]
    yield ComparisonDialog(runs, window.dialogs, window)
    yield ReportDialog(runs, PLOTS, window)
    yield RunExportDialog(runs[0], ["download", "cross"], window)
    yield TemplateGallery(window)
    yield EnqueueDialog(3, {"download": ["lia", "olia", "balia"]}, {"download": "lia"}, window)
    yield KeyDialog("Columns", ["links.wifi.loss", "links.lte.rate"], {"links.wifi.loss"}, window)
    form = window.training_session.page.form
    assert form is not None
    window.bar.trigger("train.start")
    _wait_for(lambda: bool(window.trainings.trainings))
    yield PromoteDialog(window.trainings.trainings[0], (), window)


def _dialogs(name: str) -> Iterator[tuple[str, QWidget]]:
    _settle()
    shown = [top for top in QApplication.topLevelWidgets() if isinstance(top, QDialog) and top.isVisible()]
    assert shown, f"{name} opened no dialog"
    for dialog in shown:
        yield f"dialog {name}", dialog
        dialog.reject()
        dialog.deleteLater()
    _settle()


def nameless(root: QWidget) -> list[str]:
    """What takes the keyboard or the mouse, and is shown, but says nothing to a screen reader."""
    return [
        _path(part)
        for part in _visible(root)
        if (part.focusPolicy() != Qt.FocusPolicy.NoFocus or isinstance(part, QAbstractButton))
        and not _is_inner(part)
        and not _spoken_name(part, root)
    ]


def clipped(root: QWidget) -> list[str]:
    """Labels and buttons that have less room than their text needs."""
    found = []
    for part in _visible(root):
        if type(part).__name__ in _ELIDING or _is_inner(part):
            continue
        if isinstance(part, QLabel):
            if not part.text() or part.pixmap().isNull() is False:
                continue
            need = part.sizeHint()
            if part.wordWrap():
                is_cut = part.heightForWidth(part.width()) > part.height() + 1
            else:
                is_cut = need.width() > part.width() + 1 or need.height() > part.height() + 2
        elif isinstance(part, QPushButton | QCheckBox | QRadioButton) or (
            isinstance(part, QToolButton) and part.text() and part.toolButtonStyle() != _ICON_ONLY
        ):
            need = part.minimumSizeHint() if isinstance(part, QPushButton) else part.sizeHint()
            is_cut = need.width() > part.width() + 1
        elif isinstance(part, QComboBox):
            # The arrow and the frame take about two dozen pixels.
            need = part.fontMetrics().boundingRect(part.currentText()).size()
            is_cut = need.width() + 22 > part.width()
        else:
            continue
        if is_cut:
            text = part.currentText() if isinstance(part, QComboBox) else part.text()
            found.append(
                f"{_path(part)} {text[:60]!r} needs {need.width()}x{need.height()}, has {part.width()}x{part.height()}"
            )
    return found


_ICON_ONLY = Qt.ToolButtonStyle.ToolButtonIconOnly


def _visible(root: QWidget) -> Iterator[QWidget]:
    for part in root.findChildren(QWidget):
        if part.isVisible() and part.window() is root.window() and not part.visibleRegion().isEmpty():
            yield part


def _is_inner(part: QWidget) -> bool:
    """Parts of a widget of Qt, or of the docking system, which speak through the widget that they belong to."""
    kind = type(part).__name__
    if part.objectName().startswith("qt_") or kind in ("QHeaderView", "QWidgetResizeHandler"):
        return True
    if isinstance(part, QScrollBar | QTabBar | QMenu) or kind.startswith(("CDock", "CAutoHide")):
        return True
    parent = part.parentWidget()
    if isinstance(part, QLineEdit) and parent is not None and parent.focusProxy() is None:
        return isinstance(parent, QComboBox) or parent.inherits("QAbstractSpinBox")
    while parent is not None:
        if isinstance(parent, QScrollBar | QLineEdit) or (
            isinstance(parent, QAbstractScrollArea)
            and parent.metaObject().className() == "QTableView"
            and part.metaObject().className() == "QTableCornerButton"
        ):
            return True
        parent = parent.parentWidget()
    return False


def _spoken_name(part: QWidget, root: QWidget) -> str:
    if part.accessibleName():
        return part.accessibleName()
    if isinstance(part, QAbstractButton) and part.text().strip():
        return part.text()
    if isinstance(part, QLabel) and part.text():
        return part.text()
    proxy = part.focusProxy()
    if proxy is not None:
        return _spoken_name(proxy, root)
    return next((label.text() for label in root.findChildren(QLabel) if label.buddy() is part), "")


def _path(part: QWidget) -> str:
    names: list[str] = []
    step: QWidget | None = part
    while step is not None and len(names) < 3:
        names.append(f"{type(step).__name__}#{step.objectName()}" if step.objectName() else type(step).__name__)
        step = step.parentWidget()
    return " < ".join(names)


def problems(window: MainWindow, pictures: Path | None = None) -> list[str]:
    """Goes through everything; what was found, without repeating it."""
    found: dict[str, str] = {}
    for name, widget in places(window):
        if pictures is not None:
            widget.grab().save(str(pictures / f"{name.replace(' ', '-')}.png"))
        for said in nameless(widget):
            found.setdefault(f"has no name: {said}", name)
        for said in clipped(widget):
            found.setdefault(f"is clipped: {said}", name)
    return [f"{said} ({name})" for said, name in found.items()]


def _settle() -> None:
    for _ in range(5):
        QApplication.processEvents()


def _wait_for(condition: object) -> None:
    assert callable(condition)
    clock = QElapsedTimer()
    clock.start()
    while not condition():
        QTest.qWait(5)
        if clock.elapsed() > _PATIENCE_MS:
            sys.exit("the window did not get ready to be looked at")


def main() -> int:
    """Looks at a window of its own."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--language", choices=LANGUAGE_CHOICES, default="en")
    parser.add_argument("--theme", choices=MODES, default="light")
    parser.add_argument("--pictures", type=Path)
    options = parser.parse_args()
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    mode: ThemeMode = options.theme
    if options.pictures is not None:
        options.pictures.mkdir(parents=True, exist_ok=True)
    application = make_application([])
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["XDG_DATA_HOME"] = scratch
        choose_language(application, options.language)
        desk = FakeDesk(Path(scratch) / "trainings")
        window = make_window(application, Path(scratch), mode=mode, desk_maker=lambda _store: desk)
        window.show()
        window.load()
        _wait_for(lambda: not window.database.is_opening)
        found = problems(window, options.pictures)
        window.close_at_once()
    sys.stdout.write("".join(f"{line}\n" for line in found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
