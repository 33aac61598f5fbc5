"""Collects the translatable texts of the window, and updates the catalogues of translations.

    python -m tests.helpers.messages

New texts are added to ``assets/languages/*.po`` without a translation, and unused texts are removed. Other entries and
the remarks at the top stay. The tests list the texts that still need a translation.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from subflow_agents.registry import agents
from subflow_app.features.catalog.core.catalog import app_catalog
from subflow_app.features.editor.core.form import label_of
from subflow_app.features.editor.core.templates import TEMPLATES
from subflow_app.features.history.core.run_query import help_lines
from subflow_app.features.paper.core.paper_styles import LEGENDS, STYLES
from subflow_app.features.plots.core import GROUPS, PLOTS
from subflow_app.features.settings.core import SETTINGS
from subflow_app.features.training.core.training_draft import PARAMS as TRAINING_PARAMS
from subflow_app.features.training.core.training_draft import training_label
from subflow_app.features.training.core.training_setup import load_recipe, recipe_names
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.shell.actions import ACTIONS
from subflow_app.shell.help_dialogs import GESTURES
from subflow_app.shell.menus import MENUS, SPEEDS, SUBMENUS
from subflow_app.toolkit.action_bar import Scope
from subflow_app.toolkit.workspaces import PANELS, WORKSPACES
from subflow_app.vocabulary.language import ENGLISH, LANGUAGES, Catalogue, read_po
from subflow_sim.agent_steps import EPOCH_FIGURES
from subflow_sim.decisions import meanings
from subflow_sim.link_params import LINK_TABLES
from subflow_sim.params import ARRIVALS_TABLE, EVENT_CHANGES, QUEUE_TABLE, SECTIONS, Param
from subflow_sim.vec_env import agent_spec, learner_spec

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "assets" / "languages"
_SOURCES = ROOT / "app" / "subflow_app"

Key = tuple[str, str | None]
"""English text, and its plural if it has one."""


class MessageError(Exception):
    """A call of tr or trn contains a text that cannot be collected."""


@dataclass
class Messages:
    """Texts with the places of their use."""

    places: dict[Key, set[str]] = field(default_factory=dict)

    def add(self, place: str, text: str, plural: str | None = None) -> None:
        """Adds a text; a text without letters needs no translation."""
        if any(letter.isalpha() for letter in text):
            self.places.setdefault((text, plural), set()).add(place)


def collect() -> Messages:
    """All texts that the window shows through tr and trn."""
    messages = Messages()
    for path in sorted(_SOURCES.rglob("*.py")):
        _collect_from_source(messages, path)
    for place, text in _table_texts():
        messages.add(place, text)
    return messages


def _collect_from_source(messages: Messages, path: Path) -> None:
    place = path.relative_to(ROOT).as_posix()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
        if not isinstance(node, ast.Call) or name not in ("tr", "trn", "translatable"):
            continue
        if name == "trn":
            one, many = node.args[:2]
            if not (isinstance(one, ast.Constant) and isinstance(many, ast.Constant)):
                raise MessageError(f"{place}:{node.lineno}: trn needs its texts as literals")
            messages.add(place, str(one.value), str(many.value))
            continue
        for text in _alternatives(node.args[0]):
            if isinstance(text, ast.Constant):
                messages.add(place, str(text.value))
            elif isinstance(text, ast.JoinedStr | ast.BinOp):
                raise MessageError(f"{place}:{node.lineno}: values go in by name: tr('... {{name}}', name=...)")
            # Other arguments are texts of tables.


def _alternatives(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.IfExp):
        yield from _alternatives(node.body)
        yield from _alternatives(node.orelse)
    else:
        yield node


def _table_texts() -> Iterator[tuple[str, str]]:
    """Texts in tables, which other code combines or which are defined without tr."""
    for spec in ACTIONS:
        place = f"action {spec.id}"
        yield place, spec.text
        yield place, spec.tip
    opened = (entry[1:] for entries in MENUS.values() for entry in entries if entry.startswith(">"))
    for title in (*MENUS, *SUBMENUS, *opened):
        yield "menus", title
    for _name, (title, *_more) in PANELS.items():
        yield "panels", title
    for title, *_more in WORKSPACES.values():
        yield "workspaces", title
    for _limit, text, *_more in SPEEDS.values():
        yield "speeds", text
    for setting in SETTINGS:
        for text in (setting.section, setting.label, setting.tip, *setting.choices.values()):
            yield f"setting {setting.key}", text
    for text in (*LEGENDS.values(), *(style.title for style in STYLES)):
        yield "paper styles", text
    for scope in Scope:
        yield "scopes", scope.value
    for gesture in GESTURES:
        for text in gesture:
            yield "gestures", text
    for _written, tip in help_lines():
        yield "search", tip
    for state in JobState:
        yield "states", state.value
    for group in GROUPS:
        yield "plots", group
    for plot in PLOTS:
        yield f"plot {plot.id}", plot.title
        yield f"plot {plot.id}", plot.y_label
        yield f"plot {plot.id}", plot.unit
        yield f"plot {plot.id}", plot.needs
        if plot.x is not None:
            yield f"plot {plot.id}", plot.x.label
            yield f"plot {plot.id}", plot.x.unit
    for template in TEMPLATES:
        for text in (template.title, template.sentence, *(value.label for value in template.values)):
            yield f"template {template.scenario}", text
    yield from _parameter_texts()


def _parameter_texts() -> Iterator[tuple[str, str]]:
    of_links = {name: table.params for name, table in LINK_TABLES.items()}
    tables: Mapping[str, tuple[Param, ...]] = {
        **SECTIONS,
        **of_links,
        "arrivals": ARRIVALS_TABLE,
        "queue": QUEUE_TABLE,
    }
    for name, table in LINK_TABLES.items():
        yield f"link {name}", label_of(name)
        yield f"link {name}", table.help
    for section, params in tables.items():
        for param in params:
            yield f"scenario {section}.{param.key}", label_of(param.key)
            yield f"scenario {section}.{param.key}", param.help
    for params in EVENT_CHANGES.values():
        for param in params:
            for text in param.states or (param.key.replace("_", " "),):
                yield f"scenario event.{param.key}", text
    catalog = app_catalog()
    for algorithm in (*catalog.controllers, *catalog.schedulers):
        yield f"algorithm {algorithm.name}", algorithm.summary
        for option in algorithm.options:
            yield f"algorithm {algorithm.name}.{option.key}", label_of(option.key)
            yield f"algorithm {algorithm.name}.{option.key}", option.help
    for param in TRAINING_PARAMS:
        yield f"training {param.key}", training_label(param.key)
        yield f"training {param.key}", param.help
    for agent in agents():
        yield f"agent {agent.name}", agent.summary
        for setting in agent.options():
            yield f"agent {agent.name}.{setting.name}", training_label(setting.name)
            yield f"agent {agent.name}.{setting.name}", setting.help
            yield f"agent {agent.name}.{setting.name}", setting.source
        spec = learner_spec(agent.controller)
        features = [*spec.features]
        for option in next(each.options for each in catalog.controllers if each.name == agent.controller):
            for choice in option.choices:
                form = agent_spec(agent.controller, {option.key: choice})
                features += form.features if form is not None else ()
        for number in (*features, *spec.actions):
            yield f"agent {agent.name}", number.help
    for name, meaning in meanings().items():
        yield f"number {name}", meaning
    for figure, (title, _unit) in EPOCH_FIGURES.items():
        yield f"epoch {figure}", title
    for name in recipe_names():
        yield f"recipe {name}", load_recipe(name).title


def write_catalogue(path: Path, messages: Messages) -> None:
    """Updates a catalogue to these texts."""
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    path.write_text(catalogue_text(before, messages), encoding="utf-8")


def catalogue_text(before: str, messages: Messages) -> str:
    """Text of a catalogue with these messages, and with the translations and remarks of the catalogue before."""
    known = read_po(before)
    parts = [_head(before).rstrip() + "\n"]
    for key in sorted(messages.places, key=lambda key: (key[0].casefold(), key[0], key[1] or "")):
        parts.append(_entry(key, sorted(messages.places[key]), known))
    return "\n".join(parts)


def _head(before: str) -> str:
    """Everything up to the end of the header, which is the entry of the empty text."""
    lines = before.splitlines()
    for number, line in enumerate(lines):
        if line.startswith("msgid ") and line != 'msgid ""':
            # Comments before the first text belong to that text.
            while number and lines[number - 1].startswith("#"):
                number -= 1
            return "\n".join(lines[:number])
    return before or 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n'


def _entry(key: Key, places: list[str], known: Catalogue) -> str:
    text, plural = key
    lines = [f"#: {place}" for place in places[:3]]
    lines.append(f"msgid {_quoted(text)}")
    if plural is None:
        lines.append(f"msgstr {_quoted(known.texts.get(text, ''))}")
    else:
        forms = known.plurals.get((text, plural), ("", ""))
        lines.append(f"msgid_plural {_quoted(plural)}")
        lines += [f"msgstr[{number}] {_quoted(form)}" for number, form in enumerate(forms)]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    # For our texts, the escapes of JSON agree with those of gettext and Python.
    return json.dumps(text, ensure_ascii=False)


def main() -> None:
    """Updates all catalogues and prints the number of texts that need a translation."""
    messages = collect()
    for code in LANGUAGES:
        if code == ENGLISH:
            continue
        path = FOLDER / f"{code}.po"
        write_catalogue(path, messages)
        known = read_po(path.read_text(encoding="utf-8"))
        waiting = len(messages.places) - len(known.texts) - len(known.plurals)
        sys.stdout.write(f"{path.relative_to(ROOT)}: {len(messages.places)} texts, {waiting} without translation\n")


if __name__ == "__main__":
    main()
