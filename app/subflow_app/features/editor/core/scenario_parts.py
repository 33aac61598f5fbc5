"""The parts of a scenario file as plain tables and values, and batches of edits of its TOML text.

The tables can be read even if they contain errors. An edit removes, renames, changes or adds a part. Edits are spliced
into the text, so that the rest of the text is unchanged byte for byte. The values of the new text are compared with the
intended values before the text is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from subflow_app.foundation import toml_edit
from subflow_app.foundation.toml_edit import TomlEditError, TomlValue
from subflow_sim.toml_map import Path, Section, Step, toml_map

NAMED = ("nodes", "links", "flows")
"""Sections whose parts have names."""
NAME_KEY = "@name"
"""Stands for the name of a part after its key: `links.wifi.@name`. No key of a file contains the sign."""
ROWS = ("events", "notes")
"""Sections whose parts are rows, numbered from 0."""


def named(data: Mapping[str, Any], section: str) -> dict[str, dict[str, Any]]:
    """Return the parts of a section by name, without values that are not tables."""
    found = data.get(section)
    return {name: table for name, table in found.items() if isinstance(table, dict)} if isinstance(found, dict) else {}


def rows(data: Mapping[str, Any], section: str) -> list[dict[str, Any]]:
    """Return the rows of a section; invalid rows become empty tables, so that row numbers remain valid."""
    found = data.get(section)
    return [row if isinstance(row, dict) else {} for row in found] if isinstance(found, list) else []


def texts(value: Any) -> list[str]:
    """Return the strings in a list; empty if the value is not a list."""
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def flow_of(event: Mapping[str, Any]) -> str:
    """Return the flow of an event without the number of a copy: `download` for `download.3`."""
    flow = event.get("flow")
    return flow.partition(".")[0] if isinstance(flow, str) else ""


class TomlPatch:
    """Collects edits of a text and applies them together; all paths refer to the original text.

    Args:
        text: TOML text.

    Raises:
        TomlEditError: if the text is not TOML.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._wanted = toml_edit.read_toml(text)
        self._map = toml_map(text)
        self._sections = self._map.sections
        self._splices: list[tuple[int, int, str]] = []
        self._cuts: list[tuple[int, int]] = []
        self._removed: list[Path] = []
        self._later: dict[Path, TomlValue] = {}
        self._newline = "\r\n" if "\r\n" in text[: text.find("\n") + 1] else "\n"

    def remove(self, path: Path) -> None:
        """Remove a value, or a table with its subtables and the comment lines directly above it.

        Raises:
            TomlEditError: if the path lies within an inline value that cannot be split.
        """
        found = False
        for section in self._sections:
            if _is_below(section.path, path):
                self._cuts.append(self._with_comments(section))
                found = True
                continue
            for entry in section.entries:
                if _is_below(entry.path, path):
                    self._splices.append((entry.start, entry.end, ""))
                    found = True
        if not found:
            raise _refusal(path)
        self._removed.append(path)

    def rename(self, path: Path, name: str) -> None:
        """Rename the last step of a path in all headers and keys.

        Raises:
            TomlEditError: see `remove`.
        """
        found = False
        # A path contains row numbers, but a header does not.
        index = len([step for step in path if isinstance(step, str)]) - 1
        for section in self._sections:
            if _is_below(section.path, path):
                self._write_name(section.steps[index], name)
                found = True
                continue
            for entry in section.entries:
                if _is_below(entry.path, path):
                    self._write_name(entry.steps[len(path) - 1 - len(section.path)], name)
                    found = True
        if not found:
            raise _refusal(path)
        parent = toml_edit.get_value(self._wanted, path[:-1])
        parent[name] = parent.pop(path[-1])

    def set(self, path: Path, value: TomlValue) -> None:
        """Set a value in place, or as the last line of its table."""
        span = self._map.values.get(path)
        if span is not None:
            self._splices.append((*span, toml_edit.render(value)))
            self._note(path, value)
            return
        self._later[path] = value

    def append(self, header: str, values: Mapping[str, TomlValue], *, is_row: bool = False) -> None:
        """Add a table `[header]` or a row `[[header]]` after the last one of its section.

        Args:
            header: dotted bare names: `nodes.h1`.
            values: keys and values in the order in which they are written.
            is_row: whether to add a row of an array of tables.
        """
        kind = header.split(".")[0]
        title = f"[[{header}]]" if is_row else f"[{header}]"
        lines = [title, *(f"{toml_edit.render_key(key)} = {toml_edit.render(item)}" for key, item in values.items())]
        block = self._newline.join(lines) + self._newline
        alike = [s for s in self._sections if s.path[:1] == (kind,)]
        at = alike[-1].end if alike else len(self._text.rstrip("\r\n")) + len(self._newline)
        at = min(at, len(self._text))
        before = self._text[:at]
        lead = self._newline if before and not before.endswith("\n") else ""
        gap = self._newline if before.strip() and not (alike and self._is_dense(alike[-1])) else ""
        self._splices.append((at, at, lead + gap + block))
        if is_row:
            self._wanted.setdefault(kind, []).append(toml_edit.plain(values))
        else:
            self._wanted.setdefault(kind, {})[header.split(".", 1)[1]] = toml_edit.plain(values)

    def result(self) -> str:
        """Return the new text.

        Raises:
            TomlEditError: if the edits would change other parts of the file.
        """
        text = self._text
        # Additions at the same position keep their order, and follow a removal that ends there.
        splices = [*self._splices, *((start, end, "") for start, end in self._whole_cuts())]
        ordered = sorted(enumerate(splices), key=lambda each: (each[1][0], each[1][1], each[0]))
        pieces: list[str] = []
        position = 0
        for _, (start, end, new) in ordered:
            if end <= position and start < position:
                continue  # inside a removed span
            pieces += [text[position : max(start, position)], new]
            position = max(end, position)
        new_text = "".join([*pieces, text[position:]])
        if self._removed:
            new_text = self._without_gap_at_end(new_text)
        for path in sorted(self._removed, key=_by_row, reverse=True):
            del toml_edit.get_value(self._wanted, path[:-1])[path[-1]]
        if not toml_edit.is_same(_without_empty(toml_edit.read_toml(new_text)), _without_empty(self._wanted)):
            raise TomlEditError("this cannot be changed here without touching its surroundings; edit it in the text")
        for path, value in self._later.items():
            new_text = toml_edit.set_value(new_text, path, value)
        return new_text

    # --- internals --------------------------------------------------------------------------------------------------

    def _write_name(self, step: Step, name: str) -> None:
        self._splices.append((step.start, step.end, toml_edit.render_key(name)))

    def _note(self, path: Path, value: TomlValue) -> None:
        toml_edit.get_value(self._wanted, path[:-1])[path[-1]] = toml_edit.plain(value)

    def _with_comments(self, section: Section) -> tuple[int, int]:
        """Return the span of a section, including the comment lines directly above it."""
        start = section.start
        while start > 0:
            previous = self._text.rfind("\n", 0, start - 1) + 1
            if not self._text[previous:start].lstrip().startswith("#"):
                break
            start = previous
        return start, section.end

    def _whole_cuts(self) -> Iterator[tuple[int, int]]:
        """Yield the spans to cut: adjacent sections are merged, and one of the blank lines around them is included."""
        merged: list[tuple[int, int]] = []
        for start, end in sorted(self._cuts):
            if merged and not self._text[merged[-1][1] : start].strip():
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((start, end))
        for start, end in merged:
            following = self._text[end : self._text.find("\n", end) + 1]
            if following and not following.strip() and (start == 0 or self._is_blank_before(start)):
                end += len(following)
            yield start, end

    def _is_blank_before(self, position: int) -> bool:
        line = self._text.rfind("\n", 0, max(position - 1, 0)) + 1
        return not self._text[line:position].strip()

    def _is_dense(self, section: Section) -> bool:
        """True if a section follows the previous one without a blank line."""
        return section.start > 0 and not self._is_blank_before(section.start) and bool(section.steps)

    def _without_gap_at_end(self, text: str) -> str:
        bare = text.rstrip("\r\n")
        if len(text) - len(bare) > len(self._text) - len(self._text.rstrip("\r\n")):
            return bare + (self._newline if bare else "")
        return text


def _is_below(path: Path, top: Path) -> bool:
    return path[: len(top)] == top


def _by_row(path: Path) -> tuple[int, ...]:
    """Return the row numbers in a path as a sort key: removing the last rows first keeps the other numbers valid."""
    return tuple(step for step in path if isinstance(step, int))


def _without_empty(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data without empty sections, because removing the last part of a section may leave its header."""
    return {key: value for key, value in data.items() if value not in ({}, [])}


def _refusal(path: Path) -> TomlEditError:
    name = ".".join(str(step) for step in path)
    return TomlEditError(f"{name} is written in a way that can be edited in the text only")
