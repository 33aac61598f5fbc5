"""Makes damaged and malicious inputs from valid ones, each in the structure of its format.

A mutator takes a random generator, one example and all examples of its entry point, and returns another input. The same
generator gives the same input.
"""

from __future__ import annotations

import hashlib
import io
import json
import random
import re
import sqlite3
import struct
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.helpers.hostile import HOSTILE_NAMES

from subflow_sim.gate import toml_tree

Mutator = Callable[[random.Random, bytes, Sequence[bytes]], bytes]

MOST_BYTES = 600_000
"""Inputs are cut off here: the tests of limits cover larger ones."""

NUMBERS = (
    *("0", "-1", "1", "1e308", "-1e308", "1e-308", "1e999", "inf", "-inf", "nan", "NaN", "Infinity", "1e18", "1e10"),
    *("9223372036854775807", "9223372036854775808", "-9223372036854775809", "18446744073709551616", "4294967296"),
    *("2147483648", "1" + "0" * 400, "1" + "0" * 5000, "0x7fffffffffffffff", "0b1", "1_000", "0.1", "1e-9", "-0.0"),
    *("1.7976931348623157e308", "5e-324", "9.3e9", "00", "+1", "1e6", "1000000000", "99999999999999999999", "²", "٣"),
)
UNITS = ("s", "ms", "us", "ns", "min", "Mbit/s", "Gbit/s", "bit/s", "MB", "B", "pkt", "%", "Kbit/s", "TB", "furlong")
VALUES = (
    *("true", "false", "null", "[]", "{}", '""', "''", '"a"', "[[]]", "[1, 2]", '{"a": 1}', "{a = 1}", "1979-05-27"),
    *("07:32:00", "1979-05-27T07:32:00Z", "0001-01-01", "9999-12-31T23:59:59Z", "[inf, nan]", '"\\u0000"', '"../../x"'),
    *('"/etc/passwd"', '"/dev/zero"', '"\\ud800"', "[1, 'a', {}]", '"1e308 s"', '"-5 Mbit/s"', '"<b>x</b>"', '"%s%n"'),
)
CONTROLS = ("\0", "\x1b[31m", "\r", "\x7f", "\u202e", "\ufeff", "\ud7ff", "\x85", "\u2028", "\f", "\t", "\b")

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[+-]?\d[\d_.eE+-]*|[A-Za-z_][\w-]*|[ \t]+|\n|.', re.DOTALL)
_LINES_OF_NESTING = (10, 40, 200, 3000)


# ---- bytes ----


