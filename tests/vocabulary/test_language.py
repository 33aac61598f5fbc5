from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.helpers.members import for_each

from subflow_app.foundation import resources
from subflow_app.foundation.resources import use_language
from subflow_app.vocabulary.language import SYSTEM, PoError, language_for, read_po, tr, trn

CATALOGUE = """\
# of a test
msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\\n"

msgid "Deleted {what}."
msgstr "{what} "
"wurde gelöscht."

#, fuzzy
msgid "not yet"
msgstr ""

msgid "{count} run of {name}"
msgid_plural "{count} runs of {name}"
msgstr[0] "{count} Lauf von {name}"
msgstr[1] "{count} Läufe von {name}"
"""


@pytest.fixture(autouse=True)
def _english_again() -> Iterator[None]:
    yield
    use_language("en")
    resources._catalogue.cache_clear()


@pytest.fixture
def german(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "de.po"
    path.write_text(CATALOGUE, encoding="utf-8")
    resources._catalogue.cache_clear()
    monkeypatch.setattr(resources, "resource_path", lambda _relative: path)
    return path


def test_texts_are_translated_and_values_filled_in_by_name(german: Path) -> None:
    assert tr("Deleted {what}.", what="demo") == "Deleted demo."
    use_language("de")
    assert tr("Deleted {what}.", what="demo") == "demo wurde gelöscht."
    assert [trn("{count} run of {name}", "{count} runs of {name}", n, name="a") for n in (0, 1, 2)] == [
        "0 Läufe von a",
        "1 Lauf von a",
        "2 Läufe von a",
    ]
    assert tr("not yet") == "not yet"  # untranslated texts stay English
    assert tr("100 % {braces} stay without values") == "100 % {braces} stay without values"


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(ValueError, match="'xx'; allowed: en, de"):
        use_language("xx")


@for_each(
    ("setting", "preferred", "code"),
    [
        ("de", ["en-GB"], "de"),
        (SYSTEM, ["de-CH", "en"], "de"),
        (SYSTEM, ["fr-FR", "de_AT"], "de"),
        (SYSTEM, ["en-US", "de"], "en"),
        (SYSTEM, ["C"], "en"),
        (SYSTEM, [], "en"),
    ],
)
def test_the_system_s_language_is_the_first_one_that_we_have(setting: str, preferred: list[str], code: str) -> None:
    assert language_for(setting, preferred) == code


def test_a_broken_catalogue_leaves_the_texts_english(german: Path, caplog: pytest.LogCaptureFixture) -> None:
    german.write_text("msgid nothing", encoding="utf-8")
    with caplog.at_level(logging.ERROR):
        use_language("de")
    assert tr("Deleted {what}.", what="demo") == "Deleted demo."
    assert "line 1: nothing is not text in quotes" in caplog.text


@pytest.mark.parametrize("line", ['"alone"', 'msgctxt "x"', "msgid 3", "msgid __import__('os')"])
def test_lines_that_are_none_are_refused(line: str) -> None:
    with pytest.raises(PoError, match="line 1"):
        read_po(line)
