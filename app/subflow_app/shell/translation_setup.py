"""Chooses the language of the window, before any of its widgets is made."""

from __future__ import annotations

import logging

from PySide6.QtCore import QLibraryInfo, QLocale, Qt, QTranslator
from PySide6.QtWidgets import QApplication

from subflow_app.foundation.catalogues import use_language
from subflow_app.vocabulary.language import ENGLISH, language_for, tr, translatable

_log = logging.getLogger(__name__)

# What the docking system says on the tabs of panels; it brings no translations of its own.
DOCKING_TEXTS = (
    translatable("Close"),
    translatable("Close Active Tab"),
    translatable("Close Group"),
    translatable("Close Other Groups"),
    translatable("Close Others"),
    translatable("Close Tab"),
    translatable("Detach"),
    translatable("Detach Group"),
    translatable("List All Tabs"),
    translatable("Pin"),
    translatable("Pin Active Tab (Press Ctrl to Pin Group)"),
    translatable("Pin Group"),
    translatable("Pin Group To..."),
    translatable("Pin To..."),
    translatable("Show View"),
    translatable("Top"),
    translatable("Bottom"),
    translatable("Left"),
    translatable("Right"),
    translatable("Unpin (Dock)"),
)


def choose_language(application: QApplication, setting: str) -> None:
    """Shows everything from now on in the language of the setting, the texts of Qt's own dialogs included.

    Args:
        application: gets Qt's translations.
        setting: one of `core.settings.LANGUAGE_CHOICES`.
    """
    code = language_for(setting, QLocale.system().uiLanguages())
    use_language(code)
    for before in application.findChildren(QTranslator, options=Qt.FindChildOption.FindDirectChildrenOnly):
        application.removeTranslator(before)
        before.deleteLater()
    # Fields that Qt reads and writes have a decimal point as all others, see `vocabulary.language`.
    QLocale.setDefault(QLocale.c())
    if code == ENGLISH:
        return
    application.installTranslator(_DockingTexts(application))
    translator = QTranslator(application)
    folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    if translator.load(f"qtbase_{code}", folder):
        application.installTranslator(translator)
    else:
        _log.warning("dialogs of Qt stay English: no qtbase_%s in %s", code, folder)


class _DockingTexts(QTranslator):
    """Translates what the docking system says by our catalogue."""

    def translate(self, context: str, source: str, disambiguation: str | None = None, n: int = -1) -> str | None:
        """Qt asks for everything here; what is not the docking system's is left to the others."""
        is_docking = context.startswith("ads::") or context == "QObject"
        return tr(source) if is_docking and source in DOCKING_TEXTS else None

    def isEmpty(self) -> bool:
        """Not empty: Qt would not ask."""
        return False
