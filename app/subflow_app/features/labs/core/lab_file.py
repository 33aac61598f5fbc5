"""Reader of lab files, which reports every problem with file, line, key, value, and allowed values.

The reader also verifies steps, keys and measures named in checks, as far as possible without a run.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from subflow_app.features.catalog.core.catalog import app_catalog
from subflow_app.features.editor.core.scripts import check_script_name
from subflow_app.features.labs.core.checks import Exploration
from subflow_app.features.labs.core.explorables import explorable_names, load_explorable
from subflow_app.features.labs.core.functions import FIGURES, PARTS, functions
from subflow_app.features.labs.core.lab import (
    LEVELS,
    NEEDS,
    SHOWS,
    Fact,
    Lab,
    Mistake,
    Prediction,
    Question,
    Step,
    Target,
    first_text,
    script_beside,
)
from subflow_app.features.labs.core.misconceptions import SKETCH_FUNCTIONS
from subflow_app.features.labs.core.own_numbers import OwnNumbersError, drawn, filled, lists_of
from subflow_app.features.labs.core.scenario_values import is_key
from subflow_app.features.labs.core.sealing import Sealed
from subflow_app.features.labs.core.solution import SolutionError, parse_order
from subflow_app.foundation.claims import Claim
from subflow_app.foundation.errors import InputError, LabError
from subflow_app.foundation.expressions import UNIT_WORTH, Call, ClaimError, Expression
from subflow_app.foundation.resources import find_scenario, is_to_read, resource_path, way_on
from subflow_app.foundation.toml_edit import TomlEditError
from subflow_app.foundation.toml_files import checked, read_text
from subflow_app.vocabulary.language import ENGLISH, current_language
from subflow_sim.errors import ParamError, Problem, SimError
from subflow_sim.gate import is_file
from subflow_sim.parameter import Param
from subflow_sim.plain_text import did_you_mean, either
from subflow_sim.scenario_model import ScriptFile
from subflow_sim.script import kind_of
from subflow_sim.section_reader import Report, read_section, toml_text
from subflow_sim.toml_map import Path as Place
from subflow_sim.units import UNITS, Dimension

_PAIRS = {"last": 0, "runs": 0, "seeds": 0, "over": 2}
_KEYS = ("value", "text", "is_on")
_WHICH = ("first", "last", "best")


class KeyProblem(Exception):  # noqa: N818 - reported as a problem of the file
    """Raised for a call that names an unknown step, key, part or measure."""

    def __init__(self, message: str, allowed: str) -> None:
        super().__init__(message)
        self.message = message
        self.allowed = allowed


def check_calls(calls: Iterable[Call], steps_before: Sequence[str]) -> None:
    """Check the names in calls.

    Args:
        calls: calls of a claim or an expression.
        steps_before: ids of the steps before the step of the claim.

    Raises:
        KeyProblem: for the first invalid name.
    """
    for call in calls:
        _check(call, steps_before)


def _check(call: Call, steps_before: Sequence[str]) -> None:
    texts = call.texts
    if call.name == "run_of" and texts and texts[0] is not None and texts[0] not in steps_before:
        raise KeyProblem(f'no step before this one has the id "{texts[0]}"', either(list(steps_before)))
    if call.name in _KEYS and texts:
        _check_key(texts[-1])
    elif call.name == "count" and texts and texts[-1] is not None and texts[-1] not in PARTS:
        raise KeyProblem(f'"{texts[-1]}" cannot be counted', either(PARTS))
    elif call.name == "changed" and len(texts) == 3:
        _check_key(texts[2])
    elif call.name == "training_return" and len(texts) == 2 and texts[1] is not None and texts[1] not in _WHICH:
        raise KeyProblem(f'a training has no "{texts[1]}" return', either(_WHICH))
    if call.name == "over" and texts and texts[0] not in FIGURES:
        raise KeyProblem(
            f'"{texts[0]}" is not a figure of a run{did_you_mean(str(texts[0]), FIGURES)}', either(FIGURES)
        )
    if call.name in _PAIRS:
        _check_pairs(call, texts[_PAIRS[call.name] :])


def _check_pairs(call: Call, pairs: Sequence[str | None]) -> None:
    if len(pairs) % 2:
        raise KeyProblem(f"{call.name}(…) has a key without its value", f"{call.name}('KEY', VALUE, …)")
    for key in pairs[::2]:
        if key is None:
            raise KeyProblem(f"{call.name}(…) has a value where a key is expected", f"{call.name}('KEY', VALUE, …)")
        _check_key(key)


def _check_key(key: str | None) -> None:
    if key is not None and not is_key(key):
        allowed = 'a dotted key of a scenario, e.g. "links.wifi.queue", "flows.download.controller" or "duration"'
        raise KeyProblem(f'scenarios have no key "{key}"', allowed)


LAB_SUFFIX = ".md"

_FENCE = "+++"
_HEADING = re.compile(r"##[ \t]+(?P<title>.*?)[ \t]*(?:\{#(?P<id>[^}]*)\})?[ \t]*\Z")
_CODE_FENCE = re.compile(r"[ \t]*(```|~~~)")
_HEX = re.compile(r"(?:[0-9a-f]{2})+\Z")
_FACT = re.compile(
    r"(?P<about>about )?(?P<number>-?\d+(?:\.\d+)?(?:e-?\d+)?) ?(?P<unit>[^\s=]*) = (?P<expression>.+)\Z", re.DOTALL
)

_LAB = (
    Param("format", Dimension.COUNT, "Version of the file format.", required=True, minimum=1, maximum=1),
    Param("number", Dimension.COUNT, "Its place among the labs.", required=True, minimum=1, maximum=999),
    Param("title", Dimension.TEXT, "Of the lab.", required=True),
    Param("minutes", Dimension.COUNT, "How long it takes about.", required=True, minimum=1, maximum=600),
    Param("level", Dimension.CHOICE, "Level of difficulty.", choices=LEVELS, default=LEVELS[0]),
    Param("goals", Dimension.LIST, "Goals of the lab.", required=True),
    Param("needs", Dimension.LIST, "Extras that must be installed.", default=()),
    Param("scenario", Dimension.TEXT, "Scenario to start from: a shipped one, or a file.", required=True),
    Param("course", Dimension.TEXT, "Key that signs results, in a published lab.", default=""),
)
_STEP = (
    Param("id", Dimension.NAME, "Its name in the lab.", required=True),
    Param("check", Dimension.TEXT, "Condition that holds once it is done.", default="", allows_lines=True),
    Param("not_yet", Dimension.TEXT, "Shown while the check does not hold.", default="", allows_lines=True),
    Param("always", Dimension.FLAG, "The check may hold before anything was done.", default=False),
    Param("hints", Dimension.LIST, "Shown one at a time.", default=()),
    Param("do", Dimension.LIST, "How it is done without a person.", default=()),
    Param("allows", Dimension.LIST, "Further changes of the scenario that its runs may have.", default=()),
    Param("facts", Dimension.LIST, "Numbers that its texts state, with their expressions.", default=()),
    Param("quoted", Dimension.LIST, "Numbers that its texts take from elsewhere.", default=()),
    Param("explore", Dimension.TEXT, "A formula whose numbers are dragged.", default=""),
)
_PREDICT = (
    Param("ask", Dimension.TEXT, "The question.", required=True, allows_lines=True),
    Param("options", Dimension.LIST, "To choose among.", default=()),
    Param("holds", Dimension.LIST, "For each option, a check that it came true.", default=()),
    Param("number", Dimension.TEXT, "Expression of the resulting number.", default="", allows_lines=True),
    Param("sketch", Dimension.TEXT, "Column of the traces that is drawn.", default=""),
    Param("owner", Dimension.TEXT, "Owner of the trace.", default=""),
    Param("unit", Dimension.TEXT, "Of the number or the curve.", default=""),
    Param("until", Dimension.TIME, "End of the time axis.", minimum=0, exclusive_minimum=True),
    Param("top", Dimension.TEXT, "Top of the other axis, with its unit.", default=""),
    Param("why", Dimension.TEXT, "Shown with the outcome.", default="", allows_lines=True),
)
_QUESTION = (
    Param("id", Dimension.NAME, "Its name in the step.", required=True),
    Param("ask", Dimension.TEXT, "The question.", required=True, allows_lines=True),
    Param("options", Dimension.LIST, "To choose among.", default=()),
    Param("answer", Dimension.TEXT, "The text of an option, or an expression.", default="", allows_lines=True),
    Param("unit", Dimension.TEXT, "Of the number.", default=""),
    Param("tolerance", Dimension.RATIO, "How far a number may be off.", default=0.05, minimum=0, maximum=1),
    Param("text", Dimension.FLAG, "The answer is a free text, collected for the lecturer.", default=False),
    Param("why", Dimension.TEXT, "Shown afterwards.", default="", allows_lines=True),
)


@dataclass(frozen=True, slots=True)
class _Section:
    title: str
    id: str
    line: int
    text: str


def lab_names() -> tuple[str, ...]:
    """Sorted names of the shipped labs."""
    return tuple(sorted(path.stem for path in resource_path("labs").glob(f"*{LAB_SUFFIX}") if path.stem != "README"))


def shipped_labs() -> list[Lab]:
    """The shipped labs in order, in the current language if translated.

    Raises:
        LabError: if a lab is invalid, which means that the installation is damaged.
    """
    return sorted((load_lab(name) for name in lab_names()), key=lambda lab: lab.number)


def listed_labs(opened: Iterable[str]) -> tuple[dict[str, Lab], list[str]]:
    """The shipped labs and labs opened from files, by name, and the problems of invalid labs.

    Args:
        opened: paths of opened lab files, most recent first; missing files are skipped, because they may be on a
            removable medium.
    """
    labs: dict[str, Lab] = {}
    problems: list[str] = []
    try:
        labs = {lab.name: lab for lab in shipped_labs()}
    except LabError as error:
        problems.append(str(error))
    for path in reversed(list(opened)):
        if is_file(Path(path)):
            try:
                lab = load_lab(path)
                labs[lab.name] = lab
            except LabError as error:
                problems.append(str(error))
    return labs, problems


def load_lab(name_or_path: str | Path, *, language: str | None = None, code: str = "") -> Lab:
    """Read a lab file, or a shipped lab by its name or number.

    Args:
        name_or_path: name, number or path of the lab.
        language: language of a shipped lab; None for the current language. Untranslated labs are in English.
        code: code of the student, for a lab with numbers of one's own; empty for the first values.

    Raises:
        LabError: if the file or name does not exist, or if the file is invalid; the error lists all its problems.
    """
    path = _find(str(name_or_path), current_language() if language is None else language)
    text = read_text(path, LabError, "a lab")
    return parse_lab(text, path, code)


def with_code(lab: Lab, code: str) -> Lab:
    """The lab with the numbers of a student; the lab itself if it has no numbers of one's own.

    Raises:
        LabError: if the file has become invalid.
    """
    return lab if not lab.own or code == lab.code else load_lab(lab.path, code=code)


def own_lists(lab: Lab) -> Mapping[str, Sequence[str]]:
    """The lists of a lab's numbers of one's own, by name; empty for other labs."""
    lines = read_text(lab.path, LabError, "a lab").replace("\r\n", "\n").split("\n")
    return cast("Mapping[str, Sequence[str]]", lists_of(_front_matter(lines, lab.path)[0]))


def parse_lab(text: str, path: Path, code: str = "", own: Mapping[str, str] | None = None) -> Lab:
    """Read a lab from the text of its file, with the numbers that a code draws.

    Args:
        text: text of the file.
        path: path of the file.
        code: code of the student.
        own: numbers of one's own by name, instead of those of the code.

    Raises:
        LabError: if the text is invalid; the error lists all problems, one line each.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    front, body_line = _front_matter(lines, path)
    file_hash = hashlib.sha256(text.encode()).hexdigest()
    try:
        own = drawn(lists_of(front), code) if own is None else own
        front, lines = filled(front, own), filled("\n".join(lines), own).split("\n")
    except OwnNumbersError as error:
        raise LabError(f"{path}: {error}") from error
    # An empty line replaces the opening fence, so that line numbers in the front matter equal those of the file.
    return checked(
        front,
        path,
        LabError,
        lambda tree, report: replace(
            _Reader(path, report).read(tree, lines[body_line:], body_line, file_hash), own=own, code=code if own else ""
        ),
    )


