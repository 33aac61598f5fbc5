"""Values as bytes, for pipes between our own processes: records of known kinds, made of numbers, texts and arrays.

JSON with the arrays behind it. Pickle was the alternative; what it reads can run any code, and a pipe should carry
nothing but what it is for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import IO, Any, Literal

import numpy as np

_LENGTH_BYTES = 8
_ORDER: Literal["little"] = "little"
_KIND, _ARRAY, _BYTES, _MAP = "*kind", "*array", "*bytes", "*map"


def pack(value: object) -> bytes:
    """The bytes of a value.

    Raises:
        TypeError: if it holds something else than dataclasses, named tuples, sequences, mappings with texts as keys,
            numbers, texts, bytes and arrays of one dimension.
    """
    blobs: list[bytes] = []
    head = json.dumps(_plain(value, blobs)).encode()
    return b"".join((len(head).to_bytes(_LENGTH_BYTES, _ORDER), head, *blobs))


def unpack(content: bytes, kinds: Iterable[type]) -> Any:
    """The value of these bytes; sequences come back as tuples.

    Args:
        content: what `pack` made.
        kinds: the dataclasses and named tuples that it may hold.

    Raises:
        ValueError: if it is damaged, or holds a record of another kind.
    """
    start = _LENGTH_BYTES + int.from_bytes(content[:_LENGTH_BYTES], _ORDER)
    view = memoryview(content)
    head = json.loads(content[_LENGTH_BYTES:start])
    return _built(head, view[start:], {kind.__name__: kind for kind in kinds}, [0])


def write_message(pipe: IO[bytes], content: bytes) -> None:
    """Write bytes so that `read_message` finds their end."""
    pipe.write(len(content).to_bytes(_LENGTH_BYTES, _ORDER) + content)
    pipe.flush()


def read_message(pipe: IO[bytes]) -> bytes | None:
    """The next message; None if the other side has gone, also in the middle of one."""
    head = pipe.read(_LENGTH_BYTES)
    if len(head) < _LENGTH_BYTES:
        return None
    length = int.from_bytes(head, _ORDER)
    content = pipe.read(length)
    return content if len(content) == length else None


def _plain(value: object, blobs: list[bytes]) -> object:
    if isinstance(value, np.ndarray):
        if value.ndim != 1 or value.dtype.kind not in "fiub":
            raise TypeError(f"an array of {value.ndim} dimensions of {value.dtype} cannot be packed")
        blobs.append(value.tobytes())
        return {_ARRAY: value.dtype.str, "n": len(value)}
    if isinstance(value, bytes):
        blobs.append(value)
        return {_BYTES: len(value)}
    if is_dataclass(value) and not isinstance(value, type):
        members = {member.name: _plain(getattr(value, member.name), blobs) for member in fields(value)}
        return {_KIND: type(value).__name__, **members}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {_KIND: type(value).__name__, **{key: _plain(item, blobs) for key, item in value._asdict().items()}}
    if isinstance(value, tuple | list):
        return [_plain(item, blobs) for item in value]
    if isinstance(value, Mapping):
        return {_MAP: [[str(key), _plain(item, blobs)] for key, item in value.items()]}
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise TypeError(f"{type(value).__name__} cannot be packed")


def _built(plain: Any, blobs: memoryview, kinds: Mapping[str, type], place: list[int]) -> Any:
    if isinstance(plain, list):
        return tuple(_built(item, blobs, kinds, place) for item in plain)
    if not isinstance(plain, dict):
        return plain
    if _ARRAY in plain:
        dtype = np.dtype(plain[_ARRAY])
        return np.frombuffer(_taken(blobs, plain["n"] * dtype.itemsize, place), dtype)
    if _BYTES in plain:
        return bytes(_taken(blobs, plain[_BYTES], place))
    if _MAP in plain:
        return {key: _built(item, blobs, kinds, place) for key, item in plain[_MAP]}
    name = plain.pop(_KIND)
    if name not in kinds:
        raise ValueError(f"a {name} is not one of {', '.join(kinds)}")
    return kinds[name](**{key: _built(item, blobs, kinds, place) for key, item in plain.items()})


def _taken(blobs: memoryview, length: int, place: list[int]) -> memoryview:
    part = blobs[place[0] : place[0] + length]
    if len(part) != length:
        raise ValueError("the message is cut off")
    place[0] += length
    return part
