"""The window's texts in all its languages: all are translated, and each translation fits its English text."""

from __future__ import annotations

import ast
import errno
import os
import re
import string
from collections.abc import Callable, Iterable, Iterator, Mapping

import pytest
from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QLocale, QModelIndex, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QGroupBox,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QTabBar,
    QWidget,
)
from pytestqt.qtbot import QtBot
from tests.helpers.members import for_each
from tests.helpers.messages import FOLDER, ROOT, Key, collect
from tests.shell.test_actions import named_like_commands

from subflow_app.features.about.qt import AboutDialog
from subflow_app.features.gallery.core.recipe import rulings
from subflow_app.features.settings.qt import SettingsDialog
from subflow_app.foundation.problem_texts import ERRORS, FORMS, problem_text
from subflow_app.foundation.resources import use_language
from subflow_app.foundation.settings import Settings
from subflow_app.shell.actions import ACTIONS
from subflow_app.shell.app import choose_language
from subflow_app.shell.help_dialogs import ShortcutsDialog
from subflow_app.shell.main_window import MainWindow
from subflow_app.shell.menus import MENUS, SUBMENUS
from subflow_app.vocabulary import language as core_language
from subflow_app.vocabulary.language import ENGLISH, LANGUAGES, Catalogue, read_po, tr

OTHERS = [code for code in LANGUAGES if code != ENGLISH]

# Methods that show a text, with the positions of their text arguments; constructors likewise.
SHOWN = {
    *("setText", "setToolTip", "setStatusTip", "setWindowTitle", "setAccessibleName", "setAccessibleDescription"),
    *("setPlaceholderText", "setInformativeText", "setTitle", "setWhatsThis", "setIconText", "setSpecialValueText"),
    *("addAction", "addItem", "addTab", "addRow", "addButton", "addMenu", "showMessage", "setHtml", "setLabelText"),
    *("setHeaderLabels", "setTabText", "setTabToolTip", "insertItem", "addSection", "setSuffix", "setPrefix"),
    *("QLabel", "QPushButton", "QAction", "QMenu", "QCheckBox", "QRadioButton", "QGroupBox", "QToolBar", "EmptyState"),
    *("Way", "QUndoCommand", "CDockWidget", "QDockWidget", "tell", "confirm", "line", "paragraph"),
    *("open_path", "save_path", "database_path", "folder"),
}
# Question words that begin a sentence instead of the name of the thing.
_GERMAN = re.compile(r"^(?:Was(?! wäre, wenn)|Wer|Ob|Wessen)\b(?!.*\?$)")
# Names and units, which are the same in every language.
NO_WORDS = {"Subflow", "px", "mm", "ms", "Mbit", "kbit", "pkt", "Ctrl", "bit", "svg", "pdf", "png", "csv"}


@pytest.fixture(scope="module")
def texts() -> dict[Key, set[str]]:
    return collect().places


@pytest.fixture(scope="module", params=OTHERS)
def catalogue(request: pytest.FixtureRequest) -> Catalogue:
    return read_po((FOLDER / f"{request.param}.po").read_text(encoding="utf-8"))


@pytest.fixture(params=OTHERS)
def language(request: pytest.FixtureRequest, qapp: QApplication) -> Iterator[str]:
    locale = QLocale()
    choose_language(qapp, request.param)
    yield request.param
    choose_language(qapp, ENGLISH)
    QLocale.setDefault(locale)