def bytes_of(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Flips, deletes, duplicates and inserts bytes."""
    made = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 16))):
        at = rng.randrange(len(made) + 1)
        length = rng.choice((1, 1, 2, 4, 8, 64, 1024))
        match rng.randrange(9):
            case 0 if made:
                made[at % len(made)] ^= 1 << rng.randrange(8)
            case 1:
                made[at : at + length] = rng.randbytes(length)
            case 2:
                del made[at : at + length]
            case 3:
                made[at:at] = made[at : at + length]
            case 4:
                made[at:at] = rng.choice((b"\0", b"\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3", b"\r\n")) * length
            case 5:
                del made[at:]
            case 6:
                other = rng.choice(others)
                begin = rng.randrange(len(other) + 1)
                made[at : at + length] = other[begin : begin + length]
            case 7:
                made[at : at + 8] = rng.choice(_WORDS)
            case _:
                if made:
                    made[at % len(made)] = rng.randrange(256)
    return bytes(made[:MOST_BYTES])


_WORDS = tuple(
    value.to_bytes(size, order, signed=value < 0)
    for value in (0, 1, -1, 0x7F)
    for size in (2, 4, 8)
    for order in ("little", "big")
) + tuple(
    (value % (1 << 8 * size)).to_bytes(size, order)
    for value in (1 << 15, 1 << 31, (1 << 31) - 1, (1 << 32) - 1, 1 << 40, (1 << 63) - 1)
    for size in (4, 8)
    for order in ("little", "big")
)


# ---- texts ----


def text(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Changes tokens and lines of a text: other values and types, deletions, copies, swaps, deep nesting, long keys."""
    if rng.random() < 0.1:
        return bytes_of(rng, data, others)
    tokens: list[str] = _TOKEN.findall(data.decode("utf-8", "surrogateescape"))
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        tokens = _with_change(rng, tokens, others)
    return "".join(tokens).encode("utf-8", "surrogatepass" if rng.random() < 0.02 else "replace")[:MOST_BYTES]


def _with_change(rng: random.Random, tokens: list[str], others: Sequence[bytes]) -> list[str]:
    if not tokens:
        return [value(rng)]
    if sum(map(len, tokens)) > MOST_BYTES:
        return tokens
    at = rng.randrange(len(tokens))
    kind = rng.randrange(16)
    if kind < 4:
        # Readers read values, so a value is replaced where possible.
        places = [place for place, token in enumerate(tokens) if token[0] in '"+-' or token[0].isalnum()]
        tokens[rng.choice(places or [at])] = value(rng)
    elif kind == 4:
        del tokens[at : at + rng.choice((1, 2, 5, 40))]
    elif kind == 5:
        tokens[at:at] = tokens[at : at + rng.choice((1, 3, 20))] * rng.choice((1, 1, 2, 50))
    elif kind == 6:
        other = rng.randrange(len(tokens))
        tokens[at], tokens[other] = tokens[other], tokens[at]
    elif kind == 7:
        tokens.insert(at, rng.choice(CONTROLS) * rng.choice((1, 1, 100)))
    elif kind == 8:
        tokens.insert(at, nesting(rng))
    elif kind == 9:
        key = ".".join(["a"] * rng.choice((3, 40, 1000, 20_000)))
        tokens.insert(at, f"\n{key} = 1\n" if rng.random() < 0.7 else f"\n[{key}]\n")
    elif kind == 10:
        tokens[at] = tokens[at] + value(rng)
    else:
        lines = "".join(tokens).splitlines(keepends=True)
        first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
        if kind == 11:
            del lines[first]
        elif kind == 12:
            lines.insert(second, lines[first] * rng.choice((1, 1, 1, 100)))
        elif kind == 13:
            lines[first], lines[second] = lines[second], lines[first]
        elif kind == 14:
            foreign = rng.choice(others).decode("utf-8", "replace").splitlines(keepends=True)
            lines.insert(first, rng.choice(foreign or [""]))
        else:
            name, equals, _ = lines[first].partition("=")
            lines[first] = f"{name}= {value(rng)}\n" if equals else lines[first] + value(rng) + "\n"
        return _TOKEN.findall("".join(lines))
    return tokens


def value(rng: random.Random) -> str:
    """A value that a reader may not expect."""
    kind = rng.randrange(8)
    if kind < 3:
        return rng.choice(NUMBERS)
    if kind == 3:
        return f'"{rng.choice(NUMBERS)} {rng.choice(UNITS)}"'
    if kind == 4:
        return f'"{rng.choice(CONTROLS)}{"x" * rng.choice((0, 1, 300, 200_000))}"'
    if kind == 5:
        return f"{rng.choice(NUMBERS)}{rng.choice(UNITS)}"
    return rng.choice(VALUES)


def nesting(rng: random.Random) -> str:
    """Brackets in brackets."""
    deep = rng.choice(_LINES_OF_NESTING)
    opening, closing = rng.choice((("[", "]"), ('{"a":', "}"), ("{a=", "}"), ("(", ")"), ("<a>", "</a>"), ("x [", "]")))
    return opening * deep + rng.choice(("1", "")) + closing * rng.choice((deep, deep, 0))


# ---- JSON ----


def json_of(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Deletes, copies, swaps or replaces members of a JSON document; sometimes changes its text."""
    if rng.random() < 0.25:
        return text(rng, data, others)
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):  # an example that is already damaged or nested too deeply
        return text(rng, data, others)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        document = json_value(rng, document)
    return json.dumps(document, ensure_ascii=rng.random() < 0.9).encode("utf-8", "surrogatepass")[:MOST_BYTES]


def json_value(rng: random.Random, document: Any) -> Any:
    """The document with one change, in place if possible."""
    places = list(_places(document))
    if not places:
        return _strange(rng, document)
    holder, key = rng.choice(places)
    if isinstance(document, list | dict) and rng.random() < 0.02:
        return _strange(rng, document)
    other_holder, other_key = rng.choice(places)
    match rng.randrange(7):
        case 0:
            del holder[key]
        case 1:
            holder[key], other_holder[other_key] = other_holder[other_key], holder[key]
        case 2 if isinstance(holder, dict):
            holder[rng.choice((f"{key} ", "", str(key).upper(), "\0", "a.b", "__class__", "é" * 300))] = holder[key]
        case 3 if isinstance(holder, list):
            # Large members are copied only a few times: a thousand copies of a thousand copies fit into no memory.
            is_small = len(json.dumps(holder[key])) < 200
            holder[key:key] = [holder[key]] * (rng.choice((1, 3, 1000)) if is_small else 1)
        case _:
            holder[key] = _strange(rng, holder[key])
    # A swap may have put a part into itself.
    try:
        json.dumps(document)
    except (ValueError, RecursionError):
        return _strange(rng, None)
    return document


def _places(document: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    waiting = [document]
    while waiting and len(found) < 5000:
        here = waiting.pop()
        if isinstance(here, dict):
            found += [(here, key) for key in here]
            waiting += here.values()
        elif isinstance(here, list):
            found += [(here, place) for place in range(len(here))]
            waiting += here
    return found


_QUANTITY = re.compile(r"(\d+(?:\.\d+)?)([A-Za-z/%]*)\Z")


def _strange(rng: random.Random, before: Any) -> Any:
    if isinstance(before, int | float) and not isinstance(before, bool) and rng.random() < 0.5:
        return rng.choice((before * 2, -before, before + 1, before * 10**9, f"{before}", 0.5))
    quantity = _QUANTITY.match(before) if isinstance(before, str) else None
    if quantity is not None and rng.random() < 0.7:
        scaled = f"{float(quantity[1]) * rng.choice((0, 0.1, 0.5, 2, 10, 1000)):g}"
        return rng.choice((scaled, scaled, rng.choice(NUMBERS))) + rng.choice(
            (quantity[2], quantity[2], rng.choice(UNITS))
        )
    if isinstance(before, str) and before and rng.random() < 0.5:
        at = rng.randrange(len(before))
        return before[:at] + rng.choice((*CONTROLS, "", "=", '"', "'", "[", "\ud800", value(rng))) + before[at + 1 :]
    deep: Any = 1
    for _ in range(rng.choice((5, 60, 300))):
        deep = [deep] if rng.random() < 0.5 else {"a": deep}
    return rng.choice(
        (
            *(None, True, False, 0, -1, 1, 0.5, 1e308, -1e308, 5e-324, float("inf"), float("nan"), 2**31, 2**63, 2**64),
            *(10**400, -(10**30), "", "a", "\0", "\ud800", "x" * 100_000, "1e308", "nan", "../x", "/dev/zero", "é"),
            *([], {}, [[]], [None], {"": None}, [1] * 1000, {"a": {"b": 1}}, deep, "2024-01-01", "1979-05-27T00:00:00"),
        )
    )


# ---- TOML ----


def toml(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Changes members of a TOML document like `json_of`, so that it stays TOML; or changes its text."""
    if rng.random() < 0.4:
        return text(rng, data, others)
    try:
        document: Any = toml_tree(data.decode())  # the parser alone takes minutes for some keys
        for _ in range(rng.choice((1, 1, 1, 2, 4))):
            document = json_value(rng, document)
        members = document if isinstance(document, dict) else {"a": document}
        written = "".join(f"{_toml_key(key)} = {_toml_value(member)}\n" for key, member in members.items())
    except (ValueError, RecursionError, TypeError):
        return text(rng, data, others)
    return written.encode("utf-8", "replace")[:MOST_BYTES]


def _toml_value(member: Any) -> str:
    if isinstance(member, dict):
        return "{" + ", ".join(f"{_toml_key(key)} = {_toml_value(each)}" for key, each in member.items()) + "}"
    if isinstance(member, list):
        return "[" + ", ".join(map(_toml_value, member)) + "]"
    if isinstance(member, str):
        return json.dumps(member).replace("\\ud800", "?")
    if isinstance(member, bool):
        return str(member).lower()
    if member is None:
        return '""'
    return f"{member}"


def _toml_key(key: object) -> str:
    return json.dumps(f"{key}")


# ---- tables ----


def table(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Changes cells, columns, lines and separators of a table."""
    if rng.random() < 0.3:
        return text(rng, data, others)
    written = data.decode("utf-8", "replace")
    separator = max(",;\t|", key=written.count)
    rows = [line.split(separator) for line in written.splitlines()] or [[""]]
    for _ in range(rng.choice((1, 1, 2, 5))):
        row = rng.choice(rows)
        place = rng.randrange(len(row) + 1)
        match rng.randrange(13):
            case 11 | 12:
                name = rng.choice(HOSTILE_NAMES)
                place = rng.randrange(len(rows[0]))
                quantity = rows[0][place].rpartition(":")[2]
                made = rng.choice((f"{name}/{rng.choice((1, 2, 0, 99))}:{quantity}", f"{name}:{quantity}", name))
                rows[0][place] = '"' + made.replace('"', '""') + '"'
            case 0 | 1 | 2:
                row[place : place + 1] = [value(rng).strip('"') if rng.random() < 0.8 else value(rng)]
            case 3:
                row[place : place + 1] = ["1" * rng.choice((131_072, 131_073, 200_000))]
            case 4:
                row.insert(place, rng.choice(("", "1", "time", "x" * 70_000)))
            case 5:
                for each in rows:
                    each[place : place + 1] = []
            case 6:
                rng.shuffle(rows)
            case 7:
                is_short = sum(map(len, row)) < 200
                rows += [list(row)] * (rng.choice((1, 10, 3000)) if is_short else 1)
            case 8:
                row[place : place + 1] = [rng.choice(('"', '""', '"a\nb"', "'", "\\", "=1+1", "@SUM(A1)", "\0"))]
            case 9:
                for number, each in enumerate(rows):
                    each[place : place + 1] = [rng.choice((str(number), rng.choice(NUMBERS)))]
            case _:
                separator = rng.choice(",;\t| ")
        if sum(map(len, rows)) > 100_000:
            break
    return "\n".join(separator.join(row) for row in rows).encode("utf-8", "replace")[:MOST_BYTES]


# ---- archives ----


def archive(member: Mutator, resign: Callable[[dict[str, bytes]], None] | None = None) -> Mutator:
    """Members of a ZIP archive: changed by another mutator, renamed, deleted, copied, or very large."""

    def mutate(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
        if rng.random() < 0.3:
            return bytes_of(rng, data, others)
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as opened:
                files = {name: opened.read(name) for name in opened.namelist()}
        except Exception:  # an example that is already damaged, in any way
            return bytes_of(rng, data, others)
        name = rng.choice(sorted(files))
        doubled: list[tuple[str, bytes]] = []
        match rng.randrange(9):
            case 0:
                files[rng.choice(("../x", "/x", "a\\b", "x" * 300, "\0", "", "trace/", "traces/../../x"))] = files[name]
            case 1:
                del files[name]
            case 2:
                doubled.append((name, bytes_of(rng, files[name], [files[name]])))
            case 3:
                files[name] = b"\0" * rng.choice((1_000_000, 1_000_000, 30_000_000))
            case _:
                files[name] = member(rng, files[name], [files[name]])
        if resign is not None and rng.random() < 0.8:
            resign(files)
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made, warnings.catch_warnings(action="ignore"):
            for each, content in (*files.items(), *doubled):
                info = zipfile.ZipInfo(each.encode("utf-8", "replace").decode() or "x", (1980, 1, 1, 0, 0, 0))
                info.compress_type = rng.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED))
                made.writestr(info, content)
        return buffer.getvalue()

    return mutate


def sign_bundle(files: dict[str, bytes]) -> None:
    """Updates the manifest of a bundle to its files, like a forger."""
    try:
        manifest = json.loads(files["manifest.json"])
        named = manifest["files"]
        for name in list(named):
            if name in files:
                named[name] = hashlib.sha256(files[name]).hexdigest()
        files["manifest.json"] = json.dumps(manifest).encode()
    except (ValueError, KeyError, TypeError):
        return


# ---- captures ----


def capture(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Changes records of a capture: their times, lengths and order, and the bytes of their packets."""
    if rng.random() < 0.3 or data[:4] != b"\xd4\xc3\xb2\xa1":
        return bytes_of(rng, data, others)
    head, records, at = data[:24], [], 24
    while at + 16 <= len(data):
        seconds, micros, kept, whole = struct.unpack_from("<IIII", data, at)
        records.append([seconds, micros, kept, whole, data[at + 16 : at + 16 + kept]])
        at += 16 + kept
    for _ in range(rng.choice((1, 1, 2, 5))):
        if not records:
            break
        record = rng.choice(records)
        match rng.randrange(8):
            case 0:
                record[0] = (record[0] + rng.choice((-1, 86_400, 300 * 86_400, 2**31, -(10**9)))) % (1 << 32)
            case 1:
                record[1] = rng.choice((0, 999_999, 10**6, 2**32 - 1))
            case 2:
                record[2] = rng.choice((0, 1, 65_535, 2**31, 2**32 - 1))
            case 3:
                record[4] = bytes_of(rng, record[4], [record[4]])
                record[2] = len(record[4])
            case 4:
                records.insert(rng.randrange(len(records)), list(record))
            case 5:
                records.remove(record)
            case 6:
                rng.shuffle(records)
            case _:
                head = head[:20] + struct.pack("<I", rng.choice((0, 1, 101, 113, 228, 276, 2**31)))
    packed = (struct.pack("<IIII", *record[:4]) + record[4] for record in records)
    return (head + b"".join(packed))[:MOST_BYTES]


# ---- databases ----


def database(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Changes pages and header of a SQLite file, and puts values into its rows that Subflow never writes."""
    size = 1 << (data[16] << 8 | data[17]).bit_length() - 1 if len(data) > 17 and (data[16] or data[17]) else 4096
    kind = rng.randrange(6)
    if kind == 0:
        return bytes_of(rng, data, others)
    if kind == 1:
        made = bytearray(data)
        made[rng.randrange(100)] = rng.randrange(256)
        return bytes(made)
    if kind == 2:
        pages = [data[begin : begin + size] for begin in range(0, len(data), size)]
        first, second = rng.randrange(len(pages)), rng.randrange(len(pages))
        match rng.randrange(4):
            case 0:
                pages[first], pages[second] = pages[second], pages[first]
            case 1:
                pages[first] = bytes(len(pages[first]))
            case 2:
                del pages[first:]
            case _:
                pages[first] = pages[second]
        return b"".join(pages)
    if kind == 3:
        made = bytearray(data)
        for _ in range(rng.choice((1, 3, 30))):
            made[rng.randrange(len(made))] ^= 1 << rng.randrange(8)
        return bytes(made)
    return _with_rows_changed(rng, data)


def _with_rows_changed(rng: random.Random, data: bytes) -> bytes:
    with tempfile.TemporaryDirectory(prefix="subflow-fuzz-") as folder:
        path = Path(folder, "a.db")
        path.write_bytes(data)
        try:
            connection = sqlite3.connect(path)
            try:
                connection.execute("PRAGMA synchronous=OFF")
                connection.execute("PRAGMA ignore_check_constraints=1")
                connection.execute("PRAGMA writable_schema=1")
                tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
                # Triggers protect finished runs, so they are dropped for the change and then restored.
                kept = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
                if is_closed := rng.random() < 0.9:
                    for trigger, _ in kept:
                        connection.execute(f'DROP TRIGGER "{trigger}"')
                for _ in range(rng.choice((1, 1, 3))):
                    name = rng.choice(tables)
                    columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{name}")')]
                    column = rng.choice(columns)
                    changed = rng.choice(_CELLS)
                    with_error = rng.choice(
                        (
                            (f'UPDATE "{name}" SET "{column}" = ?', (changed,)),
                            (f'UPDATE "{name}" SET "{column}" = CAST(? AS TEXT)', (rng.randbytes(9),)),
                            (f'UPDATE "{name}" SET "{column}" = substr("{column}", 1, length("{column}") / 2)', ()),
                            (f'DELETE FROM "{name}"', ()),
                        )
                    )
                    try:
                        connection.execute(*with_error)
                    except sqlite3.Error:
                        continue
                for _, statement in kept if is_closed else ():
                    connection.execute(statement)
                connection.commit()
                connection.execute("PRAGMA journal_mode=DELETE")
            finally:
                connection.close()
        except (sqlite3.Error, IndexError):
            return bytes_of(rng, data, [data])
        return path.read_bytes()


_CELLS = (
    *(None, 0, -1, 2**62, -(2**63), 1e308, float("inf"), "", "a", "[]", "{}", "null", "[" * 5000, "{" * 9, "\0", b""),
    *(
        b"\xff\xfe",
        b"\x28\xb5\x2f\xfd" + b"\xff" * 40,
        "x" * 100_000,
        "2024-13-45",
        "1e999",
        '{"flows": 1}',
        "finished",
    ),
    *HOSTILE_NAMES,
    *(f"{name}/1" for name in HOSTILE_NAMES),
)
