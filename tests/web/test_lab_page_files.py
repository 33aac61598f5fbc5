"""The page of a lab: small, without network access, without its answers, and complete for its steps."""

from __future__ import annotations

import hashlib
import json
import math
import re
from pathlib import Path
from typing import Any, cast

import pytest
from PySide6.QtQml import QJSEngine, QJSValue
from PySide6.QtWidgets import QApplication
from tests.helpers.labs import small_lab
from tests.helpers.pages import packed_text
from tests.helpers.web_core import ASSETS

from subflow_app.features.exporting.core import lab_page
from subflow_app.features.exporting.core.lab_page import beyond_pages, lab_document, words_of_page, write_lab_page
from subflow_app.features.exporting.core.page_import import read_page
from subflow_app.features.labs.core.lab import Lab
from subflow_app.features.labs.core.lab_file import lab_names, load_lab, own_lists, parse_lab
from subflow_app.features.labs.core.own_numbers import drawn, normal_code
from subflow_app.features.labs.core.publishing import published_text
from subflow_app.features.labs.core.sealing import Sealed
from subflow_app.foundation.errors import InputError, LabError
from subflow_sim.portable import portable
from subflow_sim.scenario import parse_scenario

MOST_BYTES = 580_000


@pytest.fixture(scope="module")
def lab() -> Lab:
    return load_lab("1", language="en")


@pytest.fixture(scope="module")
def document(lab: Lab) -> Any:
    return lab_document(lab, language="en")


def sealed_answer(question: Any, said: str | float) -> tuple[bool, str]:
    sealed, tolerance = question["sealed"], 0.0 if question["options"] else question["tolerance"]
    told = Sealed(sealed["salt"], tolerance, tuple(sealed["entries"].items())).open(said)
    return told.is_right, told.why


