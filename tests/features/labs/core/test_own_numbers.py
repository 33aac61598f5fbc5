"""Numbers of one's own: drawn from a code, the same on every machine, and computed again for a class."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.helpers.command_line import Subflow
from tests.helpers.labs import sign_anew
from tests.helpers.members import for_each

from subflow_app.features.labs.core.lab_file import lab_names, load_lab, parse_lab
from subflow_app.features.labs.core.own_numbers import drawn
from subflow_app.features.labs.core.result_file import result_document, write_result
from subflow_app.features.labs.core.runner import LabRunner
from subflow_app.foundation.errors import LabError
from subflow_app.vocabulary.language import LANGUAGES
from subflow_store import open_store

OWN_LABS = ("02-square-root-law", "03-two-paths")
SMALL = """\
+++
format = 1
number = 1
title = "A small lab"
minutes = 5
goals = ["Compute"]
scenario = "reno-sawtooth"
set = { duration = "8s", warmup = "1s" }

[own]
rate = ["6 Mbit/s", "8 Mbit/s", "12 Mbit/s", "15 Mbit/s", "18 Mbit/s", "20 Mbit/s", "24 Mbit/s", "30 Mbit/s"]

[[steps]]
id = "yours"
check = "value(last(), 'links.bottleneck.rate') == {own:rate}"
hints = ["It is {own:rate}."]
do = ["set links.bottleneck.rate={own:rate}", "run", "answer pipe =", "answer kind Long", "answer idea A text."]
[[steps.questions]]
id = "pipe"
ask = "How many packets does {own:rate} times 100 ms hold?"
answer = "{own:rate} * 100 ms / 12000"
unit = "pkt"
[[steps.questions]]
id = "kind"
ask = "What is the queue?"
options = ["Long", "Short"]
answer = "Long"
[[steps.questions]]
id = "idea"
ask = "What do you think of it?"
text = true
+++
One flow.