def _find(name: str, language: str) -> Path:
    path = Path(name)
    if is_to_read(path):
        return path
    names = lab_names()
    by_number = next((each for each in names if name.isdecimal() and each.partition("-")[0].lstrip("0") == name), None)
    found = by_number or (name if name in names else None)
    if found is not None:
        if language != ENGLISH:
            translated = resource_path("labs") / language / f"{found}{LAB_SUFFIX}"
            if is_file(translated):
                return translated
        return resource_path(f"labs/{found}{LAB_SUFFIX}")
    hint = way_on(name, names, f"shipped labs: {', '.join(names) or 'none'}")
    raise LabError(f"{name}: no such lab file and no shipped lab of that name; {hint}")


def _front_matter(lines: Sequence[str], path: Path) -> tuple[str, int]:
    """The TOML text, whose lines keep their numbers in the file, and the index of the first line of the body."""
    if not lines or lines[0].strip() != _FENCE:
        shown = lines[0][:60] if lines else ""
        raise LabError(f'{path}:1: "{shown}": a lab begins with its front matter; allowed: a line of {_FENCE}')
    for number, line in enumerate(lines[1:], start=1):
        if line.strip() == _FENCE:
            return "\n" + "\n".join(lines[1:number]), number + 1
    raise LabError(f"{path}:1: the front matter has no end; allowed: a second line of {_FENCE} after it")


