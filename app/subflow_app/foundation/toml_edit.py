"""Edits of a TOML text that change only the affected bytes.

Comments, blank lines, alignment and the spelling of numbers in a scenario file survive an edit in the window. Each
function takes a text and returns a new one.

`toml_map` finds the positions, and the text is replaced in place. Writing with tomlkit was tried first: it takes ten
times as long and puts a new key of a table after the comment of the next table. It also always ends the new line with a
line feed, even in files with Windows line endings.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from subflow_app.foundation.errors import AppError
from subflow_sim.gate import toml_tree
from subflow_sim.toml_map import Path, Section, toml_map

TomlValue: TypeAlias = "str | bool | int | float | Sequence[TomlValue] | Mapping[str, TomlValue]"
"""A value that a scenario file can hold."""

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+\Z")
_ESCAPES = {
    **{code: f"\\u{code:04x}" for code in (*range(0x20), 0x7F)},
    **{ord(letter): f"\\{name}" for letter, name in zip('\b\t\n\f\r"\\', 'btnfr"\\', strict=True)},
}
_UNWRITABLE = re.compile(r"'''|'\Z|[\x00-\x08\x0b-\x1f\x7f]")  # not allowed in a string in ''' quotes


class Lines(str):
    """A string that is written verbatim between ''' quotes, on several lines, if TOML allows it."""

    __slots__ = ()


class TomlEditError(AppError):
    """The text is not TOML, or the place cannot be edited without touching the rest of the file."""


def read_toml(text: str) -> dict[str, Any]:
    """Read a TOML text into plain dictionaries, lists, numbers and strings.

    Raises:
        TomlEditError: if the text is not TOML; the message gives the place and the reason.
    """
    found: dict[str, Any] = plain(_loaded(text))
    return found


@lru_cache(maxsize=4)
def _loaded(text: str) -> dict[str, Any]:
    # Cached, because an edit parses the old and the new text, and its caller parses the new text again for display. For
    # a large file, parsing takes many times as long as copying the cached tree.
    try:
        return toml_tree(text)
    except ValueError as error:
        raise TomlEditError(str(error)) from error


def get_value(data: Mapping[str, Any], path: Path) -> Any:
    """Look up a value by its path in the result of `read_toml`; None if the path does not exist."""
    here: Any = data
    for step in path:
        if isinstance(step, int):
            if not isinstance(here, list) or not 0 <= step < len(here):
                return None
            here = here[step]
        else:
            if not isinstance(here, dict) or step not in here:
                return None
            here = here[step]
    return here


def render(value: TomlValue) -> str:
    """Write a value in the style of the shipped scenario files: `{ name = "lia" }`, `[["wifi"], ["lte"]]`.

    An integral float is written as an integer (`5`, not `5.0`), because the window edits counts and seeds as floats.

    Raises:
        TomlEditError: for a float that is not finite.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise TomlEditError(f"{value} cannot be written to a scenario file")
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, Lines) and not _UNWRITABLE.search(value):
        return f"'''\n{value}'''"
    if isinstance(value, str):
        return render_text(value)
    if isinstance(value, Mapping):
        inside = ", ".join(f"{render_key(key)} = {render(item)}" for key, item in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    return f"[{', '.join(render(item) for item in value)}]"


def overrides_of(values: Mapping[str, TomlValue]) -> list[str]:
    """``KEY=VALUE`` strings, in the form that commands and `open_scenario` accept."""
    return [f"{key}={render(value)}" for key, value in values.items()]


def render_text(text: str) -> str:
    """Write a string as a TOML basic string, for which tomlkit would need time quadratic in the length.

    Source: TOML 1.0.0, String.
    """
    return f'"{text.translate(_ESCAPES)}"'


def set_value(text: str, path: Path, value: TomlValue) -> str:
    """Set one value: replace an existing value, or add it as the last line of its table.

    Missing tables are created: inside an existing object as an inline table on one line (`reverse = { ... }`), for a
    whole new object as a section at the end of the file.

    Raises:
        TomlEditError: if the text is not TOML, the path leads into a plain value, or the edit would change other
            values.
    """
    before = read_toml(text)
    expected = _with_value(before, path, value)
    return _checked(_splice_value(text, before, path, value), expected, path)


def set_values(text: str, values: Mapping[Path, TomlValue]) -> str:
    """Set several values as `set_value` does, but parse the text only once for all values that already exist.

    Raises:
        TomlEditError: as for `set_value`.
    """
    before = read_toml(text)
    present = {path: value for path, value in values.items() if get_value(before, path) is not None}
    if present:
        text = _checked(_splice_many(text, present), _with_values(before, present), next(iter(present)))
    missing = {path: value for path, value in values.items() if path not in present}
    added = _add_to_sections(text, missing) if missing else text
    if added is not None:
        return added
    for path, value in missing.items():
        text = set_value(text, path, value)
    return text


def remove_value(text: str, path: Path) -> str:
    """Remove a key with its value; a comment after the value is kept on a line of its own.

    Removing the last key of an inline table also removes the table. A missing key leaves the text unchanged.

    Raises:
        TomlEditError: if the text is not TOML, or the edit would change other values.
    """
    before = read_toml(text)
    if get_value(before, path) is None:
        return text
    parent_path = path[:-1]
    found = toml_map(text)
    if parent_path in found.values:
        rest = {key: item for key, item in get_value(before, parent_path).items() if key != path[-1]}
        if not rest and isinstance(parent_path[-1], str):
            return remove_value(text, parent_path)
        return set_value(text, parent_path, rest)
    expected = _without(before, path)
    start, end = _span(found.values, path)
    line_start = text.rfind("\n", 0, start) + 1
    line_end = _line_end(text, end)
    comment = text[end:line_end].strip()
    indent = re.match(r"[ \t]*", text[line_start:start])
    kept = f"{indent.group() if indent else ''}{comment}{_newline(text)}" if comment else ""
    return _checked(text[:line_start] + kept + text[line_end:], expected, path)


def append_table(text: str, name: str, values: Mapping[str, TomlValue]) -> str:
    """Add a `[[name]]` section after the last one, or at the end of the file if it is the first.

    Raises:
        TomlEditError: if the text is not TOML, `name` is not an array of tables, or the edit would change other values.
    """
    before = read_toml(text)
    present = before.get(name, [])
    if not isinstance(present, list):
        raise TomlEditError(f"{name} is not a list of [[{name}]] sections")
    expected = {**before, name: [*present, dict(values)]}
    newline = _newline(text)
    lines = [f"[[{name}]]", *(f"{render_key(key)} = {render(item)}" for key, item in values.items())]
    block = newline.join(lines) + newline
    found = toml_map(text)
    if (name,) in found.values:
        return set_value(text, (name,), [*present, dict(values)])
    last = found.section((name, len(present) - 1))
    if last is not None:
        new = text[: last.end] + _missing_newline(text[: last.end], newline) + newline + block + text[last.end :]
    else:
        new = _at_end(text, block, newline)
    return _checked(new, expected, (name,))


def remove_table(text: str, name: str, index: int) -> str:
    """Remove the `[[name]]` section number `index` (from 0) with the comment lines directly above it.

    Raises:
        TomlEditError: if the text is not TOML or has no such section, or the edit would change other values.
    """
    before = read_toml(text)
    present = before.get(name)
    if not isinstance(present, list) or not 0 <= index < len(present):
        raise TomlEditError(f"no [[{name}]] section number {index + 1}")
    rest = [item for position, item in enumerate(present) if position != index]
    expected = {key: item for key, item in before.items() if key != name or rest}
    if rest:
        expected[name] = rest
    section = toml_map(text).section((name, index))
    if section is None:
        return set_value(text, (name,), rest) if rest else remove_value(text, (name,))
    start, end = section.start, section.end
    # Comment lines directly above the header describe this section, so remove them, too.
    while start > 0:
        previous = text.rfind("\n", 0, start - 1) + 1
        if not text[previous:start].lstrip().startswith("#"):
            break
        start = previous
    # Also remove one of the two blank lines that would meet here.
    blank = re.match(r"[ \t]*\r?\n", text[end:])
    if blank and (start == 0 or text[:start].endswith(("\n\n", "\n\r\n"))):
        end += blank.end()
    elif end == len(text):
        start -= len(text[:start]) - len(text[:start].rstrip("\r\n")) - len(_newline(text))
    return _checked(text[:start] + text[end:], expected, (name, index))


# --- replacing text ---------------------------------------------------------------------------------------------------


def _span(values: Mapping[Path, tuple[int, int]], path: Path) -> tuple[int, int]:
    if path not in values:
        raise TomlEditError(f"{_dotted(path)} cannot be edited in place; edit it in the text")
    return values[path]


def _splice_value(text: str, data: Mapping[str, Any], path: Path, value: TomlValue) -> str:
    if get_value(data, path) is not None:
        return _splice_many(text, {path: value})
    parent_path, key = path[:-1], path[-1]
    if not isinstance(key, str):
        raise TomlEditError(f"{_dotted(path)} does not exist")
    newline = _newline(text)
    line = f"{render_key(key)} = {render(value)}{newline}"
    found = toml_map(text)
    if not parent_path:
        return _insert_top_level(text, found.sections[0], line, newline)
    parent = get_value(data, parent_path)
    if parent is None:
        return _splice_into_new_table(text, data, path, value)
    if not isinstance(parent, dict):
        raise TomlEditError(f"{_dotted(parent_path)} is a plain value and has no {key}")
    if parent_path in found.values:
        return _splice_value(text, data, parent_path, {**parent, key: value})
    section = found.section(parent_path)
    if section is not None:
        return _insert_line(text, section.end, line, newline)
    # A table written with dotted keys (`wifi.rate = ...`) gets another dotted key.
    above = [section for section in found.sections if len(section.path) < len(parent_path)]
    dotted = [e for section in above for e in section.entries if e.path[: len(parent_path)] == parent_path]
    if not dotted:
        header = ".".join(render_key(str(step)) for step in parent_path)
        return _at_end(text, f"[{header}]{newline}{line}", newline)
    n_own = len(dotted[-1].path) - len(dotted[-1].steps)
    names = "".join(f"{render_key(str(step))}." for step in parent_path[n_own:])
    return _insert_line(text, dotted[-1].end, names + line, newline)


def _insert_line(text: str, at: int, line: str, newline: str) -> str:
    """Add a line with the indentation of the preceding line."""
    return text[:at] + _missing_newline(text[:at], newline) + _indent_of_line_before(text, at) + line + text[at:]


def _splice_many(text: str, values: Mapping[Path, TomlValue]) -> str:
    """Replace existing values, the last one in the text first, so that the positions of the others remain valid."""
    found = toml_map(text).values
    for path in sorted(values, key=lambda each: _span(found, each), reverse=True):
        start, end = _span(found, path)
        text = text[:start] + render(values[path]) + text[end:]
    return text


def _add_to_sections(text: str, values: Mapping[Path, TomlValue]) -> str | None:
    """Add values as last lines of tables that have a header.

    Returns None if one of the values belongs elsewhere, or if the text would not have the expected values.
    """
    sections = {section.path: section for section in toml_map(text).sections}
    if not all(path[:-1] and path[:-1] in sections for path in values):
        return None
    lines: dict[int, list[str]] = {}
    newline = _newline(text)
    for path, value in values.items():
        at = sections[path[:-1]].end
        indent = _indent_of_line_before(text, at)
        lines.setdefault(at, []).append(f"{indent}{render_key(str(path[-1]))} = {render(value)}{newline}")
    new = text
    for at in sorted(lines, reverse=True):
        new = new[:at] + _missing_newline(new[:at], newline) + "".join(lines[at]) + new[at:]
    try:
        return _checked(new, _with_values(read_toml(text), values), next(iter(values), ()))
    except TomlEditError:
        return None


def _splice_into_new_table(text: str, data: Mapping[str, Any], path: Path, value: TomlValue) -> str:
    """Set a value whose table is missing: `reverse = { rate = ... }` in an object, a new section for a new object."""
    existing = len(path) - 1
    while get_value(data, path[:existing]) is None:
        existing -= 1
    if existing >= 2:
        nested: TomlValue = value
        for step in reversed(path[existing + 1 :]):
            nested = {str(step): nested}
        return _splice_value(text, data, path[: existing + 1], nested)
    newline = _newline(text)
    header = ".".join(render_key(str(step)) for step in path[:-1])
    return _at_end(text, f"[{header}]{newline}{render_key(str(path[-1]))} = {render(value)}{newline}", newline)


def _insert_top_level(text: str, top: Section, line: str, newline: str) -> str:
    """Add a top-level key after the existing ones, before the first table."""
    if not top.entries:
        return line + (newline if text.strip() else "") + text
    return text[: top.end] + _missing_newline(text[: top.end], newline) + line + text[top.end :]


def _checked(new: str, expected: Mapping[str, Any], path: Path) -> str:
    """Return the new text after checking that it has exactly the expected values, so that no edit can damage a file."""
    if not is_same(_loaded(new), plain(expected)):
        raise TomlEditError(
            f"{_dotted(path)} cannot be changed here without touching its surroundings; edit it in the text"
        )
    return new


def is_same(first: Any, second: Any) -> bool:
    """Compare values of a file; two NaN values, which TOML allows, count as equal here."""
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(is_same(item, second[key]) for key, item in first.items())
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(is_same, first, second))
    return bool(first == second) or (first != first and second != second)


def _with_values(data: Mapping[str, Any], values: Mapping[Path, TomlValue]) -> dict[str, Any]:
    """Return a copy of the data with values set in existing tables and lists."""
    result: dict[str, Any] = plain(data)
    for path, value in values.items():
        get_value(result, path[:-1])[path[-1]] = plain(value)
    return result


def _with_value(data: Mapping[str, Any], path: Path, value: TomlValue) -> dict[str, Any]:
    """Return a copy of the data with one value set, i.e. the expected content of the edited text."""
    result: dict[str, Any] = plain(data)
    here: Any = result
    for step in path[:-1]:
        if isinstance(step, int):
            if not isinstance(here, list) or not 0 <= step < len(here):
                raise TomlEditError(f"{_dotted(path)} does not exist")
            here = here[step]
        else:
            here = here.setdefault(step, {})
        if not isinstance(here, (dict, list)):
            raise TomlEditError(f"{_dotted(path)} cannot be set: a part of it is a plain value")
    try:
        here[path[-1]] = plain(value)
    except (IndexError, TypeError) as error:
        raise TomlEditError(f"{_dotted(path)} does not exist") from error
    return result


def _without(data: Mapping[str, Any], path: Path) -> dict[str, Any]:
    result: dict[str, Any] = plain(data)
    del get_value(result, path[:-1])[path[-1]]
    return result


def plain(value: Any) -> Any:
    """Copy a value into plain dictionaries and lists; all other values remain unchanged."""
    if isinstance(value, (str, int, float)):
        return value
    # Testing against an abstract class is slower, but rarely necessary.
    if isinstance(value, (dict, Mapping)):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, Sequence)):
        return [plain(item) for item in value]
    return value


def _at_end(text: str, block: str, newline: str) -> str:
    body = text + _missing_newline(text, newline)
    gap = newline if body.strip() and not body.endswith(("\n\n", "\n\r\n")) else ""
    return body + gap + block


def _line_end(text: str, position: int) -> int:
    """Return the position after the next line end, or the end of the text."""
    found = text.find("\n", position)
    return len(text) if found < 0 else found + 1


def _indent_of_line_before(text: str, position: int) -> str:
    line = text.rfind("\n", 0, max(position - 1, 0)) + 1
    match = re.match(r"[ \t]*", text[line:position])
    return match.group() if match else ""


def _missing_newline(text: str, newline: str) -> str:
    return newline if text and not text.endswith("\n") else ""


def _newline(text: str) -> str:
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def render_key(key: str) -> str:
    """Write a key, in quotes if needed."""
    return key if _BARE_KEY.match(key) else render_text(key)


def _dotted(path: Path) -> str:
    return ".".join(str(step) for step in path)
