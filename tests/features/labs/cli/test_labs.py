"""The command ``subflow labs``: lists, checks, and results that are confirmed or rejected."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.helpers.command_line import Subflow
from tests.helpers.labs import SAWTOOTH_LAB, sign_anew, small_lab
from tests.helpers.members import for_each
from tests.helpers.present import present

from subflow_app.features.labs.cli.lab_steps import terminal_ways
from subflow_app.features.labs.core.lab import Lab, Step
from subflow_app.features.labs.core.lab_file import lab_names, load_lab
from subflow_app.features.labs.core.progress import ProgressFolder
from subflow_app.features.labs.core.runner import LabRunner
from subflow_app.features.labs.core.solution import COMPUTED, Order, parse_order
from subflow_app.foundation.paths import default_database, labs_directory
from subflow_app.foundation.toml_edit import Lines, set_value
from subflow_app.shell.commands import app
from subflow_store import open_store


@pytest.fixture
def lab_file(tmp_path: Path) -> Path:
    return small_lab(tmp_path).path


@pytest.fixture
def done(lab_file: Path, tmp_path: Path) -> Path:
    """The completed small lab; returns its result file."""
    with open_store(tmp_path / "runs.db") as store:
        progress = LabRunner(small_lab(tmp_path), store, tmp_path / "scratch").run().progress
    ProgressFolder(labs_directory()).write(replace(progress, database=str(tmp_path / "runs.db")))
    return lab_file


def _result(subflow: Subflow, lab: Path, out: Path, *more: object) -> Path:
    answer = subflow("labs", "result", lab, "--student", "Ada", "--out", out, *more)
    assert (answer.code, answer.err) == (0, "")
    return out


def test_labs_are_listed_shown_and_checked(subflow: Subflow, lab_file: Path) -> None:
    assert [lab["name"] for lab in subflow("labs", "--json").document] == list(lab_names())
    assert "3. A shorter queue" in subflow("labs", "show", lab_file).out
    assert "5 steps, nothing wrong\n" in subflow("labs", "check", lab_file).out
    answer = subflow("labs", "check", lab_file, "--run")
    assert "5 steps, nothing wrong, done from first to last" in answer.out
    assert "shorter: set links.bottleneck.queue=17pkt" in answer.err


def test_a_lab_that_is_wrong_is_told(subflow: Subflow, tmp_path: Path) -> None:
    path = tmp_path / "wrong.md"
    path.write_text(SAWTOOTH_LAB.replace("minutes = 5", "minutes = 0"))
    answer = subflow("labs", "check", path)
    assert answer.code == 2
    assert "wrong.md:5: minutes = 0" in answer.err
    path.write_text(SAWTOOTH_LAB.replace("queue') == 17", "queue') == 18"))
    answer = subflow("labs", "check", path, "--run")
    assert answer.code == 1
    assert "step shorter: its check does not hold after its solution" in answer.err


def test_a_result_is_what_it_says(subflow: Subflow, done: Path, tmp_path: Path) -> None:
    path = _result(subflow, done, tmp_path / "ada.json")
    document = json.loads(path.read_text())
    assert (document["student"], document["passed"], len(document["runs"])) == ("Ada", 5, 3)
    answer = subflow("labs", "verify", path, "--lab", done)
    assert answer.code == 0
    assert "CONFIRMED: Ada, A small lab: 5 of 5 steps, 3 of 3 runs came out again" in answer.out
    answer = subflow("labs", "verify", path, "--no-rerun", "--json")
    assert answer.code == 3
    told = answer.document[0]
    assert (told["outcome"], told["is_sound"], told["problems"]) == ("not confirmed", False, [])
    assert [each.split()[1] for each in told["doubts"]] == ["lab", "runs"]


Forge = Callable[[dict[str, Any]], object]


def _forged(path: Path, forge: Forge) -> Path:
    """Changes the file and signs it anew."""
    document = json.loads(path.read_text())
    forge(document)
    sign_anew(document)
    path.write_text(json.dumps(document))
    return path


@for_each(
    ("old", "new", "told"),
    [('"Ada"', '"Bob"', "changed after it was signed"), ("17pkt", "18pkt", "not the one that it was made with")],
)
def test_a_changed_result_is_told(subflow: Subflow, done: Path, tmp_path: Path, old: str, new: str, told: str) -> None:
    path = _result(subflow, done, tmp_path / "ada.json")
    path.write_text(path.read_text().replace(old, new))
    answer = subflow("labs", "verify", path, "--no-rerun")
    assert answer.code == 1
    assert told in answer.err


def _of_another_lab_without_runs(document: dict[str, Any]) -> None:
    document["lab"]["hash"] = "0" * 64
    document["runs"].clear()
    for step in document["steps"]:
        step["last_run"] = 0


FORGERIES: Mapping[str, Forge] = {
    "no run": lambda result: result["runs"][1].update(signature="0" * 16),
    "another version": lambda result: [run.update(version="0.0.9", signature="0" * 16) for run in result["runs"]],
    "another lab": _of_another_lab_without_runs,
    "more steps": lambda result: result["steps"][4].update(passed_at=""),
    "another text": lambda result: result["lab"].update(begun_with="0" * 64),
}


@for_each(
    ("forgery", "code", "told"),
    [
        ("no run", 1, "run 2: its signature 0000000000000000 came out as"),
        ("another version", 3, "run 1 could not be simulated again: version 0.0.9"),
        ("another lab", 3, "no run that could be simulated again"),
        ("more steps", 1, "5 of 5 steps as passed; by its steps it is 4 of 5"),
        ("another text", 0, "the lab 01-small was begun with another text of it"),
    ],
)
def test_forgeries_confirm_nothing(
    subflow: Subflow, done: Path, tmp_path: Path, forgery: str, code: int, told: str
) -> None:
    path = _result(subflow, done, tmp_path / "ada.json")
    assert told not in subflow("labs", "verify", path, "--lab", done, "--no-rerun").err
    answer = subflow("labs", "verify", _forged(path, FORGERIES[forgery]), "--lab", done)
    assert answer.code == code
    assert told in answer.err
    assert ("CONFIRMED: Ada", "CONTRADICTED: Ada", "", "NOT CONFIRMED: Ada")[code] in answer.out
    # Only contradictions within the steps appear without a new simulation of the runs.
    assert subflow("labs", "verify", path, "--no-rerun").code == (1 if forgery == "more steps" else 3)


def test_steps_that_the_runs_do_not_satisfy_are_told(subflow: Subflow, done: Path, tmp_path: Path) -> None:
    honest = _result(subflow, done, tmp_path / "ada.json").read_text()

    def verdict(forge: Forge) -> str:
        path = tmp_path / "forged.json"
        path.write_text(honest)
        answer = subflow("labs", "verify", _forged(path, forge), "--lab", done)
        assert answer.code == 1
        return str(answer.err)

    def better(document: dict[str, Any]) -> None:
        steps = document["steps"]
        steps[1]["answers"]["who"][0]["value"] = "The sender"
        del steps[1]["answers"]["bdp"]
        steps[2]["prediction"]["came"] = "It stays"
        # A step that is recorded as passed without its run.
        document["runs"].pop()
        steps[3]["last_run"] = 2

    told = verdict(better)
    assert "step draw: its check does not hold over the runs of the file" in told
    assert 'step pipe: the answer "The sender" to who is recorded as right, but is not' in told
    assert "step pipe: the question bdp was not answered" in told
    assert 'step shorter: the file reports the outcome "It stays", but by its runs it is "It falls"' in told
    # A run of another scenario replaces the required one: it is genuine, but does not fit the step.
    told = verdict(lambda document: document["runs"].__setitem__(1, document["runs"][0] | {"number": 2}))
    assert "step shorter: its check does not hold over the runs of the file: this does not hold: 84 == 17" in told
    assert "step run" not in told


def test_with_a_course_key_nobody_else_can_sign(subflow: Subflow, done: Path, tmp_path: Path) -> None:
    path = _result(subflow, done, tmp_path / "ada.json", "--key", "spring")
    assert subflow("labs", "verify", path, "--key", "spring", "--lab", done).code == 0
    assert "give that key" in subflow("labs", "verify", path, "--no-rerun").err
    assert "or signed with another key" in subflow("labs", "verify", path, "--no-rerun", "--key", "autumn").err
    plain = _result(subflow, done, tmp_path / "plain.json")
    assert "signed without the course key" in subflow("labs", "verify", plain, "--no-rerun", "--key", "spring").err


@for_each("content", ["", "[]", "{}", '{"kind": "subflow lab result", "format": 1}', "[" * 9999])
def test_what_is_no_result_is_told(subflow: Subflow, tmp_path: Path, content: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(content)
    answer = subflow("labs", "verify", path)
    assert answer.code == 2
    assert "allowed: a file that `subflow labs result` or the window has written" in answer.err


@pytest.fixture
def begun(subflow: Subflow, lab_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small lab, begun in the terminal in an empty folder; returns its file."""
    folder = tmp_path / "student"
    folder.mkdir()
    monkeypatch.chdir(folder)
    answer = subflow("labs", "begin", lab_file)
    assert (answer.code, answer.err) == (0, "")
    return lab_file


