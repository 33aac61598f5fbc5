"""A lab as one web page: its text, its checks, and the simulator for its runs.

A student works through the page in a browser, without Subflow. The page writes the same file of answers as the program.
Submissions from pages are verified in the same way: each run is simulated from its text, and the signatures are
compared.

The page contains the expressions of checks as nested lists, the facts of scenarios that these expressions use, and the
scenarios with all possible changes.

Only the program can read scenarios, so this module computes each change in advance: as a patch of the document for the
core, as a splice of the file's text, and as values for the checks. The page applies all three together, so that its
simulation matches its text.

The Markdown subset of labs becomes HTML: paragraphs, lists, formulas, emphasis, code and links.
"""

from __future__ import annotations

import html
import itertools
import json
import math
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import subflow_app
from subflow_app.features.catalog.core.uses import Use, read_scenario
from subflow_app.features.editor.core.scenario_doc import ScenarioDoc, split_key
from subflow_app.features.editor.core.scenario_source import open_scenario, with_overrides
from subflow_app.features.exporting.core.bundle import with_plain_policies
from subflow_app.features.exporting.core.web_page import (
    EDITED_KEYS,
    PageKind,
    check_offered,
    common_start,
    compact_json,
    compiled,
    page_of,
    policy_texts,
    run_document,
    splice_between,
    told_words,
)
from subflow_app.features.labs.core.checks import Exploration
from subflow_app.features.labs.core.functions import functions
from subflow_app.features.labs.core.lab import NUMBER, SKETCH, Lab, Prediction, Question, Step
from subflow_app.features.labs.core.lab_file import own_lists, parse_lab
from subflow_app.features.labs.core.misconceptions import SKETCH_FUNCTIONS
from subflow_app.features.labs.core.publishing import published_text
from subflow_app.features.labs.core.scenario_values import subflow_count, value_of
from subflow_app.features.labs.core.sealing import Sealed, Told
from subflow_app.features.labs.core.solution import Order, parse_order
from subflow_app.foundation.claims import Claim
from subflow_app.foundation.errors import AppError, InputError, LabError
from subflow_app.foundation.expressions import UNIT_WORTH, Call, Expression, Missing
from subflow_app.foundation.files import write_file
from subflow_app.foundation.settings import Settings
from subflow_app.foundation.toml_edit import get_value, read_toml
from subflow_app.foundation.toml_files import read_text
from subflow_app.vocabulary.formula_text import split_blocks
from subflow_app.vocabulary.language import ENGLISH, current_language
from subflow_app.vocabulary.measures import DELAYS
from subflow_sim.errors import SimError
from subflow_sim.portable import portable, portable_choices
from subflow_sim.scenario import Scenario

# Index of the argument at which alternating keys and values begin, by function.
_PAIRS = {"last": 0, "runs": 0, "seeds": 0, "over": 2}
_OF_SCENARIO = {"value": "", "text": "", "is_on": "", "changed": "", "has": "has:", "count": "count:"}
_OF_FLOW = {"controller": "flows.{}.controller", "scheduler": "flows.{}.scheduler", "subflows": "subflows:{}"}
# Functions that pages cannot compute: results of training, and measures that the core for web pages lacks.
_UNKNOWN = frozenset(
    ("trained", "training_steps", "training_return", "hol_blocking", *(each.function for each in DELAYS))
)
_VECTORS = frozenset({"rises", "falls", "spread"})


def unknown_functions(step: Step) -> list[str]:
    """Functions of a step that a page cannot compute."""
    return sorted({call.name for each in _expressions(step) for call in each.calls()} & (_UNKNOWN | _VECTORS))


def check_document(text: str) -> Any:
    """The compiled form of a check; None for an empty text."""
    return compiled(Claim(text, functions())) if text else None


def number_document(text: str) -> Any:
    """The compiled form of a numeric expression; None for an empty text."""
    return compiled(Expression(text, functions())) if text else None