def pairs(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    yield from catalogue.texts.items()
    for english, translated in catalogue.plurals.items():
        yield from zip(english, translated, strict=True)


def test_every_text_and_no_other_is_translated(texts: dict[Key, set[str]], catalogue: Catalogue) -> None:
    known: set[Key] = {(text, None) for text in catalogue.texts} | set(catalogue.plurals)
    missing = {text: sorted(places)[:2] for (text, plural), places in texts.items() if (text, plural) not in known}
    assert missing == {}, "python3 dev.py translate adds them to the catalogue"
    assert known - set(texts) == set(), "python3 dev.py translate removes them from the catalogue"


def test_translations_have_the_places_for_values_of_their_texts(catalogue: Catalogue) -> None:
    for english, translated in pairs(catalogue):
        assert places_in(translated) == places_in(english), english


def places_in(text: str) -> set[str]:
    try:
        return {name for _before, name, _format, _conversion in string.Formatter().parse(text) if name is not None}
    except ValueError:
        return set()  # braces of TOML, not placeholders


# One word per thing, as defined at the top of the catalogue: the wrong words, in texts that name the thing.
OTHER_WORDS = {
    "cwnd": r"\bFenster[sn]?\b",
    "panel": r"\bFenster[sn]?\b",
    "flow": r"(?<![{.\"])\b[Ff]lows?\b(?![.}\"])",
    "hint": r"\bHinweise?\b",
    "lab": r"\bLabors?\b",
    "default": r"\b(?:Weggelassen|Ohne Angabe):",
}


@for_each(("thing", "other_word"), OTHER_WORDS.items(), ids=OTHER_WORDS)
def test_german_has_one_word_for_a_thing(thing: str, other_word: str) -> None:
    catalogue = read_po((FOLDER / "de.po").read_text(encoding="utf-8"))
    named = re.compile(rf"\b{thing}s?\b", re.IGNORECASE)
    assert [
        german for english, german in pairs(catalogue) if named.search(english) and re.search(other_word, german)
    ] == []


def test_translations_end_as_their_texts_do(catalogue: Catalogue) -> None:
    for english, translated in pairs(catalogue):
        for ending in ("…", ":", " ▾", " "):
            assert translated.endswith(ending) == english.endswith(ending), english
        assert translated.startswith(" ") == english.startswith(" "), english
        assert ("  " in translated) == ("  " in english), english


def test_menus_have_mnemonics_and_share_no_more_of_them_than_in_english(language: str) -> None:
    shown = {spec.id: spec.text for spec in ACTIONS}
    menus = {**MENUS, "menu bar": tuple(f">{title}" for title in MENUS)}
    for title, entries in {**menus, **SUBMENUS}.items():
        english = [shown.get(entry, entry.removeprefix(">")) for entry in entries if entry != "-"]
        for text in english:
            assert bool(mnemonic(tr(text))) == bool(mnemonic(text)), text
        assert shared(map(tr, english)) <= shared(english), [tr(title), *map(tr, english)]


def test_no_workspace_is_called_like_a_command(language: str) -> None:
    assert named_like_commands() == set()


def shared(texts: Iterable[str]) -> int:
    """The number of repeated mnemonics among the entries of a menu; a long menu has to repeat some."""
    letters = [mnemonic(text) for text in texts if mnemonic(text)]
    return len(letters) - len(set(letters))


def mnemonic(text: str) -> str:
    found = re.search(r"&(\w)", text.replace("&&", ""))
    return found[1].lower() if found else ""


def test_no_text_reaches_the_window_without_the_catalogue() -> None:
    """Literals passed to widgets; the test below finds texts that are combined elsewhere."""
    app = ROOT / "app" / "subflow_app"
    sources = [
        path for folder in (*app.glob("features/*/qt"), app / "shell", app / "toolkit") for path in folder.rglob("*.py")
    ]
    assert len(sources) > 100
    found = []
    for path in sources:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and called(node) in SHOWN:
                found += [
                    f"{path.relative_to(ROOT)}:{argument.lineno}: {ast.unparse(argument)}"
                    for argument in shown_arguments(node)
                    if has_words(argument)
                ]
    assert "\n".join(found) == ""


def called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def shown_arguments(node: ast.Call) -> list[ast.expr]:
    """The arguments of a call that it shows; an empty state names its icon first."""
    return [*node.args[called(node) == "EmptyState" :], *(each.value for each in node.keywords)]


def has_words(node: ast.expr) -> bool:
    if isinstance(node, ast.IfExp):
        return has_words(node.body) or has_words(node.orelse)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return has_words(node.left) or has_words(node.right)
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    written = " ".join(part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str))
    written = re.sub(r"<[^<>]*>|\w+_\w+|\w+\.\w+", " ", written)
    return any(word not in NO_WORDS for word in re.findall(r"[A-Za-z]{2,}", written))


