"""The shape of a program's output: keys of JSON, headers of CSV, names in archives and databases."""

from __future__ import annotations

import configparser
import csv
import io
import json
import re
import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

_HASH = re.compile(r"(?<![A-Za-z0-9])(?=[a-f]*\d)[0-9a-f]{8,}(?![A-Za-z0-9])")
_DIGITS = re.compile(r"\d+")


def plain_name(name: str) -> str:
    """A name without numbers and hashes, which differ between runs."""
    return _DIGITS.sub("#", _HASH.sub("#", name))


def keys_of(document: Any) -> list[str]:
    """All keys of a document as paths such as ``flows[].name``; numbers in keys are replaced."""
    return sorted(set(_keys(document, "")))


def _keys(node: Any, place: str) -> Iterator[str]:
    if isinstance(node, dict):
        for key, value in node.items():
            path = f"{place}.{plain_name(str(key))}" if place else plain_name(str(key))
            yield path
            yield from _keys(value, path)
    elif isinstance(node, list):
        for value in node:
            yield from _keys(value, f"{place}[]")


def shape_of_output(text: str) -> dict[str, Any]:
    """Keys of a JSON document, or of one document per line; empty for other text."""
    try:
        return {"keys": keys_of(json.loads(text))}
    except ValueError:
        pass
    try:
        return {"keys": keys_of([json.loads(line) for line in text.splitlines()])} if text.strip() else {}
    except ValueError:
        return {}


def header_of(text: str) -> list[str]:
    """Header of a CSV table, after lines of remarks."""
    lines = [line for line in text.splitlines()[:20] if not line.startswith("#")]
    return [plain_name(cell) for cell in next(csv.reader(io.StringIO(lines[0])), [])] if lines else []


def shape_of_file(path: Path) -> dict[str, Any]:
    """Shape of a file by its suffix; empty for pictures and other texts."""
    suffix = path.suffix
    if suffix in (".json", ".jsonl"):
        return shape_of_output(path.read_text(encoding="utf-8"))
    if suffix == ".csv":
        return {"header": header_of(path.read_text(encoding="utf-8"))}
    if suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            return {"files": sorted({plain_name(name) for name in archive.namelist()})}
    if suffix == ".ini":
        parser = configparser.ConfigParser(interpolation=None, strict=False)
        parser.read_string(path.read_text(encoding="utf-8"))
        return {"keys": sorted(plain_name(f"{part}.{key}") for part in parser.sections() for key in parser[part])}
    return {}


def merged(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Combined shape of several files with the same name."""
    return {key: sorted({*first.get(key, ()), *second.get(key, ())}) for key in {**first, **second}}


def files_in(folder: Path) -> dict[str, dict[str, Any]]:
    """Files below a folder with their shapes; files whose names differ only in numbers count as one."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            name = plain_name(path.relative_to(folder).as_posix())
            found[name] = merged(found.get(name, {}), shape_of_file(path))
    return found


def schema_of(database: Path) -> dict[str, Any]:
    """Tables, indices and views of a database, and its version."""
    with closing(sqlite3.connect(database)) as connection:
        rows = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY type, name").fetchall()
        numbers = {
            name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("user_version", "application_id")
        }
    return {**numbers, "master": {f"{kind} {name}": sql for kind, name, sql in rows}}