def named_facts(lab: Lab) -> list[str]:
    """All facts of scenarios in the checks of a lab: dotted keys, "has:KEY", "count:PART" and "subflows:FLOW"."""
    calls = (call for step in lab.steps for each in _expressions(step) for call in each.calls())
    return sorted({fact for call in calls for fact in _facts_of(call)} - {"seed"})


def facts(doc: ScenarioDoc, names: Iterable[str]) -> dict[str, Any]:
    """The value of each fact in a scenario; None if the scenario lacks the fact or the value is infinite."""
    return {name: _fact(doc, name) for name in names}


def _fact(doc: ScenarioDoc, name: str) -> Any:
    what, colon, rest = name.partition(":")
    match what if colon else "":
        case "has":
            return doc.value(rest) is not None
        case "count":
            parts = doc.data.get(rest)
            return len(parts) if isinstance(parts, dict | list) else 0
        case "subflows":
            return subflow_count(doc, rest)
    value = value_of(doc, name)
    return None if isinstance(value, Missing) or value in (float("inf"), float("-inf")) else value


def _expressions(step: Step) -> Iterator[Expression]:
    table = functions()
    if step.check:
        yield Claim(step.check, table)
    if step.prediction is not None:
        yield from (Claim(text, table) for text in step.prediction.holds)
        if step.prediction.kind == NUMBER:
            yield Expression(step.prediction.number, table)
    if step.exploration is not None:
        yield from (Expression(text, table) for _, text in step.exploration.measured)
    yield from (Expression(each.answer, table) for each in step.questions if each.answer and not each.options)


def _facts_of(call: Call) -> Iterator[str]:
    texts = call.texts
    last = texts[-1] if texts else None
    if last is not None and call.name in _OF_SCENARIO:
        yield _OF_SCENARIO[call.name] + last
    if last is not None and call.name in _OF_FLOW:
        yield _OF_FLOW[call.name].format(last)
    if call.name in _PAIRS:
        yield from (key for key in texts[_PAIRS[call.name] :: 2] if key is not None)


Changes: TypeAlias = tuple[tuple[str, str], ...]
"""Keys with their new values, in the order in which they are set."""

_PARTS = ("links", "flows", "nodes")
_EVENT_KEYS = frozenset({"at", "link", "up", *EDITED_KEYS})
_DEEPEST = 5  # maximum depth of a patch; deeper values are replaced as a whole
_BEYOND = {
    "train": "agents are trained in the program",
    "promote": "policies are kept in the program",
    "script": "scripts of controllers are compiled by the program",
}


@dataclass(slots=True)
class LabScenarios:
    """The scenarios that a lab's page can simulate.

    Attributes:
        documents: documents of the scenarios, the initial one first.
        policies: contents of the trained policies, to which the documents refer by index.
        beyond: reason why pages cannot do a step, by id of the step.
    """

    documents: list[dict[str, Any]] = field(default_factory=list)
    policies: list[bytes] = field(default_factory=list)
    beyond: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Place:
    """A scenario, and the distinct changes that the lab's solution makes to it, by group of keys."""

    name: str
    text: str
    # For each group of keys: its changes, each with the id of the first step that makes the change.
    wanted: dict[str, dict[Changes, str]] = field(default_factory=dict)


def lab_scenarios(lab: Lab, fact_names: Sequence[str], sample_interval_s: float) -> LabScenarios:
    """The scenarios in the solution of a lab.

    Raises:
        ScenarioError: if a scenario is invalid.
    """
    made = LabScenarios()
    for place in _walk(lab, made.beyond):
        made.documents.append(_document(place, fact_names, sample_interval_s, made))
    return made


def _walk(lab: Lab, beyond: dict[str, str]) -> list[_Place]:
    """Follow the solution; return the scenarios that it opens, with the values that it sets in each."""
    here = _Place(lab.scenario.stem, lab.scenario_text())
    places = {here.name: here}
    assigned: dict[str, str] = {}
    for step in lab.steps:
        for order in map(parse_order, step.do):
            if order.verb == "open":
                name = order.words[0]
                here, assigned = places.get(name) or _Place(name, open_scenario(name, use=Use.LAB).text), {}
                places[name] = here
            elif order.verb in ("set", "sweep"):
                _note(order, step, here, assigned)
            elif order.verb in _BEYOND or (
                order.verb in ("event", "fork") and not _EVENT_KEYS.issuperset(order.values)
            ):
                beyond.setdefault(step.id, _BEYOND.get(order.verb, "its event is set in the program"))
    return list(places.values())