## Yours {#yours}
Your rate is **{own:rate}**.
"""


def test_a_code_always_draws_the_same_numbers_and_codes_differ() -> None:
    lists = {"rate": ["1", "2", "3", "4"], "delay": ["5", "6", "7", "8"]}
    assert drawn(lists, "Ada Lovelace") == drawn(lists, " ada  LOVELACE ")
    counts = Counter(tuple(drawn(lists, f"student {number}").values()) for number in range(160))
    assert len(counts) == 16  # all pairs occur
    assert max(counts.values()) < 30
    assert drawn(lists, "") == {"rate": "1", "delay": "5"}


@for_each(
    ("old", "new", "told"),
    [
        ("{own:rate} * 100", "{own:speed} * 100", "{own:speed} refers to no list of the lab; allowed: rate"),
        ('rate = ["6 Mbit/s", ', "rate = [6, ", "own.rate is not a list of values"),
        ("text = true", 'text = true\noptions = ["a", "b"]', "a free text has no right answer"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, old: str, new: str, told: str) -> None:
    with pytest.raises(LabError) as caught:
        parse_lab(SMALL.replace(old, new), tmp_path / "01-small.md")
    assert told in str(caught.value)


def work_of(folder: Path, code: str, student: str, *, wrong: bool = False) -> dict[str, Any]:
    """The result of a student with this code."""
    folder.mkdir(exist_ok=True)
    path = folder / "01-small.md"
    path.write_text(SMALL, encoding="utf-8")
    lab = load_lab(path, code=code)
    with open_store(":memory:") as store:
        runner = LabRunner(lab, store, folder / "scratch")
        step = lab.steps[0]
        if wrong:
            question = step.question("kind")
            judged = runner.session.judge_answer(runner.session.reader(store), "", step, question, "Short")
            runner.session.answer(step, question, judged)
            runner.session.hint(step)
        assert runner.carry_out(step) == ""
        progress = runner.session.progress
        return result_document(lab, progress, runner.session.reader(store).read("", progress.step_runs()), student)


def test_a_class_with_a_copy_and_a_forgery_is_graded(subflow: Subflow, tmp_path: Path) -> None:
    folder = tmp_path / "class"
    folder.mkdir()
    made = {
        name: work_of(tmp_path / name, name, name.capitalize(), wrong=name == "cleo") for name in ("ada", "bob", "cleo")
    }
    made["dan"] = {**made["ada"], "student": "Dan"}  # a copy, with the numbers of Ada
    made["eve"] = json.loads(json.dumps(made["bob"]))  # Bob's work with a code of its own
    made["eve"] |= {"student": "Eve", "own": {"code": "eve", "values": made["bob"]["own"]["values"]}}
    made["fay"] = work_of(tmp_path / "fay", "", "Fay")  # with the numbers of the book
    made["gus"] = {name: value for name, value in made["fay"].items() if name != "own"} | {"student": "Gus"}
    for name in ("dan", "eve", "gus"):
        sign_anew(made[name])
    for name, document in made.items():
        write_result(folder / f"{name}.json", document)
    words = ["labs", "class", folder, "--lab", tmp_path / "ada" / "01-small.md"]
    assert subflow(*words, "--csv", tmp_path / "class.csv", "--steps", tmp_path / "steps.csv").code == 1

    with (tmp_path / "class.csv").open(encoding="utf-8") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert {name: row["outcome"] for name, row in rows.items()} == {
        **dict.fromkeys(("Ada", "Bob", "Cleo", "Dan", "Fay", "Gus"), "confirmed"),
        "Eve": "contradicted",
    }
    assert [rows[name]["code"] for name in ("Ada", "Dan", "Eve")] == ["ada", "ada", "eve"]
    assert "the same code for its own numbers as in ada.json" in rows["Dan"]["anomalies"]
    assert all("no code for its own numbers, unlike other files" in rows[name]["anomalies"] for name in ("Fay", "Gus"))
    assert 'its own numbers are not those of the code "eve"' in rows["Eve"]["anomalies"]
    assert (rows["Ada"]["credit_percent"], rows["Cleo"]["credit_percent"]) == ("100.0", "87.5")
    with (tmp_path / "steps.csv").open(encoding="utf-8") as file:
        steps = {row["student"]: row for row in csv.DictReader(file)}
    assert (steps["Cleo"]["wrong_answers"], steps["Cleo"]["hints"], steps["Ada"]["wrong_answers"]) == (
        "kind: Short",
        "1",
        "",
    )
    assert steps["Ada"]["free_texts"] == "idea: A text."


def test_the_numbers_of_two_students_differ_and_are_judged_by_their_own_values(tmp_path: Path) -> None:
    values = {name: work_of(tmp_path / name, name, name)["own"]["values"]["rate"] for name in ("ada", "bob", "cleo")}
    assert len(set(values.values())) > 1


@for_each("language", ("en", *LANGUAGES))
@for_each("name", OWN_LABS)
def test_two_shipped_labs_have_numbers_of_ones_own_in_each_language(name: str, language: str) -> None:
    assert name in lab_names()
    labs = [load_lab(name, language=language, code=f"student {number}") for number in range(20)]
    assert len({tuple(lab.own.values()) for lab in labs}) > 5
    step = labs[3].by_id["yours"]
    for value in labs[3].own.values():
        assert value in step.text
    assert all("{own:" not in text for lab in labs for each in lab.steps for text in (each.text, each.check, *each.do))


def test_a_lab_begun_in_the_terminal_keeps_its_code(
    subflow: Subflow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "01-small.md"
    path.write_text(SMALL, encoding="utf-8")
    rate = load_lab(path, code="Ada").own["rate"]
    first = subflow("labs", "begin", path).out
    assert "The numbers are those of the book; `--anew --code NAME` draws your own." in first
    assert "Your rate is 6 Mbit/s" in first.replace("**", "")
    assert subflow("labs", "begin", path, "--anew", "--code", "Ada").code == 0
    assert f"Your rate is {rate}" in subflow("labs", "show", path).out.replace("**", "")
    assert rate in subflow("labs", "hint", path).out