class TerminalStudent:
    """A student who follows the solution of a lab by commands, and changes scenarios by --set or in the file."""

    def __init__(self, subflow: Subflow, lab: Lab) -> None:
        self.subflow, self.lab, self.number = subflow, lab, str(lab.number)
        self.file = f"{lab.name}.toml"
        self.changes: dict[str, str] = {}

    def obey(self, step: Step, order: Order) -> None:
        match order.verb:
            case "open":
                self.file, self.changes = order.words[0], {}
            case "set":
                # The short form of an algorithm replaces its options.
                kept = {
                    key: value
                    for key, value in self.changes.items()
                    if not key.startswith(tuple(f"{each}." for each in order.values))
                }
                self.changes = {**kept, **order.values}
            case "event":
                lines = [
                    f"{key} = {value if value in ('true', 'false') else json.dumps(value)}"
                    for key, value in order.values.items()
                ]
                with Path(self.file).open("a", encoding="utf-8") as file:
                    file.write("\n".join(("\n[[events]]", *lines, "")))
            case "script":
                content = (self.lab.path.parent / order.words[1]).read_text(encoding="utf-8")
                text = Path(self.file).read_text(encoding="utf-8")
                place = ("controllers", order.words[0], "content")
                Path(self.file).write_text(set_value(text, place, Lines(content)), encoding="utf-8")
            case "run":
                first, _, last = order.values.get("seeds", order.values.get("seed", "")).partition("..")
                for seed in range(int(first), int(last or first) + 1) if first else [None]:
                    self._act("run", self.file, *self._sets(), *([] if seed is None else ["--seed", seed]))
            case "sweep":
                axes = [f"--axis={key}={value}" for key, value in order.values.items() if key != "seeds"]
                seeds = ["--seeds", order.values["seeds"]] if "seeds" in order.values else []
                self.changes = {key: value for key, value in self.changes.items() if key not in order.values}
                self._act("sweep", self.file, *self._sets(), *axes, *seeds, "--jobs", "1")
            case "fork":
                sets = [
                    f"--set=links.{order.values['link']}.{key}={value}"
                    for key, value in order.values.items()
                    if key not in ("at", "link")
                ]
                self._act("fork", "last", "--at", order.values["at"], *sets)
            case "train":
                self._act(
                    "train",
                    order.words[0],
                    "--scenario",
                    self.file,
                    "--steps",
                    order.values["steps"],
                    "--seed",
                    order.values["seed"],
                    "--eval-every",
                    0,
                    "--name",
                    "mine",
                )
            case "promote":
                self._act("agents", "promote", "last", "--name", order.words[0])
            case "predict":
                self._act("labs", "predict", self.number, *order.words)
            case "answer" if order.words[1] != COMPUTED:
                self._act("labs", "answer", self.number, *order.words)
            case "answer":
                # After two wrong answers, the right one is shown.
                unit = step.question(order.words[0]).unit
                told = [self._act("labs", "answer", self.number, order.words[0], f"{wrong} {unit}") for wrong in (1, 2)]
                right = re.search(r"The right answer is ([-−0-9.]+)", told[-1])
                assert right is not None, told
                self._act("labs", "answer", self.number, order.words[0], f"{right[1]} {unit}")
            case other:
                raise AssertionError(other)

    def _sets(self) -> list[str]:
        return [f"--set={key}={value}" for key, value in self.changes.items()]

    def _act(self, *words: object) -> str:
        answer = self.subflow(*words)
        assert answer.code == 0, (words, answer.out, answer.err)
        return answer.out