def _note(order: Order, step: Step, here: _Place, assigned: dict[str, str]) -> None:
    for key, values in order.values.items():
        if key == "seeds":
            continue
        group = group_of(key)
        for value in values.split(",") if order.verb == "sweep" else [values]:
            if key == group:  # the short form replaces all keys below it
                for other in [each for each in assigned if group_of(each) == group]:
                    del assigned[other]
            assigned[key] = value
            changes = tuple((name, said) for name, said in assigned.items() if group_of(name) == group)
            here.wanted.setdefault(group, {}).setdefault(changes, step.id)


def group_of(key: str) -> str:
    """Prefix of the keys that change together: `links.wifi.jitter` for `links.wifi.jitter.spread`."""
    path = [str(each) for each in split_key(key)]
    return ".".join(path[: 3 if path[0] in _PARTS else 2])


def _document(place: _Place, fact_names: Sequence[str], sample_interval_s: float, made: LabScenarios) -> dict[str, Any]:
    scenario = read_scenario(Use.LAB, place.text, file=place.name)
    place.text, _ = with_plain_policies(place.text, scenario)
    seed = scenario.seed
    info = run_document(scenario, seed, place.text, sample_interval_s, made.policies)
    base = _Base(place.text, _without_text(info), facts(ScenarioDoc(place.text), fact_names), sample_interval_s)
    settings = [*_numbers(info)]
    numbers = {each["key"] for each in settings}
    menus: dict[str, dict[Changes, str]] = {key: {} for key in _algorithm_keys(scenario)}
    for group, ways in place.wanted.items():
        if group not in numbers:
            menus[group] = dict(ways)
    for group, ways in menus.items():
        wanted = len(ways)
        for changes in _algorithms(group, scenario):
            ways.setdefault(changes, "")
        options: list[dict[str, Any]] = []
        for rank, (changes, step_id) in enumerate(ways.items()):
            option = _option(base, changes, made.policies)
            if option is None and rank < wanted:
                made.beyond.setdefault(step_id, f"{group} is set in the program")
            if option is not None and option["patch"] and option not in options:
                options.append(option)
        if options:
            options.sort(key=lambda option: option["label"])
            said = _present(place.text, group, scenario)
            settings.append({"key": group, "kind": "menu", "options": [{"label": said, "patch": []}, *options]})
    is_drawn = portable(scenario, seed).document != portable(scenario, seed + 1).document
    return {
        "name": place.name,
        "title": scenario.name,
        "info": base.info,
        "toml": place.text,
        "facts": base.facts,
        "settings": settings,
        "takes_seeds": not is_drawn,
    }


def _without_text(info: Mapping[str, Any]) -> dict[str, Any]:
    """The document of a run without its text and the splices of this text, which the settings have."""
    links = [link | {"edit": {key: bool(splice) for key, splice in link["edit"].items()}} for link in info["links"]]
    return {name: value for name, value in info.items() if name not in ("toml", "flow_splices")} | {"links": links}


@dataclass(frozen=True, slots=True)
class _Base:
    """The unchanged scenario, for comparison with options."""

    text: str
    info: Mapping[str, Any]
    facts: Mapping[str, Any]
    sample_interval_s: float


