"""The page of a lab: small, without network access, without its answers, and complete for its steps."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.helpers.labs import small_lab
from tests.helpers.pages import packed_text

from subflow_app.features.exporting.core import lab_page
from subflow_app.features.exporting.core.lab_page import beyond_pages, lab_document, write_lab_page
from subflow_app.features.exporting.core.page_import import read_page
from subflow_app.features.labs.core.lab import Lab
from subflow_app.features.labs.core.lab_file import lab_names, load_lab, parse_lab
from subflow_app.features.labs.core.publishing import published_text
from subflow_app.features.labs.core.sealing import Sealed
from subflow_app.foundation.errors import InputError, LabError
from subflow_sim.portable import portable
from subflow_sim.scenario import parse_scenario

MOST_BYTES = 575_000


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