def test_it_is_small_and_asks_no_network(lab: Lab, tmp_path: Path) -> None:
    page = write_lab_page(lab, tmp_path / "lab.html", language="en")
    text = page.read_text(encoding="utf-8")
    assert len(text.encode()) <= MOST_BYTES
    assert "connect-src" not in text
    assert "unsafe-inline" not in text
    # The namespace of SVG elements is not an address.
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|fetch\(|eval\(|import\(", packed_text(text, "script"))
    assert json.loads(packed_text(text, "told"))["lab"]["hash"] == lab.file_hash
    with pytest.raises(InputError, match="a page of a lab contains no run to import"):
        read_page(page).scenario()


def test_answers_cannot_be_read_and_can_be_judged(document: Any) -> None:
    text = json.dumps(document)
    for told in ("Fewer than that, and the link idles", "That is one way", "A timeout takes the window down"):
        assert told not in text
    questions = {each["id"]: each for step in document["steps"] for each in step["questions"]}
    is_right, why = sealed_answer(questions["bdp"], 84.0)
    assert is_right
    assert why.startswith("83.3 10 Mbit/s x 100 ms")  # the nearest value comes first
    assert sealed_answer(questions["bdp"], 41.7)[1].startswith("41.7 That is one way")
    assert sealed_answer(questions["rule"], "A third duplicate ACK in a row")[0]
    assert not sealed_answer(questions["rule"], "A timeout of the sender")[0]
    assert "answer" not in questions["bdp"]


def test_with_a_course_key_it_is_the_published_lab(lab: Lab) -> None:
    made, published = lab_document(lab, key="k", language="en"), parse_lab(published_text(lab, "k"), lab.path)
    assert made["lab"]["hash"] == published.file_hash
    assert made["lab"]["course"] == published.course
    assert '"k"' not in json.dumps(made["lab"])
    question = made["steps"][1]["questions"][0]
    sealed = published.by_id["pipe"].question("bdp").sealed
    assert sealed is not None
    assert question["sealed"] == {"salt": sealed.salt, "entries": dict(sealed.entries), "is_exact": False}


def test_what_the_form_changes_is_what_the_file_says() -> None:
    document = lab_document(load_lab("3", language="en"), language="en")
    (place,) = document["scenarios"]
    number = next(each for each in place["settings"] if each["key"] == "links.lte.loss")
    begin, end, before, after = number["splice"]
    text = place["toml"][:begin] + f"{before}0.01{after}" + place["toml"][end:]
    assert parse_scenario(text).links["lte"].forward.loss == 0.01
    paths = next(each for each in place["settings"] if each["key"] == "flows.download.paths")
    option = paths["options"][1]
    assert option["facts"] == {"subflows:download": 2}
    begin, end, part = option["splice"]
    scenario = parse_scenario(place["toml"][:begin] + part + place["toml"][end:])
    info = json.loads(json.dumps(place["info"]))
    for path, value in option["patch"]:
        holder = info
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = value
    assert info["scenario"] == portable(scenario, scenario.seed).document


def test_labs_that_need_the_program_are_refused(tmp_path: Path) -> None:
    labs = [load_lab(name, language="en") for name in lab_names()]
    refused = {lab.number: beyond_pages(lab) for lab in labs if beyond_pages(lab)}
    assert set(refused) == {9, 13, 14}
    assert "train" in refused[9]
    with pytest.raises(InputError, match="write a controller"):
        write_lab_page(labs[12], tmp_path / "lab.html")
    assert not list(tmp_path.iterdir())


def test_a_published_lab_has_no_solution_to_make_a_page_by(tmp_path: Path) -> None:
    path = tmp_path / "published.md"
    path.write_text(published_text(small_lab(tmp_path), "k"), encoding="utf-8")
    with pytest.raises(LabError, match="has been published"):
        write_lab_page(load_lab(path), tmp_path / "lab.html")


def test_a_step_beyond_pages_says_so(tmp_path: Path) -> None:
    lab = small_lab(tmp_path)
    text = lab.path.read_text(encoding="utf-8")
    text = text.replace('do = ["run"]', 'do = ["run", "event at=2s flow=reno controller=cubic"]')
    document = lab_document(parse_lab(text, lab.path), language="en")
    assert document["steps"][0]["beyond"] == "its event is set in the program"
    assert document["steps"][2]["beyond"] == ""


WINDOW = re.compile(
    r"\bF\d\b|Ctrl|Strg|[Dd]rawing|Zeichnung|[Ii]nspe[ck]tor|playhead|Abspielkopf|[Tt]imeline|Zeitleiste|\*\*Fairness"
    r"|\*\*Explain|\*\*Erklärung|\bpanel|Bereich|[Hh]istory|Verlauf|\*Study|\*Studie"
)


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_text_names_controls_of_the_window_only_as_those_of_the_program(language: str) -> None:
    labs = [each for name in lab_names() if not beyond_pages(each := load_lab(name, language=language))]
    assert len(labs) > 10
    left = []
    for lab in labs:
        texts = [lab.introduction]
        for step in lab.steps:
            texts += [step.text, step.not_yet, *step.hints, *(question.ask for question in step.questions)]
            texts += [step.prediction.ask, step.prediction.why] if step.prediction else []
        sentences = [each for text in texts for each in re.split(r"(?<=[.:?!])\s+", words_of_page(text, language))]
        left += [f"{lab.name}: {each}" for each in sentences if WINDOW.search(each) and "rogram" not in each]
    assert left == []


def test_the_button_of_the_page_starts_a_run(document: Any) -> None:
    text = document["steps"][0]["text"]
    assert "Then press <strong>Run</strong>, and watch" in text
    assert "F7" not in text
    assert "In the network, <em>sender</em> reaches" in text
    assert document["steps"][0]["hints"][0].startswith("<em>Run</em> starts the run.")
    # The names are those of the buttons.
    words = (ASSETS / "page" / "lab_words.js").read_text(encoding="utf-8")
    for language, other in (("en", "Run (Ctrl+Enter)"), ("de", "Starten (Strg+Enter)")):
        assert f'run_now: "{other}"' in words
        assert words_of_page("F5", language) == other.partition(" ")[0]


def test_checks_are_lists_of_operations() -> None:
    goodput = ["call", "goodput", ["call", "last"]]
    bounds = [["compare", [sign], [goodput, bound]] for sign, bound in ((">=", 1e6), ("<=", 2e6))]
    assert lab_page.check_document("not goodput(last()) in 1 Mbit/s .. 2 Mbit/s") == ["not", ["and", *bounds]]


def test_markdown_becomes_no_markup_of_its_own() -> None:
    made = lab_page.markdown_html(
        "**Bold** <b> & *a*\nb\n\n    x = 1 < 2\n\n- one\n- `two*`\n  more\n\n[RFC](https://rfc) [x](javascript:y)"
    )
    assert made == (
        "<p><strong>Bold</strong> &lt;b&gt; &amp; <em>a</em> b</p>"
        '<pre class="formula">x = 1 &lt; 2</pre>'
        "<ul><li>one</li><li><code>two*</code> more</li></ul>"
        '<p><a href="https://rfc" rel="noopener">RFC</a> [x](javascript:y)</p>'
    )


CODES = ("", "Ada", "  ada   LOVELACE ", "Zoë Straße", "GROẞ", "ΝΙΚΟΣ", "Işık", "4711")


def test_a_page_draws_the_same_numbers_of_ones_own(qapp: QApplication) -> None:
    assert qapp is not None  # the engine needs an application
    engine = QJSEngine()
    digests = {
        f"{normal_code(code)}\0{name}": list(hashlib.sha256(f"{normal_code(code)}\0{name}".encode()).digest())
        for code in CODES
        for name in ("loss", "delay")
    }
    source = (ASSETS / "page" / "own_numbers.js").read_text(encoding="utf-8")
    # The engine of the test has no TextEncoder; browsers compute hashes in another script, which signs results, too.
    engine.evaluate(f"var digests = {json.dumps(digests)}, utf8 = (text) => text, sha256 = (text) => digests[text];")
    assert not cast("QJSValue", engine.evaluate(source)).isError()
    lists = {"loss": [f"{each} %" for each in range(7)], "delay": [f"{each} ms" for each in range(300)]}
    for code in CODES:
        asked = f"JSON.stringify(drawn_places({json.dumps(lists)}, {json.dumps(code)}))"
        found = cast("QJSValue", engine.evaluate(asked))
        places = json.loads(found.toString())
        assert [lists[name][place] for name, place in zip(lists, places, strict=True)] == [
            *drawn(lists, code).values()
        ], code


@pytest.mark.parametrize("name", ["2", "3"])
def test_a_page_has_the_steps_of_each_combination_of_numbers(name: str) -> None:
    lab = load_lab(name, language="en")
    document = lab_document(lab, language="en")
    lists, variants = document["own"]["lists"], document["own"]["steps"]
    assert list(lists) == list(own_lists(lab)) == list(lab.own)
    assert len(variants) == math.prod(map(len, lists.values()))
    assert variants[0] == []  # the numbers of the book
    (step,) = variants[-1]
    assert step["id"] == "yours"
    assert all(values[-1] in step["text"] for values in lists.values())
    assert all("sealed" not in question for question in step["questions"])
    # The other questions stay sealed.
    sealed = [question for each in document["steps"] if each["id"] != "yours" for question in each["questions"]]
    assert any("sealed" in question for question in sealed)


def test_own_numbers_that_a_page_cannot_have_are_refused(tmp_path: Path) -> None:
    text = small_lab(tmp_path).path.read_text(encoding="utf-8")
    many = text.replace(
        "[[steps]]", f"[own]\nrate = {json.dumps([f'{rate} Mbit/s' for rate in range(1, 202)])}\n\n[[steps]]", 1
    )
    with pytest.raises(InputError, match="have 201 combinations; allowed: at most 200"):
        lab_document(small_lab(tmp_path, many), language="en")
    begun = text.replace('duration = "30s"', 'duration = "{own:time}"')
    begun = begun.replace("[[steps]]", '[own]\ntime = ["20s", "30s"]\n\n[[steps]]', 1)
    with pytest.raises(InputError, match="change the scenario in which it begins"):
        lab_document(small_lab(tmp_path, begun), language="en")
