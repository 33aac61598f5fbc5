"""Frames of pcap and pcapng files.

The reader of dpkt takes all frames for those of the first interface, and the remains of a cut file for a frame.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

from subflow_app.foundation.errors import InputError
from subflow_sim.gate import open_file

MOST_RECORD_BYTES = 16 << 20
"""Maximum size of a record, bytes. Loopback packets reach 64 KiB, and pcapng adds blocks of comments."""

_NANOS_MAGIC = (b"\xa1\xb2\x3c\x4d", b"\x4d\x3c\xb2\xa1")
_PCAPNG_MAGIC = b"\x0a\x0d\x0d\x0a"
_MAGICS = (b"\xa1\xb2\xc3\xd4", b"\xd4\xc3\xb2\xa1", *_NANOS_MAGIC, _PCAPNG_MAGIC)
_ORDERS = {b"\x1a\x2b\x3c\x4d": ">", b"\x4d\x3c\x2b\x1a": "<"}
_SECTION, _INTERFACE, _OLD_PACKET, _SIMPLE_PACKET, _PACKET = 0x0A0D0D0A, 1, 2, 3, 6
_RESOLUTION, _OFFSET = 9, 14  # options of an interface: the unit of its times, and the second at which they begin
_WATCH_EVERY = 4096  # packets between two reports of the progress


class Frame(NamedTuple):
    """A captured frame.

    Attributes:
        at_s: time of the capture, s.
        content: bytes of the frame, perhaps cut off by the snapshot length.
        link: link-layer type, such as 1 for Ethernet.
    """

    at_s: float
    content: bytes
    link: int


@dataclass(frozen=True, slots=True)
class _Interface:
    link: int
    ticks_per_s: float = 1e6
    offset_s: int = 0


class _Records:
    """Wraps a file and refuses reads above `MOST_RECORD_BYTES`, because a damaged capture may contain any length."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.tell = file.tell

    def read(self, size: int) -> bytes:
        if not 0 <= size <= MOST_RECORD_BYTES:
            raise ValueError(f"a record of {size} bytes")
        return self._file.read(size)


def looks_like_pcap(start: bytes) -> bool:
    """True if a file with these first bytes is a capture."""
    return start[:4] in _MAGICS


def frames(path: Path, watch: Callable[[float], None], damages: list[str]) -> Iterator[Frame]:
    """Yield all complete frames; a file that is cut off or damaged ends with its last complete frame.

    Args:
        path: path of the file.
        watch: called now and then with the fraction of the file that is read.
        damages: receives a sentence if the file is cut off or damaged.

    Raises:
        InputError: if the file is empty, or not a capture.
        OSError: if the file cannot be read.
    """
    with open_file(path) as file:
        start = file.read(4)
        if not start:
            raise InputError(f"{path.name} is empty")
        file.seek(0)
        size = max(1, os.fstat(file.fileno()).st_size)
        records = _Records(file)
        try:
            if not looks_like_pcap(start):
                raise ValueError("its first bytes are not those of pcap or pcapng")
            reader = _pcapng(records) if start == _PCAPNG_MAGIC else _pcap(records)
            first = next(reader)
        except (ValueError, struct.error, OSError) as error:
            raise InputError(f"{path.name} is not a readable capture: {error}") from error
        assert first is None  # the header is whole
        count = 0
        while True:
            try:
                frame = next(reader)
            except StopIteration:
                return
            except (ValueError, IndexError, struct.error) as error:
                damages.append(
                    f"the file is cut off or damaged after packet {count} ({error}): the packets before were read."
                )
                return
            assert frame is not None
            count += 1
            if count % _WATCH_EVERY == 0:
                watch(min(1.0, records.tell() / size))
            yield frame


def _pcap(records: _Records) -> Iterator[Frame | None]:
    """None after the header, then the frames of a pcap file."""
    header = records.read(24)
    order = "<" if header[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    ticks_per_s = 1e9 if header[:4] in _NANOS_MAGIC else 1e6
    link = struct.unpack(f"{order}20xI", header)[0] & 0x0FFFFFFF  # the upper bits describe the frame check sequence
    yield None
    while head := records.read(16):
        seconds, ticks, size = struct.unpack(f"{order}III4x", head)
        content = records.read(size)
        if len(content) < size:
            raise ValueError("its last packet is incomplete")
        yield Frame(seconds + ticks / ticks_per_s, content, link)


def _pcapng(records: _Records) -> Iterator[Frame | None]:
    """None after the header, then the frames of a pcapng file."""
    order = _section(records, records.read(8))
    interfaces: list[_Interface] = []
    yield None
    while head := records.read(8):
        kind, length = struct.unpack(f"{order}II", head)
        if kind == _SECTION:
            order, interfaces = _section(records, head), []
            continue
        if length < 12 or length % 4:
            raise ValueError(f"a block of {length} bytes")
        body = records.read(length - 8)
        if len(body) < length - 8:
            raise ValueError("its last block is incomplete")
        body = body[:-4]  # the length again
        if kind == _INTERFACE:
            interfaces.append(_interface(body, order))
        elif kind in (_PACKET, _OLD_PACKET):
            number, high, low, size = struct.unpack_from(f"{order}IIII", body)
            if kind == _OLD_PACKET:
                (number,) = struct.unpack_from(f"{order}H", body)
            interface = interfaces[number]
            at_s = interface.offset_s + (high << 32 | low) / interface.ticks_per_s
            yield Frame(at_s, body[20 : 20 + size], interface.link)
        elif kind == _SIMPLE_PACKET:
            raise ValueError("its packets have no times")


def _section(records: _Records, head: bytes) -> str:
    """Read the rest of a section's header, and return the byte order of the section."""
    magic = records.read(4)
    order = _ORDERS.get(magic)
    if order is None:
        raise ValueError("the byte order of a section is unknown")
    (length,) = struct.unpack(f"{order}I", head[4:])
    if length < 28 or len(records.read(length - 12)) < length - 12:
        raise ValueError("the header of a section is incomplete")
    return order


def _interface(body: bytes, order: str) -> _Interface:
    (link,) = struct.unpack_from(f"{order}H", body)
    ticks_per_s, offset_s, at = 1e6, 0, 8
    while at + 4 <= len(body):
        code, length = struct.unpack_from(f"{order}HH", body, at)
        value = body[at + 4 : at + 4 + length]
        if code == _RESOLUTION and length == 1:
            power = value[0] & 0x7F
            ticks_per_s = 2.0**power if value[0] & 0x80 else 10.0**power
        elif code == _OFFSET and length == 8:
            (offset_s,) = struct.unpack(f"{order}q", value)
        at += 4 + (length + 3) // 4 * 4
    return _Interface(link, ticks_per_s, offset_s)