@pytest.mark.parametrize("code", OTHERS)
def test_pages_of_help_are_there_in_every_language_with_the_same_links(code: str) -> None:
    folder = ROOT / "assets" / "help"
    pages = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    translated = {path.name: path.read_text(encoding="utf-8") for path in (folder / code).glob("*.md")}
    assert sorted(translated) == sorted(pages)
    for name, page in pages.items():
        assert re.findall(r"\]\((.*?)\)", translated[name]) == re.findall(r"\]\((.*?)\)", page), name
        assert re.findall(r"`.*?`", translated[name]) == re.findall(r"`.*?`", page), name


# ---- the window ----


class Recorder(dict[str, str]):
    """The texts of a catalogue, with a record of requested texts that it lacks."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        super().__init__(texts)
        self.missing: set[str] = set()
        # Some texts are combined from translated ones before they arrive here.
        self._beginnings = tuple(text for text in texts.values() if len(text) > 12)

    def get(self, text: str, default: str | None = None) -> str | None:  # type: ignore[override] # as tr asks
        is_known = text in self or text in self.values() or text.startswith(self._beginnings)
        if not is_known and not is_value(text) and any(map(str.isalpha, text)):
            self.missing.add(text)
        return super().get(text, default)


@pytest.fixture
def recorder(language: str, monkeypatch: pytest.MonkeyPatch) -> Recorder:
    """Replaces the texts of the catalogue."""
    in_force = core_language._current
    recorder = Recorder(in_force.texts)
    monkeypatch.setattr(core_language, "_current", Catalogue(recorder, in_force.plurals))
    return recorder


@pytest.fixture
def translated_window(recorder: Recorder, window: MainWindow) -> MainWindow:
    """The window of the tests, made after the recorder was installed."""
    return window


@pytest.mark.own_window
def test_no_text_is_english(
    qtbot: QtBot, translated_window: MainWindow, recorder: Recorder, texts: dict[Key, set[str]]
) -> None:
    window = translated_window
    # The toolbar fits a small screen in every language.
    assert window.toolbar.sizeHint().width() <= 1280
    is_english = english_texts(texts, recorder)
    with qtbot.waitSignal(window.runs.ended):
        window.bar.trigger("run.toggle")
    english = set(filter(is_english, all_texts(window)))
    for key in ("", "nodes.client", "links.wifi", "flows.download", "events"):
        window.inspector.show_key(key)
        english |= set(filter(is_english, all_texts(window.inspector)))
    for name in window.docks.names():
        window.docks.set_open(name, True)
    qtbot.waitUntil(lambda: window.training_session.content.form is not None)
    english |= set(filter(is_english, all_texts(window)))
    for dialog in (
        ShortcutsDialog(window.bar.specs, window),
        AboutDialog(None, window.workers, window),
        SettingsDialog(Settings(), "", window),
    ):
        english |= set(filter(is_english, all_texts(dialog)))
    # Recipes of experiments and notes on papers are data, like names: the same in every language.
    data = {text for ruling in rulings().values() for text in (ruling.problem, ruling.ruling)}
    assert sorted(english - data) == []
    assert recorder.missing == set(), "tables whose texts the collector of messages does not go through"


def english_texts(texts: dict[Key, set[str]], catalogue: Mapping[str, str]) -> Callable[[str], bool]:
    """A function that returns True for a text of the catalogue that a translation would change."""
    # "Design" is English for one thing and German for another.
    translated = {text.replace("&", "") for text in catalogue.values()}
    fixed, forms = set(), []
    for text in {each for key in texts for each in key if each is not None}:
        if text not in catalogue or catalogue[text] == text:
            continue
        fixed.add(text.replace("&", ""))
        pieces = re.split(r"\{\w+\}", text.replace("&", ""))
        if len(pieces) > 1 and len("".join(pieces)) > 5:
            forms.append(re.compile(".+".join(map(re.escape, pieces))))

    def is_english(shown: str) -> bool:
        plain = shown.replace("&", "")
        return plain not in translated and (plain in fixed or any(form.fullmatch(plain) for form in forms))

    return is_english


def all_texts(root: QWidget) -> Iterator[str]:
    """All texts of a widget and its children, visible, in tooltips, or for screen readers."""
    for widget in (root, *root.findChildren(QWidget)):
        yield from (widget.toolTip(), widget.statusTip(), widget.accessibleName(), widget.accessibleDescription())
        yield from texts_of(widget)
    for action in root.findChildren(QAction):
        yield from (action.text(), action.iconText(), action.toolTip(), action.statusTip())


def texts_of(widget: QWidget) -> Iterator[str]:
    if isinstance(widget, QLabel | QAbstractButton):
        yield widget.text()
    elif isinstance(widget, QLineEdit | QPlainTextEdit):
        yield "" if is_value(widget.placeholderText()) else widget.placeholderText()
    elif isinstance(widget, QGroupBox | QMenu):
        yield widget.title()
    elif isinstance(widget, QTabBar):
        for number in range(widget.count()):
            yield from (widget.tabText(number), widget.tabToolTip(number))
    elif isinstance(widget, QComboBox):
        items = (widget.itemText(number) for number in range(widget.count()))
        yield from (text for text in items if not is_value(text))
    elif isinstance(widget, QAbstractItemView) and widget.model() is not None:
        yield from texts_of_model(widget.model())


def is_value(text: str) -> bool:
    """True for a value of a scenario file, such as "none" or "goodput", which has no translation."""
    return text.islower() and " " not in text


def texts_of_model(model: QAbstractItemModel) -> Iterator[str]:
    roles = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole)
    for column in range(1 if isinstance(model, QAbstractListModel) else model.columnCount(QModelIndex())):
        yield from (str(model.headerData(column, Qt.Orientation.Horizontal, role) or "") for role in roles)
        for row in range(model.rowCount(QModelIndex())):
            index = model.index(row, column)
            shown = (str(index.data(role) or "") for role in roles)
            yield from (text for text in shown if not is_value(text))


def test_the_forms_of_messages_are_those_that_simulator_store_and_services_have() -> None:
    said = literals("sim/subflow_sim", "app/subflow_store", "app/subflow_app/features", "app/subflow_app/foundation")
    of_the_system = {os.strerror(number) for number in errno.errorcode}
    for form in (*ERRORS, *FORMS):
        # Commas and "and" join separately defined parts.
        pieces = re.split(r"\{\w+\}|, | and ", form)
        known = form in of_the_system or all(piece.strip(' ";:.,()') in said for piece in pieces)
        assert known, f"nobody says {form!r} any more"


def literals(*folders: str) -> str:
    """All texts in these sources except those of the forms themselves."""
    found = []
    for folder in folders:
        for path in (ROOT / folder).rglob("*.py"):
            if path.name != "problem_texts.py":
                tree = ast.parse(path.read_text(encoding="utf-8"))
                found += [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return "\n".join(text for text in found if isinstance(text, str))


def test_problems_of_the_scenario_are_told_in_the_language_of_the_window() -> None:
    use_language("de")
    try:
        assert problem_text('unknown key, did you mean "delay"?') == 'unbekannter Schlüssel, ist "delay" gemeint?'
        assert problem_text("this is a list of 3, not two numbers") == "hier steht eine Liste aus 3, nicht zwei Zahlen"
        assert (
            problem_text('a rate greater than 0 and at most "1Tbit/s" or "unlimited", e.g. "8Mbit/s" or 8e6')
            == 'eine Rate über 0 und höchstens "1Tbit/s" oder "unlimited", z. B. "8Mbit/s" oder 8e6'
        )
        assert problem_text("of a kind that nobody has heard of") == "of a kind that nobody has heard of"
    finally:
        use_language("en")
    assert problem_text("missing") == "missing"


def test_german_texts_name_the_thing() -> None:
    german = read_po((FOLDER / "de.po").read_text(encoding="utf-8"))
    texts = [*german.texts.values(), *(form for forms in german.plurals.values() for form in forms)]
    assert [text for text in texts if " " in text and _GERMAN.search(text)] == []
