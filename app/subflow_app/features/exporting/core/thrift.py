"""Apache Thrift's compact protocol, as far as descriptions in Parquet files are written with it.

https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class I32:
    """An integer of 32 bits."""

    number: int
    KIND = 5


@dataclass(frozen=True, slots=True)
class I64:
    """An integer of 64 bits."""

    number: int
    KIND = 6


@dataclass(frozen=True, slots=True)
class Text:
    """A text."""

    text: str
    KIND = 8


class List:
    """Values of one kind."""

    KIND = 9

    def __init__(self, kind: type[Value], values: Sequence[Value]) -> None:
        self.element_kind = kind.KIND
        self.values = values


class Struct:
    """Fields, in the order of their numbers, from one to the next no more than 15."""

    KIND = 12

    def __init__(self, *fields: Field) -> None:
        self.fields = fields


Value = I32 | I64 | Text | List | Struct


@dataclass(frozen=True, slots=True)
class Field:
    """A value with its number in a struct."""

    number: int
    value: Value


def encoded(value: Value) -> bytes:
    """The value as it stands in a file."""
    out = bytearray()
    _write(out, value)
    return bytes(out)


def _write(out: bytearray, value: Value) -> None:
    if isinstance(value, I32 | I64):
        out += varint(value.number << 1 ^ value.number >> 63)  # zigzag: small numbers of either sign are short
    elif isinstance(value, Text):
        raw = value.text.encode()
        out += varint(len(raw)) + raw
    elif isinstance(value, List):
        count = len(value.values)
        if count < 15:
            out.append(count << 4 | value.element_kind)
        else:  # there is no room for it beside the kind
            out += bytes([0xF0 | value.element_kind]) + varint(count)
        for each in value.values:
            _write(out, each)
    else:
        last = 0
        for field in value.fields:
            out.append(field.number - last << 4 | field.value.KIND)
            last = field.number
            _write(out, field.value)
        out.append(0)


def varint(number: int) -> bytes:
    """A number that is not negative, in groups of seven bits, the lowest first."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)