class _Reader:
    """Reads one lab, and adds its problems to the report."""

    def __init__(self, path: Path, report: Report) -> None:
        self._path = path
        self._report = report
        self._functions = functions()

    def read(self, tree: Mapping[str, Any], body: Sequence[str], body_line: int, file_hash: str) -> Lab:
        values = read_section(self._report, (), tree, _LAB, also_known=("set", "own", "scripts", "steps"))
        introduction, sections = _sections(body, body_line)
        needs = values.get("needs") or ()
        for number, need in enumerate(needs):
            if need not in NEEDS:
                self._report.add(("needs", number), f'nothing is called "{need}"', either(NEEDS))
        changes = tuple(self._changes(tree.get("set", {})))
        scripts = tuple(self._scripts(tree.get("scripts", {})))
        scenario = self._scenario(values.get("scenario"), changes, scripts)
        return Lab(
            name=self._path.stem,
            path=self._path,
            file_hash=file_hash,
            number=values.get("number") or 0,
            title=values.get("title") or "",
            minutes=values.get("minutes") or 0,
            level=values.get("level") or "",
            goals=tuple(values.get("goals") or ()),
            needs=tuple(needs),
            scenario=scenario,
            changes=changes,
            scripts=scripts,
            introduction=introduction,
            steps=tuple(self._steps(tree.get("steps"), sections)),
            course=values.get("course") or "",
        )

    def _changes(self, table: object) -> Iterator[str]:
        checked = self._report.expect_table(("set",), table, "a table [set] of dotted keys")
        for key, value in (checked or {}).items():
            if isinstance(value, str | int | float):
                yield f"{key}={value if isinstance(value, str) else toml_text(value)}"
            else:
                self._report.add(("set", key), "this is not a single value", "text, a number, true or false")

    def _scripts(self, table: object) -> Iterator[ScriptFile]:
        allowed = 'a table [scripts] of names and files, e.g. my-lia = "my-lia.py"'
        checked = self._report.expect_table(("scripts",), table, allowed)
        for name, file in (checked or {}).items():
            if not isinstance(file, str):
                self._report.add(("scripts", name), "this is not a name of a file", allowed)
                continue
            try:
                text = script_beside(self._path, file)
                kind = kind_of(text)
                check_script_name(name, kind, app_catalog())
            except ParamError as error:
                self._report.add(("scripts", name), error.message, error.allowed)
            except InputError as error:
                self._report.add(("scripts", name), str(error))
            else:
                yield ScriptFile(name, kind, text, file)

    def _scenario(self, name: str | None, changes: Sequence[str], scripts: Sequence[ScriptFile]) -> Path:
        if name is None:
            return Path()
        beside = self._path.parent / name
        try:
            shipped = resource_path("labs") / name  # a translated lab uses the scenario of the English lab
            path = beside if is_file(beside) else shipped if is_file(shipped) else find_scenario(name)

            first_text(path, scripts, changes)
        except (InputError, SimError, TomlEditError) as error:
            self._report.add(("set",) if changes and not isinstance(error, InputError) else ("scenario",), str(error))
            return Path()
        return path

    def _steps(self, tables: object, sections: Sequence[_Section]) -> Iterator[Step]:
        if not isinstance(tables, list) or not tables:
            self._report.add(("steps",), "a lab has steps", "[[steps]], at least one")
            return
        ids: list[str] = []
        by_id = {section.id: section for section in sections}
        for number, table in enumerate(tables):
            place: Place = ("steps", number)
            checked = self._report.expect_table(place, table, "[[steps]]")
            if checked is None:
                continue
            step = self._step(place, checked, by_id, ids)
            if step.id in ids:
                self._report.add((*place, "id"), "another step has this id", "an id of its own")
            ids.append(step.id)
            yield step
        self._check_sections(sections, [step_id for step_id in ids if step_id])

    def _step(
        self, place: Place, table: Mapping[str, Any], sections: Mapping[str, _Section], before: Sequence[str]
    ) -> Step:
        values = read_section(
            self._report, place, table, _STEP, also_known=("shows", "predict", "questions", "measured")
        )
        step_id = values.get("id") or ""
        section = sections.get(step_id)
        if step_id and section is None:
            self._report.add(
                (*place, "id"), "the text has no section for this step", f"a heading ## Title {{#{step_id}}} below"
            )
        self._check((*place, "check"), values.get("check") or "", before, Claim)
        prediction = None
        if "predict" in table:
            checked = self._report.expect_table((*place, "predict"), table["predict"], "[steps.predict]")
            prediction = None if checked is None else self._prediction((*place, "predict"), checked, before)
        for number, order in enumerate(values.get("do") or ()):
            try:
                parse_order(order)
            except SolutionError as error:
                self._report.add((*place, "do", number), error.message, error.allowed)
        return Step(
            id=step_id,
            title=section.title if section else "",
            text=section.text if section else "",
            shows=tuple(self._targets((*place, "shows"), table.get("shows", []))),
            check=values.get("check") or "",
            not_yet=values.get("not_yet") or "",
            always=bool(values.get("always")),
            hints=tuple(values.get("hints") or ()),
            do=tuple(values.get("do") or ()),
            allows=tuple(values.get("allows") or ()),
            prediction=prediction,
            questions=tuple(self._questions((*place, "questions"), table.get("questions", []), before)),
            facts=tuple(self._facts((*place, "facts"), values.get("facts") or (), before)),
            quoted=tuple(values.get("quoted") or ()),
            exploration=self._exploration(place, values.get("explore") or "", table.get("measured"), before),
        )

    def _exploration(self, place: Place, name: str, measured: object, before: Sequence[str]) -> Exploration | None:
        names = explorable_names()
        if name and name not in names:
            self._report.add((*place, "explore"), f"no formula has this name{did_you_mean(name, names)}", either(names))
            return None
        if not name:
            if measured is not None:
                self._report.add((*place, "measured"), "nothing is explored here", f"with explore = {either(names)}")
            return None
        explorable = load_explorable(name)
        known = [*(each.name for each in explorable.inputs), explorable.result.name]
        found: dict[str, str] = {}
        if measured is not None:
            found = self._report.expect_table((*place, "measured"), measured, "[steps.measured]") or {}
        for key, text in found.items():
            if key not in known or not isinstance(text, str):
                told = "this is not text" if key in known else f'"{name}" has no number of this name'
                self._report.add((*place, "measured", key), told, f"an expression for {either(known)}")
            else:
                self._check((*place, "measured", key), text, before, Expression)
        missing = [key for key in (explorable.across, explorable.result.name) if found and key not in found]
        if missing:
            self._report.add((*place, "measured"), f"{', '.join(missing)} is missing", "both numbers of a point")
        return None if self._report.problems else Exploration(name, tuple(found.items()))

    def _facts(self, place: Place, texts: Sequence[str], before: Sequence[str]) -> Iterator[Fact]:
        for index, text in enumerate(texts):
            match = _FACT.match(text)
            if match is None or (match["unit"] and match["unit"] not in UNIT_WORTH):
                allowed = "NUMBER UNIT = EXPRESSION, e.g. 9.65 Mbit/s = goodput(last()); about 1200 = … is meant to 5 %"
                self._report.add((*place, index), f'"{text}" is not a fact', allowed)
                continue
            self._check((*place, index), match["expression"], before, Expression)
            yield Fact(match["number"], match["unit"], bool(match["about"]), match["expression"])

    def _mistakes(
        self,
        place: Place,
        pairs: object,
        options: Sequence[str],
        unit: str,
        answer: str | None = None,
        *,
        is_drawn: bool = False,
    ) -> Iterator[Mistake]:
        allowed = 'pairs of an answer and the feedback on it, e.g. [["41.7 pkt", "That is one way only."]]'
        for index, pair in enumerate(pairs if isinstance(pairs, list) else [pairs]):
            if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(text, str) for text in pair):
                self._report.add(place, "this is not a list of pairs of texts", allowed)
                return
            said, why = pair
            if is_drawn:
                try:
                    Claim(said, SKETCH_FUNCTIONS)
                except ClaimError as error:
                    self._report.add((*place, index), error.message, error.allowed)
                yield Mistake(said, why)
            elif options:
                if said not in options or said == answer:
                    wrong = [option for option in options if option != answer]
                    self._report.add((*place, index), f'"{said}" is not one of the wrong options', either(wrong))
                yield Mistake(said, why)
            elif (number := self._quantity((*place, index), said)) is not None:
                yield Mistake(number if said.strip().split(" ")[1:] else number * UNIT_WORTH.get(unit, 1.0), why)

    def _targets(self, place: Place, shows: object) -> Iterator[Target]:
        texts = [shows] if isinstance(shows, str) else shows
        allowed = 'e.g. "panel:topology", "action:run.toggle", "link:wifi" or "field:links.wifi.queue"'
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            self._report.add(place, "this is neither text nor a list of texts", allowed)
            return
        for text in texts:
            kind, _, name = text.partition(":")
            if kind not in SHOWS or not name.strip():
                self._report.add(place, f'"{text}" names nothing in the window', allowed)
            else:
                yield Target(kind, name.strip())

    def _prediction(self, place: Place, table: Mapping[str, Any], before: Sequence[str]) -> Prediction:
        values = read_section(self._report, place, table, _PREDICT, also_known=("mistakes",))
        options, holds = tuple(values.get("options") or ()), tuple(values.get("holds") or ())
        number, sketch = values.get("number") or "", values.get("sketch") or ""
        if sum((bool(options), bool(number), bool(sketch))) != 1:
            self._report.add(place, "nothing to predict is named", "one of options, number and sketch")
        if len(options) == 1 or len(set(options)) < len(options):
            self._report.add((*place, "options"), "fewer than two options", "two or more different options")
        if len(options) != len(holds):
            told = f"{len(holds)} of them for {len(options)} options"
            self._report.add((*place, "holds"), told, "for each option a check that it came true")
        for index, text in enumerate(holds):
            self._check((*place, "holds", index), text, before, Claim)
        self._check((*place, "number"), number, before, Expression)
        if sketch and not values.get("owner"):
            self._report.add((*place, "owner"), "missing", 'an owner, e.g. "download/1" or "wifi/forward"')
        unit = values.get("unit") or ""
        self._check_unit((*place, "unit"), unit)
        return Prediction(
            ask=values.get("ask") or "",
            options=options,
            holds=holds,
            number=number,
            sketch=sketch,
            owner=values.get("owner") or "",
            unit=unit,
            until_s=values.get("until"),
            top=self._quantity((*place, "top"), values.get("top") or ""),
            why=values.get("why") or "",
            mistakes=tuple(
                self._mistakes((*place, "mistakes"), table.get("mistakes", []), options, unit, is_drawn=bool(sketch))
            ),
        )

    def _questions(self, place: Place, tables: object, before: Sequence[str]) -> Iterator[Question]:
        if not isinstance(tables, list):
            self._report.add(place, "this is not a list of tables", "[[steps.questions]]")
            return
        ids: set[str] = set()
        for number, table in enumerate(tables):
            here: Place = (*place, number)
            checked = self._report.expect_table(here, table, "[[steps.questions]]")
            if checked is None:
                continue
            values = read_section(self._report, here, checked, _QUESTION, also_known=("mistakes", "sealed"))
            question_id, options = values.get("id") or "", tuple(values.get("options") or ())
            answer, unit = values.get("answer") or "", values.get("unit") or ""
            if question_id in ids:
                self._report.add((*here, "id"), "another question of the step has this id", "an id of its own")
            ids.add(question_id)
            tolerance = 0.05 if values.get("tolerance") is None else values["tolerance"]
            sealed = self._sealed((*here, "sealed"), checked.get("sealed"), tolerance)
            is_text = bool(values.get("text"))
            if is_text and (options or answer or unit or checked.get("mistakes")):
                self._report.add((*here, "text"), "a free text has no right answer", "no options, answer or mistakes")
            elif is_text:
                yield Question(question_id, values.get("ask") or "", why=values.get("why") or "", is_text=True)
                continue
            if not answer and sealed is None:
                self._report.add((*here, "answer"), "missing", "the text of an option, or an expression of a number")
            elif sealed is None and options and answer not in options:
                self._report.add((*here, "answer"), "this is not one of the options", either(options))
            if len(options) == 1 or len(set(options)) < len(options):
                self._report.add((*here, "options"), "fewer than two options", "two or more different options")
            if not options:
                self._check((*here, "answer"), answer, before, Expression)
            self._check_unit((*here, "unit"), unit)
            mistakes = self._mistakes((*here, "mistakes"), checked.get("mistakes", []), options, unit, answer)
            yield Question(
                id=question_id,
                ask=values.get("ask") or "",
                options=options,
                answer=answer,
                unit=unit,
                tolerance=tolerance,
                why=values.get("why") or "",
                mistakes=tuple(mistakes),
                sealed=sealed,
            )

    def _sealed(self, place: Place, table: object, tolerance: float) -> Sealed | None:
        if table is None:
            return None
        entries = table.get("entries") if isinstance(table, dict) else None
        if isinstance(table, dict) and isinstance(table.get("salt"), str) and isinstance(entries, dict):
            pairs = tuple(entries.items())
            if all(_HEX.match(text) for pair in pairs for text in map(str, pair)):
                return Sealed(table["salt"], tolerance, pairs)
        self._report.add(place, "these are not closed answers", "the answers that `subflow labs publish` has written")
        return None

    def _check(self, place: Place, text: str, before: Sequence[str], kind: type[Expression]) -> None:
        if not text:
            return
        try:
            check_calls(kind(text, self._functions).calls(), before)
        except ClaimError as error:
            self._report.add(place, error.message, error.allowed)
        except KeyProblem as error:
            self._report.add(place, error.message, error.allowed)

    def _check_unit(self, place: Place, unit: str) -> None:
        known = [each for units in UNITS.values() for each in units if each]
        if unit and unit not in known:
            self._report.add(place, "this is not a unit of scenario files", either(known))

    def _quantity(self, place: Place, text: str) -> float | None:
        if not text:
            return None
        try:
            found = Expression(text, {}).value(lambda *_: 0.0)
        except ClaimError as error:
            self._report.add(place, error.message, error.allowed)
            return None
        if isinstance(found, float) and found > 0:
            return found
        self._report.add(place, "this is not a quantity", 'a number above 0 with its unit, e.g. "200 pkt"')
        return None

    def _check_sections(self, sections: Sequence[_Section], ids: Sequence[str]) -> None:
        seen: list[str] = []
        for section in sections:
            if not section.id:
                self._note(section, "a section without the id of its step", "## Title {#step}, with the id of a step")
            elif section.id not in ids:
                self._note(section, f'unknown step "{section.id}"', either(list(ids)))
            elif section.id in seen:
                self._note(section, f'another section is for the step "{section.id}"', "a section for each step")
            seen.append(section.id)
        in_order = [step_id for step_id in ids if step_id in seen]
        if in_order != [section_id for section_id in seen if section_id in ids] and len(set(seen)) == len(seen):
            self._report.add(("steps",), "steps and sections are in different orders", f"sections: {', '.join(seen)}")

    def _note(self, section: _Section, message: str, allowed: str) -> None:
        self._report.problems.append(
            Problem(str(self._path), section.line, f"## {section.title}", "", message, allowed)
        )


def _sections(body: Sequence[str], first_line: int) -> tuple[str, list[_Section]]:
    """The text before the first second-level heading, and the sections below such headings."""
    heads: list[tuple[int, str, str]] = []
    in_code = False
    for index, line in enumerate(body):
        if _CODE_FENCE.match(line):
            in_code = not in_code
        match = None if in_code else _HEADING.match(line)
        if match is not None:
            heads.append((index, match["title"], (match["id"] or "").strip()))
    ends = [*(index for index, _, _ in heads[1:]), len(body)]
    if not heads:
        return "\n".join(body).strip(), []
    introduction = "\n".join(body[: heads[0][0]]).strip()
    sections = [
        _Section(title, section_id, first_line + index + 1, "\n".join(body[index + 1 : end]).strip())
        for (index, title, section_id), end in zip(heads, ends, strict=True)
    ]
    return introduction, sections
