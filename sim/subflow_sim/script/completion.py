"""Completions for a script in an editor."""

from __future__ import annotations

import re
from dataclasses import dataclass

from subflow_sim.script.vocabulary import COLLECTIONS, DECLARATIONS, FUNCTIONS, HOOKS, OBJECTS, SETTINGS, Field

_WORD = re.compile(r"(?:([A-Za-z_]\w*(?:\[\w+\])?)\.)?([A-Za-z_]\w*)?\Z")
_DEF = re.compile(r"^def\s+(\w+)\s*\(([^)]*)\)", re.MULTILINE)
_LOOP = re.compile(r"\bfor\s+(\w+)\s+in\s+(\w+)|\blambda\s+(\w+)\s*:")
_GROUP = re.compile(r"^(\w+)\s*=\s*(state|per_subflow)\((.*?)\)\s*(?:#.*)?$", re.MULTILINE | re.DOTALL)
_NAME = re.compile(r"^\s*(\w+)\s*=[^=]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Completion:
    """A name that can be inserted at a position.

    Attributes:
        name: name as written in a script.
        unit: symbol of the unit; may be empty.
        help: meaning in one sentence.
    """

    name: str
    unit: str
    help: str


def completions(text: str, line: int, column: int) -> tuple[Completion, ...]:
    """The names that can be inserted at a position and match the word before it.

    Parameters and names of the script come first, then the words of the vocabulary in its order. The text may be
    incomplete, because it is being edited.

    Args:
        text: text of the script.
        line: line number, from 1.
        column: column number, from 1; only the text before it counts.
    """
    lines = text.split("\n")
    if not 1 <= line <= len(lines):
        return ()
    before = lines[line - 1][: column - 1]
    if "#" in before:
        return ()
    found = _WORD.search(before)
    owner, begun = (found[1] or "", found[2] or "") if found else ("", "")
    above = "\n".join([*lines[: line - 1], before])
    offered = _of_owner(text, above, before, owner) if owner else _names(text, above)
    unique = {each.name: each for each in reversed(offered) if each.name.startswith(begun)}
    return tuple(reversed(unique.values()))


def _of_owner(text: str, above: str, line: str, owner: str) -> list[Completion]:
    groups = {name: body for name, kind, body in _GROUP.findall(text)}
    name = owner.partition("[")[0]
    if name in groups:
        names = re.findall(r"(\w+)\s*=(?!=)", groups[name])
        return [Completion(each, "", f"A value of {name}.") for each in names if each not in ("over", "weight")]
    kind = _parameters(above).get(owner)
    if kind is None:
        kind = _loop_names(f"{above}\n{line}").get(owner)
    if kind in COLLECTIONS:
        return [Completion("own", "", "The subflow that the function is called for.")] if kind == "siblings" else []
    return [_field(each) for each in OBJECTS.get(kind or "", ())]


def _names(text: str, above: str) -> list[Completion]:
    parameters = _parameters(above)
    offered = [Completion(name, "", _OBJECT_HELP.get(kind, "")) for name, kind in parameters.items()]
    offered += [Completion(name, "", "A subflow.") for name in _loop_names(above)]
    offered += [Completion(name, "", "A name of this script.") for name in dict.fromkeys(_NAME.findall(text))]
    if not parameters:
        offered += [Completion(each.name, "", each.help) for each in HOOKS]
        offered += [Completion(each.name, "", f"{each.call}. {each.help}") for each in DECLARATIONS]
        offered += [Completion(name, "", told) for name, (_, _, told) in SETTINGS.items()]
    offered += [Completion(each.name, "", f"{each.call}. {each.help}") for each in FUNCTIONS]
    return offered


def _parameters(above: str) -> dict[str, str]:
    """Kinds of the parameters of the function in which a text ends, by name; empty if it ends outside a function."""
    definitions = list(_DEF.finditer(above))
    if not definitions:
        return {}
    last = definitions[-1]
    if re.search(r"^\S", above[last.end() :].partition("\n")[2], re.MULTILINE):
        return {}
    hook = next((each for each in HOOKS if each.name == last[1]), None)
    names = [each.strip() for each in last[2].split(",") if each.strip()]
    if hook is None:
        return dict.fromkeys(names, "")
    return {name: kind for name, (_, kind) in zip(names, hook.parameters, strict=False)}


def _loop_names(above: str) -> dict[str, str]:
    """Kinds of the loop and lambda variables in the function in which a text ends, by name."""
    parameters = _parameters(above)
    items = [COLLECTIONS[kind] for kind in parameters.values() if kind in COLLECTIONS]
    kind = items[0] if items else "sibling"
    return {(loop[1] or loop[3]): kind for loop in _LOOP.finditer(above[above.rfind("\ndef ") + 1 :])}


def _field(field: Field) -> Completion:
    return Completion(field.name, field.symbol, field.help)


_OBJECT_HELP = {
    "w": "The window: cwnd, ssthresh, rate.",
    "ack": "The acknowledgement.",
    "sample": "The acknowledgement, with the delivery rate.",
    "loss": "The loss.",
    "moment": "The moment.",
    "record": "The monitor interval.",
    "siblings": "All subflows of the connection, the own one included.",
    "subflows": "All subflows of the connection.",
    "packet": "The packet that needs a subflow.",
    "pause": "The pause.",
}
