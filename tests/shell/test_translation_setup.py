from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QLocale, QTranslator
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QApplication
from tests.helpers.worn_window import delete_later_now

from subflow_app.shell.app import choose_language
from subflow_app.vocabulary.language import current_language, tr


@pytest.fixture(autouse=True)
def _as_before(qapp: QApplication) -> Iterator[None]:
    locale = QLocale()
    yield
    choose_language(qapp, "en")
    QLocale.setDefault(locale)


def test_the_chosen_language_is_that_of_our_texts_and_of_qt_s_own(qapp: QApplication) -> None:
    choose_language(qapp, "de")
    assert current_language() == "de"
    assert tr("Undo") == "Rückgängig"
    assert QCoreApplication.translate("QPlatformTheme", "Cancel") == "Abbrechen"
    assert QKeySequence("Ctrl+S").toString(QKeySequence.SequenceFormat.NativeText) == "Strg+S"
    assert QCoreApplication.translate("ads::CDockWidgetTab", "Detach") == "Abkoppeln"
    assert QLocale().decimalPoint() == "."

    choose_language(qapp, "en")
    delete_later_now()
    assert tr("Undo") == "Undo"
    assert qapp.findChildren(QTranslator) == []


def test_the_system_s_language_is_taken_where_we_have_it(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QLocale, "uiLanguages", lambda _locale: ["fr-FR", "de-AT", "en"])
    choose_language(qapp, "system")
    assert current_language() == "de"
