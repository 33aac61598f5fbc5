"""Chooses the language of the window, before any of its widgets is made."""

from __future__ import annotations

import logging

from PySide6.QtCore import QLibraryInfo, QLocale, QTranslator
from PySide6.QtWidgets import QApplication

from subflow_app.core.language import ENGLISH, language_for, set_language

_log = logging.getLogger(__name__)


def choose_language(application: QApplication, setting: str) -> None:
    """Shows everything from now on in the language of the setting, the texts of Qt's own dialogs included.

    Args:
        application: gets Qt's translations.
        setting: one of `core.settings.LANGUAGE_CHOICES`.
    """
    code = language_for(setting, QLocale.system().uiLanguages())
    set_language(code)
    # Fields that Qt reads and writes have a decimal point as all others, see `core.language`.
    QLocale.setDefault(QLocale.c())
    if code == ENGLISH:
        return
    translator = QTranslator(application)
    folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    if translator.load(f"qtbase_{code}", folder):
        application.installTranslator(translator)
    else:
        _log.warning("dialogs of Qt stay English: no qtbase_%s in %s", code, folder)