QUICK = ("01-first-sawtooth", "03-two-paths")


@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.full("does a whole lab")) for name in lab_names()],
)
def test_every_lab_can_be_done_in_the_terminal(
    subflow: Subflow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    lab = load_lab(name, code="Ada")
    if lab.missing:
        pytest.skip(f"needs {lab.missing}")
    number = str(lab.number)
    assert f"Lab {number}: " in subflow("labs", "begin", number, "--code", "Ada").out
    student = TerminalStudent(subflow, lab)
    for step in lab.steps:
        assert f"{step.title} (you are here)" in subflow("labs", "show", number).out
        for order in map(parse_order, step.do):
            student.obey(step, order)
        # The answer to the last question may have passed the step: then `next` shows the following step.
        state = subflow("labs", "next", number, "--json").document
        assert state["passed"] == lab.steps.index(step) + 1, (step.id, state["missing"])
    assert "The lab is done." in subflow("labs", "next", number).out
    assert subflow("labs", "result", number, "--student", "Ada", "--out", "ada.json").code == 0
    assert json.loads(Path("ada.json").read_text())["passed"] == len(lab.steps)
    verdict = "NOT CONFIRMED" if "train" in lab.needs else "CONFIRMED"
    assert subflow("labs", "verify", "ada.json").out.startswith(f"ada.json: {verdict}: Ada")


_COMMAND = re.compile(r"`subflow ([^`]+)`")
_TREE: Any = typer.main.get_command(app)


@pytest.mark.parametrize("language", ["en", "de"])
def test_each_step_says_how_it_is_done_in_the_terminal(language: str) -> None:
    """Commands below the text of a step cover all its tasks; these commands and those of its hints exist."""
    silent, unknown, count = [], [], 0
    for lab in (load_lab(name, language=language) for name in lab_names()):
        for step in lab.steps:
            ways = terminal_ways(lab, step, f"{lab.name}.toml")
            if not ways and any(parse_order(text).verb not in ("predict", "answer") for text in step.do):
                silent.append((lab.name, step.id))
            for line in (*ways, *step.hints):
                for typed in _COMMAND.findall(line):
                    count += 1
                    unknown += [(lab.name, step.id, typed)] if not _is_command(shlex.split(typed)) else []
    assert (silent, unknown) == ([], [])
    assert count > 150


def _is_command(words: list[str]) -> bool:
    """True if the command line has the command and its options; values may be placeholders, such as TIME."""
    command = _TREE
    while hasattr(command, "commands") and words and words[0] in command.commands:
        command, words = command.commands[words[0]], words[1:]
    options = {name for param in command.params for name in (*param.opts, *param.secondary_opts)}
    is_whole = not hasattr(command, "commands") or (not words and command.invoke_without_command)
    return is_whole and {word for word in words if word.startswith("-")} <= options


def test_the_window_goes_on_where_the_terminal_was(subflow: Subflow, begun: Path) -> None:
    assert subflow("run", "01-small.toml", "--set", "links.bottleneck.queue=50pkt").code == 0
    assert "Done: Run it" in subflow("labs", "next", begun).out
    progress = present(ProgressFolder(labs_directory()).read("01-small").progress)
    assert progress.step("run").is_passed
    assert Path(progress.database) == default_database()
    assert 'queue = "50pkt"' in progress.document


def test_what_is_missing_in_a_step_is_told(subflow: Subflow, begun: Path) -> None:
    said = [subflow("labs", "hint", begun).out for _ in range(3)]
    assert said == ["Look at the tool bar.\n", "Press F5.\n", "This step has no more hints.\n"]
    answer = subflow("labs", "next", begun)
    assert answer.code == 1
    assert answer.out.startswith("Not yet: ")
    assert subflow("run", "01-small.toml").code == 0
    assert subflow("labs", "next", begun).code == 0
    missing = subflow("labs", "next", begun, "--json").document["missing"]
    assert missing == [f"an answer: `subflow labs answer {begun} {name} VALUE`" for name in ("bdp", "who")]
    assert subflow("labs", "answer", begun, "bdp", "41.7").out.startswith("Not right. That is the way there")
    assert subflow("labs", "answer", begun, "bdp", "83").out.startswith("Right. 10 Mbit/s times 100 ms")
    shown = subflow("labs", "show", begun).out
    number = "1" if "1. The queue" in shown else "2"  # in the order shown to this student
    told = subflow("labs", "answer", begun, "who", number).out
    assert told.startswith("Right.\nDone: The pipe\n")
    assert "3. A shorter queue (you are here)" in told
    assert subflow("labs", "next", begun).out == f"Not yet: a prediction: `subflow labs predict {begun} VALUE`\n"
    assert subflow("run", "01-small.toml", "--set", "links.bottleneck.queue=17pkt").code == 0
    assert "Not yet: You ran before you predicted" in subflow("labs", "next", begun).out
    assert subflow("labs", "predict", begun, "It falls").out.startswith("Prediction saved. Change only the queue")
    assert "run again, now that you have predicted" in subflow("labs", "next", begun).out
    assert subflow("run", "01-small.toml", "--set", "links.bottleneck.queue=17pkt").code == 0
    told = subflow("labs", "next", begun).out
    assert "Your prediction was right. The link runs dry after each loss.\nDone: A shorter queue" in told


def test_what_a_step_does_not_take_is_told_with_what_is_allowed(subflow: Subflow, begun: Path) -> None:
    def refused(word: str, *more: str, told: str) -> None:
        answer = subflow("labs", word, begun, *more)
        assert (answer.code, told in answer.err) == (2, True), answer.err

    refused("predict", "It stays", told='"Run it" expects no prediction')
    refused("answer", "bdp", "83", told='"Run it" has no question bdp; allowed: none')
    refused("begin", told="--anew")
    # An answer may begin with a minus, and options stay options.
    refused("predict", "-1/2", told="expects no prediction now")
    refused("answer", "bdp", "5", "--jsno", told="--jsno")
    subflow("run", "01-small.toml")
    subflow("labs", "next", begun)
    refused("answer", "who", "3", told='"3" is not one of the options; allowed: 1 ("The ')
    refused("answer", "whom", "2", told='"The pipe" has no question whom; allowed: bdp, who')
    refused("answer", "bdp", "many", told='"many" is not a number; allowed: e.g. 83 pkt')


def test_a_lab_with_another_text_goes_on_only_anew(subflow: Subflow, begun: Path) -> None:
    begun.write_text(SAWTOOTH_LAB.replace("Another controller.", "Another one."))
    result = ["result", begun, "--student", "Ada"]
    for words in (["begin", begun], ["next", begun], ["hint", begun], ["predict", begun, "2"], result):
        answer = subflow("labs", *words)
        assert (answer.code, "was begun with another text" in answer.err) == (2, True)
        assert f"`subflow labs begin {begun} --anew` begins it anew" in answer.err
    assert "(you are here)" not in subflow("labs", "show", begun).out
    assert subflow("labs", "begin", begun, "--anew").code == 0
    assert len(list(labs_directory().iterdir())) == 2
    assert subflow("labs", "hint", begun).code == 0


def test_to_begin_anew_keeps_what_was_and_writes_over_no_scenario(subflow: Subflow, begun: Path) -> None:
    scenario = Path("01-small.toml")
    scenario.write_text(scenario.read_text() + "# mine\n")
    answer = subflow("labs", "begin", begun, "--anew")
    assert answer.code == 2
    assert "01-small.toml exists and is another scenario: name another file with --out" in answer.err
    assert subflow("labs", "begin", begun, "--anew", "--out", "again.toml", "--json").document["passed"] == 0
    assert scenario.read_text().endswith("# mine\n")
    assert len(list(labs_directory().iterdir())) == 2


@for_each("name", lab_names())
def test_a_lab_that_is_shown_does_not_tell_its_answers(subflow: Subflow, name: str) -> None:
    lab = load_lab(name)
    shown, document = subflow("labs", "show", name).out, subflow("labs", "show", name, "--json").document
    told = json.dumps(document["steps"], ensure_ascii=False)
    keys = {key for step in document["steps"] for each in step["questions"] for key in each}
    assert keys <= {"id", "ask", "options", "unit"}
    for step in lab.steps:
        for question in step.questions:
            assert question.ask in shown
            assert all(f". {option}\n" in shown for option in question.options)
            assert not question.why or question.why not in shown + told
        if step.prediction is not None:
            assert step.prediction.ask in shown
            assert not step.prediction.why or step.prediction.why not in shown + told
            assert not any(text in shown for text in step.prediction.holds)


def test_a_lab_that_was_not_begun_has_no_steps_and_no_result(subflow: Subflow, lab_file: Path) -> None:
    for word, *more in (["next"], ["predict", "2"], ["answer", "who", "2"], ["hint"], ["result", "--student", "Ada"]):
        answer = subflow("labs", word, lab_file, *more)
        assert (answer.code, "has not been begun here" in answer.err) == (2, True)
        assert f"`subflow labs begin {lab_file}`" in answer.err