def _numbers(info: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Settings of links for which the page accepts any number."""
    for index, link in enumerate(info["links"]):
        for key in (key for key in EDITED_KEYS if link["edit"][key]):
            yield {
                "key": f"links.{link['name']}.{key}",
                "kind": "number",
                "link": index,
                "what": key,
                "splice": link["edit"][key],
            }


def _algorithm_keys(scenario: Scenario) -> Iterator[str]:
    for flow in scenario.flows.values():
        if not flow.sends_datagrams:
            yield f"flows.{flow.name}.controller"
            if flow.kind == "mptcp":
                yield f"flows.{flow.name}.scheduler"


def _algorithms(group: str, scenario: Scenario) -> Iterator[Changes]:
    """Changes to each portable algorithm, for a key that sets the algorithm of a flow; empty for other keys."""
    part, _, rest = group.partition(".")
    name, _, key = rest.rpartition(".")
    if part != "flows" or name not in scenario.flows:
        return
    is_multipath = scenario.flows[name].kind == "mptcp"
    if key == "scheduler":
        yield from (((group, each.name),) for each in portable_choices("scheduler", scenario.profile))
    elif key == "controller":
        for each in portable_choices("controller", scenario.profile):
            if is_multipath or not each.is_coupled:
                yield ((group, each.name),)


def _option(base: _Base, changes: Changes, policies: list[bytes]) -> dict[str, Any] | None:
    """The effect of changes on a scenario; None if they are invalid or impossible in a page."""
    try:
        text = with_overrides(base.text, [f"{key}={value}" for key, value in changes])
        scenario = read_scenario(Use.LAB, text)
        info = _without_text(run_document(scenario, scenario.seed, text, base.sample_interval_s, policies))
    except (AppError, SimError):
        return None
    patch = list(_differences(base.info, info))
    cut = common_start(base.text, text)
    begin, end, _, new = splice_between(base.text, text[:cut], text[cut:])
    found = facts(ScenarioDoc(text), base.facts)
    return {
        "label": label_of(changes),
        "patch": patch,
        "splice": [begin, end, new],
        "facts": {name: value for name, value in found.items() if value != base.facts[name]},
    }


def label_of(changes: Changes) -> str:
    """Label of changes in a menu: the value of their common key, and values of the keys below it."""
    group = group_of(changes[0][0])
    parts = [value if key == group else f"{key.removeprefix(group + '.')} = {value}" for key, value in changes]
    return ", ".join(parts)


def _present(text: str, group: str, scenario: Scenario) -> str:
    """Label of the current value in a menu."""
    value = get_value(read_toml(text), split_key(group))
    part, _, rest = group.partition(".")
    name, _, key = rest.rpartition(".")
    if part == "flows" and key in ("controller", "scheduler"):
        chosen = getattr(scenario.flows[name], key).name
        options = value if isinstance(value, dict) else {}
        return label_of(
            ((group, chosen), *((f"{group}.{k}", json.dumps(v)) for k, v in options.items() if k != "name"))
        )
    if value is None:
        return "–"
    return value if isinstance(value, str) else json.dumps(value)


def _differences(before: Any, after: Any, at: tuple[str | int, ...] = ()) -> Iterator[list[Any]]:
    """Pairs [path, value] of changed values, and [path] of removed values."""
    if before == after or at == ("name",):
        return
    if isinstance(before, dict) and isinstance(after, dict) and len(at) < _DEEPEST:
        for key in dict.fromkeys((*before, *after)):
            if key not in after:
                yield [[*at, key]]
            elif key not in before:
                yield [[*at, key], after[key]]
            else:
                yield from _differences(before[key], after[key], (*at, key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after) and len(at) < _DEEPEST:
        for index, pair in enumerate(zip(before, after, strict=True)):
            yield from _differences(*pair, (*at, index))
    else:
        yield [[*at], after]


def beyond_pages(lab: Lab) -> str:
    """The reason why a lab cannot be a page; empty if it can."""
    if "train" in lab.needs:
        return "its students train an agent, which needs the program and PyTorch"
    if lab.scripts:
        return "its students write a controller, and scripts are compiled by the program"
    return ""


_ITEM = re.compile(r"(?:[-*]|(\d+)\.) +")
_CODE = re.compile(r"`([^`]+)`")
_LINK = re.compile(r"\[([^\]]+)\]\((https?://[^)\s]+)\)")
_STRONG = re.compile(r"\*\*(.+?)\*\*")
_EMPHASIS = re.compile(r"\*([^*\s](?:[^*]*[^*\s])?)\*")


def markdown_html(text: str) -> str:
    """Convert Markdown with paragraphs to HTML; special characters are escaped."""
    parts = []
    for is_block, part in split_blocks(text.strip()):
        if is_block:
            lines = "\n".join(line.strip() for line in part.splitlines())
            parts.append(f'<pre class="formula">{html.escape(lines, quote=False)}</pre>')
        else:
            parts += [_block(each) for each in re.split(r"\n\s*\n", part) if each.strip()]
    return "".join(parts)


def words_of_page(text: str, language: str) -> str:
    """Markdown of a lab with words for the controls of a page instead of those of the window.

    Args:
        text: the Markdown, in any language of the labs.
        language: language of the page's buttons.
    """
    for pattern, replacement in _PAGE_WORDS:
        text = pattern.sub(replacement, text)
    return _KEY_TO_RUN.sub(_RUN_BUTTONS.get(language, _RUN_BUTTONS[ENGLISH]), text)


def inline_html(text: str) -> str:
    """Convert Markdown without paragraphs to HTML; special characters are escaped."""
    pieces = _CODE.split(html.escape(text, quote=False))
    return "".join(f"<code>{piece}</code>" if number % 2 else _words(piece) for number, piece in enumerate(pieces))


def _block(text: str) -> str:
    lines = text.strip().splitlines()
    first = _ITEM.match(lines[0])
    if first is None:
        return f"<p>{inline_html(' '.join(line.strip() for line in lines))}</p>"
    items: list[str] = []
    for line in lines:
        found = _ITEM.match(line)
        if found is None:
            items[-1] += " " + line.strip()
        else:
            items.append(line[found.end() :])
    tag = "ol" if first[1] else "ul"
    return f"<{tag}>{''.join(f'<li>{inline_html(item)}</li>' for item in items)}</{tag}>"


def _words(text: str) -> str:
    text = _LINK.sub(r'<a href="\2" rel="noopener">\1</a>', text)
    return _EMPHASIS.sub(r"<em>\1</em>", _STRONG.sub(r"<strong>\1</strong>", text))


FORMAT = 1
LAB = PageKind(
    "lab.html",
    ("page.css", "lab.css"),
    (
        *("words.js", "elements.js", "measures.js", "chores.js", "charts.js", "simulator.js", "runs.js"),
        *("whatif.js", "events.js", "worked.js", "story.js", "why.js", "tables.js", "../explorable.js", "lab_words.js"),
        *("sealed.js", "own_numbers.js", "lab_checks.js", "lab_scenarios.js", "lab_progress.js", "sketch.js"),
        *("lab_form.js", "lab_steps.js", "lab.js"),
    ),
    maker="Subflow lab",
)
_SHOWS = ("plot", "field", "link")
# Labs are written for the window. A page has neither its keys nor its drawing, so these words of a lab become words for
# the controls of the page, in this order. A space in a pattern matches a line break, too. Sentences that name the
# program itself stay.
_PAGE_WORDS = tuple(
    (re.compile(pattern.replace(" ", r"\s+")), replacement)
    for pattern, replacement in (
        (r"In the program, F5 starts the run(?: and F7 runs it at full speed)?\.", "*F5* starts the run."),
        (r"\s*\*\*F7\*\* runs at full speed\.", ""),
        (r"\*\*F7\*\* after \*\*F5\*\*", "**F5**"),
        (r"In the program, press Ctrl\+K and type ([\w-]+)\.", r"Choose \1 in the menu *Scenario*."),
        (r"the playhead at (\d+ s), press \*\*Ctrl\+Shift\+W\*\*,", r"the time \1 into **Change at a time**,"),
        (
            r"In the program, put the playhead at (\d+ s) and press Ctrl\+Shift\+W; choose",
            r"In *Change at a time*, enter \1; choose",
        ),
        (r"In the program, put the playhead there\.", "Click the curves there."),
        (r"In the program, select the link ([^.]+) in the drawing\. The inspector", r"The table of the link \1"),
        (r"\s*In the timeline below the drawing you can drag it\.", ""),
        (r"Read the drawing first:", "First look at the paths:"),
        (r"\b([Ii])n the drawing\b", r"\1n the network"),
        (r"\btwo ribbons\b", "two paths"),
        (r"in the history and press \*\*Enter\*\*", "in the list *Runs*"),
        (r"\bthe playhead\b", "the cursor of the curves"),
        (r"\*\*Explain\*\*", "**Why**"),
        (r"\b([Tt]he) panel (\**)Events\b", r"\1 list \2Events"),
        (r"(the menu \*Study\*)", r"\1 of the program"),
        (r"(Open \*\*Fairness\*\*)", r"\1 in the program"),
        (
            r"Im Programm startet F5 den Lauf(?:, und mit F7 läuft er so schnell wie möglich)?\.",
            "*F5* beginnt den Lauf.",
        ),
        (r"\s*Mit \*\*F7\*\* läuft es so schnell wie möglich\.", ""),
        (r"nach \*\*F5\*\* auf \*\*F7\*\*", "**F5**"),
        (r"Im Programm: Strg\+K, dann ([\w-]+) tippen\.", r"Wählen Sie \1 im Menü *Szenario*."),
        (
            r"Stellen Sie den Abspielkopf auf (\d+ s), drücken Sie \*\*Strg\+Umschalt\+W\*\*,",
            r"Schreiben Sie die Zeit \1 in **Änderung zu einem Zeitpunkt**,",
        ),
        (
            r"Stellen Sie im Programm den Abspielkopf auf (\d+ s) und drücken Sie Strg\+Umschalt\+W; wählen Sie",
            r"Schreiben Sie die Zeit \1 in *Änderung zu einem Zeitpunkt*; wählen Sie",
        ),
        (r"Setzen Sie im Programm den Abspielkopf dorthin\.", "Klicken Sie dort auf die Kurven."),
        (
            r"Wählen Sie im Programm in der Zeichnung den Link ([^.]+)\. Der Inspektor zeigt seine",
            r"Die Tabelle zeigt für den Link \1 die",
        ),
        (r"\s*In der Zeitleiste unter der Zeichnung lässt es sich ziehen\.", ""),
        (r"Lesen Sie zuerst die Zeichnung:", "Sehen Sie zuerst die Pfade an:"),
        (r"\b([Ii])n der Zeichnung\b", r"\1m Netz"),
        (r"\bzwei Bändern\b", "zwei Pfaden"),
        (r"Mit \*\*Enter\*\* im Verlauf legen", "In der Liste *Läufe* legen"),
        (r"\bden Abspielkopf\b", "den Zeitpunkt der Kurven"),
        (r"(?:die )?\*\*Erklärung\*\*", "**Warum**"),
        (r"\bDer Bereich \*\*Ereignisse\*\*", "Die Liste **Ereignisse**"),
        (r"\bim Bereich Ereignisse\b", "in der Liste Ereignisse"),
        (r"(im Menü \*Studie\*)", r"\1 des Programms"),
        (r"(Öffnen Sie danach \*\*Fairness\*\*)", r"\1 im Programm"),
    )
)
_KEY_TO_RUN = re.compile(r"\bF5\b")
_RUN_BUTTONS = {"en": "Run", "de": "Starten"}
MOST_COMBINATIONS = 200
"""Maximum number of combinations of a lab's numbers of one's own, because a page contains the steps of each."""


def write_lab_page(lab: Lab, path: Path, *, key: str = "", language: str | None = None) -> Path:
    """Write the page of a lab; an existing file is replaced once the new file is complete.

    Args:
        lab: the lab with its solution.
        path: the file.
        key: key of the course; empty if the lab belongs to no course. With a key, the page contains the lab as `subflow
            labs publish` writes it, and signs the file of answers for the course.
        language: language of the buttons; None for the current language.

    Raises:
        ExportError: if the file cannot be written.
        InputError: if the lab cannot be a page, or the program was built without the core for web pages.
        LabError: if the lab is already published.
    """
    check_page(lab)
    data = lab_document(lab, key=key, language=language or current_language())
    introduction = str(data["lab"]["introduction"])
    packed = {"told": compact_json(data)}
    page = page_of({"format": FORMAT}, lab.title, introduction, LAB, packed=packed, language=str(data["language"]))
    return write_file(path, page)


def check_page(lab: Lab) -> None:
    """Raise the error of `write_lab_page` for a lab that cannot be a page."""
    check_offered()
    if lab.is_published:
        raise LabError(
            f"{lab.path} has been published: its answers are sealed; allowed: the lab that it was made from, with --key"
        )
    why_not = beyond_pages(lab)
    if why_not:
        raise InputError(f"the lab {lab.name} cannot be a page: {why_not}; allowed: do it in Subflow, or another lab")


def lab_document(lab: Lab, *, key: str = "", language: str) -> dict[str, Any]:
    """The document of a lab's page.

    Args:
        lab: the lab with its solution.
        key: key of the course; empty if the lab belongs to no course.
        language: language of the buttons.
    """
    shown = parse_lab(published_text(lab, key), lab.path) if key else lab
    interval_s = Settings().sample_interval_s
    made = lab_scenarios(lab, named_facts(lab), interval_s)
    beyond = dict(made.beyond)
    for step in lab.steps:
        unknown = unknown_functions(step)
        if unknown:
            beyond.setdefault(step.id, f"{', '.join(unknown)} requires the program")
    lists, variants = own_lists(lab), _variants(lab, key)
    open_answers = {
        (step.id, question.id)
        for variant in variants
        for step, other in zip(shown.steps, variant.steps, strict=True)
        for question, differing in zip(step.questions, other.questions, strict=True)
        if not question.options and question.answer != differing.answer
    }

    def documents(steps: Iterable[Step]) -> list[dict[str, Any]]:
        return [_step(step, shown.file_hash, beyond.get(step.id, ""), language, open_answers) for step in steps]

    return {
        "version": subflow_app.__version__,
        "language": language,
        "policies": policy_texts(made.policies),
        **told_words(language),
        "interval_s": interval_s,
        "units": dict(UNIT_WORTH),
        "lab": {
            "name": lab.name,
            "title": lab.title,
            "hash": shown.file_hash,
            "course": shown.course,
            "minutes": lab.minutes,
            "goals": list(lab.goals),
            "introduction": markdown_html(words_of_page(lab.introduction, language)),
        },
        "scenarios": made.documents,
        "steps": documents(shown.steps),
        # Of each combination only the steps that differ: sealing the answers of a step takes time.
        "own": {
            "lists": dict(lists),
            "steps": [documents(step for step in each.steps if step not in shown.steps) for each in variants],
        },
    }


def _variants(lab: Lab, key: str) -> list[Lab]:
    """The lab with each combination of its numbers of one's own; the last list varies fastest.

    Args:
        lab: the lab with its solution.
        key: key of the course; empty if the lab belongs to no course.

    Raises:
        InputError: if the combinations are too many, or change the scenario in which the lab begins.
    """
    lists = own_lists(lab)
    count = math.prod(map(len, lists.values()))
    if not lists:
        return []
    if count > MOST_COMBINATIONS:
        raise InputError(
            f"the lab {lab.name} cannot be a page: its numbers of one's own have {count} combinations; allowed: "
            f"at most {MOST_COMBINATIONS}"
        )
    text = published_text(lab, key) if key else read_text(lab.path, LabError, "a lab")
    made = [
        parse_lab(text, lab.path, own=dict(zip(lists, values, strict=True)))
        for values in itertools.product(*lists.values())
    ]
    if any(each.scenario_text() != lab.scenario_text() for each in made):
        raise InputError(
            f"the lab {lab.name} cannot be a page: its numbers of one's own change the scenario in which it begins; "
            "allowed: numbers that students set in a step"
        )
    return made


def _step(
    step: Step, salt: str, beyond: str, language: str, open_answers: Container[tuple[str, str]]
) -> dict[str, Any]:
    def shown(text: str) -> str:
        return inline_html(words_of_page(text, language))

    return {
        "id": step.id,
        "title": step.title,
        "text": markdown_html(words_of_page(step.text, language)),
        "shows": [[target.kind, target.name] for target in step.shows if target.kind in _SHOWS],
        "check": check_document(step.check),
        "not_yet": shown(step.not_yet),
        "hints": [shown(hint) for hint in step.hints],
        "beyond": beyond,
        "exploration": None if step.exploration is None else _exploration(step.exploration, language),
        "prediction": None if step.prediction is None else _prediction(step.prediction, shown),
        "questions": [
            _question(
                question, shown, f"{salt}/{step.id}/{question.id}", is_open=(step.id, question.id) in open_answers
            )
            for question in step.questions
            if not question.is_text
        ],
    }


def _exploration(exploration: Exploration, language: str) -> dict[str, Any]:
    return {
        "description": exploration.explorable.document(language),
        "measured": {name: number_document(text) for name, text in exploration.measured},
    }


def _prediction(prediction: Prediction, shown: Callable[[str], str]) -> dict[str, Any]:
    return {
        "kind": prediction.kind,
        "ask": shown(prediction.ask),
        "options": list(prediction.options),
        "holds": [check_document(text) for text in prediction.holds],
        "number": number_document(prediction.number),
        "column": prediction.sketch,
        "owner": prediction.owner,
        "unit": prediction.unit,
        "until_s": prediction.until_s,
        "top": prediction.top,
        "why": shown(prediction.why),
        "mistakes": [[_said(prediction, each.said), shown(each.why)] for each in prediction.mistakes],
    }


def _said(prediction: Prediction, said: str | float) -> Any:
    """The condition of a mistake: an option, a number, or a claim about the drawn curve."""
    return compiled(Claim(str(said), SKETCH_FUNCTIONS)) if prediction.kind == SKETCH else said


def _question(question: Question, shown: Callable[[str], str], salt: str, *, is_open: bool) -> dict[str, Any]:
    """The document of a question; `is_open`: its answer depends on numbers of one's own, and is not sealed."""
    document: dict[str, Any] = {"id": question.id, "ask": shown(question.ask), "options": list(question.options)}
    document |= {"unit": question.unit, "tolerance": question.tolerance}
    if question.sealed is not None:
        sealed = question.sealed
        return document | {"sealed": {"salt": sealed.salt, "entries": dict(sealed.entries), "is_exact": False}}
    if not question.options:
        expression = Expression(question.answer, functions())
        if is_open or list(expression.calls()):  # the answer depends on the student's own work and is not secret
            mistakes = [[mistake.said, mistake.why] for mistake in question.mistakes]
            return document | {"answer": compiled(expression), "why": question.why, "mistakes": mistakes}
        right = expression.value(lambda *_: 0.0)
        assert isinstance(right, float | int)
        return document | {"sealed": _sealed(question, float(right), salt)}
    return document | {"sealed": _sealed(question, question.answer, salt)}


def _sealed(question: Question, right: str | float, salt: str) -> dict[str, Any]:
    """The answers, sealed as in a published lab.

    Hashes distinguish numeric answers only in steps of the tolerance, but the page must judge answers as exactly as the
    program does. The feedback on a numeric answer therefore begins with the exact number.
    """

    def told(said: str | float, *, is_right: bool, why: str) -> tuple[str | float, Told]:
        return said, Told(is_right, why if isinstance(said, str) else f"{json.dumps(said)} {why}")

    answers = [told(right, is_right=True, why=question.why)]
    answers += [told(each.said, is_right=False, why=each.why) for each in question.mistakes]
    known = {said for said, _ in answers}
    answers += [told(option, is_right=False, why="") for option in question.options if option not in known]
    sealed = Sealed.of(answers, question.tolerance, salt)
    return {"salt": salt, "entries": dict(sealed.entries), "is_exact": not question.options}
