"""The user guide from the window: its pages open in the system's browser, and are built first if need be."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication, QWidget

from subflow_app.core.errors import GuideError
from subflow_app.qt.feature import Feature
from subflow_app.qt.panels import PANELS
from subflow_app.qt.widgets.shorthand import timer
from subflow_app.vocabulary.language import tr

if TYPE_CHECKING:
    from subflow_app.core.guide import GuideBuild
    from subflow_app.qt.main_window import MainWindow

_PROGRESS_MS = 200
_ALGORITHMS = ("controller", "scheduler")
_BANNER = "guide"


class GuideFeature(Feature):
    """Opens pages of the guide by their topics, see `core.guide`."""

    def __init__(self, window: MainWindow) -> None:
        """Nothing is opened or built."""
        super().__init__()
        self.window = window
        self._build: GuideBuild | None = None
        self._wanted = ""  # topic, once the guide is built
        self._timer = timer(self, self._tell_progress, _PROGRESS_MS)

    def connect_parts(self) -> None:
        """Links of the help beside the work, and of decisions that are explained, lead here."""
        from subflow_app.qt.explain.feature import ExplainFeature

        self.window.help.guide_wanted.connect(lambda page: self.show(_topic_of_help(page)))
        self.window.features[ExplainFeature].guide_wanted.connect(self.show)

    def show(self, topic: str = "") -> None:
        """Opens the page of a topic; empty: the first one."""
        from subflow_app.core.guide import can_build_guide, guide_file

        try:
            path, anchor = guide_file(topic)
        except GuideError as error:
            if can_build_guide():
                self._build_for(topic)
            else:
                self.window.notices.action_failed(str(error))
        else:
            self._open(path, anchor)

    def show_here(self) -> None:
        """Opens the page of what has the keyboard: an algorithm in its field, else the panel."""
        self.show(topic_of(self.window, QApplication.focusWidget()))

    def close(self) -> None:
        """Gives up what is being built."""
        self._timer.stop()
        if self._build is not None:
            self._build.stop()

    def _open(self, path: Path, anchor: str) -> None:
        url = QUrl.fromLocalFile(str(path))
        if anchor:
            url.setFragment(anchor)
        if not QDesktopServices.openUrl(url):
            text = tr("No browser could be opened. The page of the user guide is {path}", path=path)
            self.window.banners.show_banner(_BANNER, "warning", text)

    def _build_for(self, topic: str) -> None:
        from subflow_app.core.guide import GuideBuild

        self._wanted = topic
        if self._build is not None:
            return  # it goes on; the page asked for last is opened in the end
        build = self._build = GuideBuild()

        def ended(folder: Path | None) -> None:
            self._end()
            if folder is not None:
                self.show(self._wanted)

        def failed(error: Exception) -> None:
            self._end()
            self.window.notices.action_failed(str(error))

        self.window.workers.start("guide", build.run, succeeded=ended, failed=failed, cancel=build.stop)
        self._timer.start()
        self._tell_progress()

    def _end(self) -> None:
        self._build = None
        self._timer.stop()
        self.window.statusBar().clearMessage()

    def _tell_progress(self) -> None:
        if self._build is not None:
            share = round(100 * self._build.progress)
            self.window.statusBar().showMessage(tr("Building the user guide: {percent} %", percent=share))


def topic_of(window: MainWindow, widget: QWidget | None) -> str:
    """The topic of a widget: the algorithm that is chosen in a field of the inspector, else its panel; empty: none."""
    if widget is None:
        return ""
    rows = {row.key: row for row in window.inspector.form.rows()}
    for key, row in rows.items():
        if row.editor is widget or row.editor.isAncestorOf(widget):
            parts = key.split(".")
            for kind in _ALGORITHMS:
                if kind in parts:
                    chosen = rows[".".join(parts[: parts.index(kind) + 1])].field
                    name = chosen.text or chosen.placeholder
                    if any((each.kind, each.name) == (kind, name) for each in window.documents.doc.scripts):
                        return "section/script"
                    return f"{kind}/{name}" if name else "panel/inspector"
    found = next((name for name in PANELS if window.docks.contains(name, widget)), "")
    if found:
        return f"panel/{found}"
    return "panel/plots" if window.plots.isAncestorOf(widget) else ""


def _topic_of_help(page: str) -> str:
    return f"panel/{page}" if page in PANELS or page == "plots" else ""
