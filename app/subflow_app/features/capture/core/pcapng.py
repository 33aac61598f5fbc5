"""Files of packets in the pcapng format: blocks of a section, written one after the other.

Source: draft-ietf-opsawg-pcapng, sections 3 and 4. Little-endian, times in nanoseconds since 1970.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import IO

_SECTION, _INTERFACE, _NAMES, _PACKET = 0x0A0D0D0A, 1, 4, 6
_BYTE_ORDER = 0x1A2B3C4D
_RAW_IP = 101  # LINKTYPE_RAW: packets begin with their IP header
_NANOSECONDS = 9  # if_tsresol: times are in 10^-9 s

_COMMENT = 1
_USER_APPLICATION = 4  # shb_userappl
_NAME, _DESCRIPTION, _RESOLUTION = 2, 3, 9  # if_name, if_description, if_tsresol
_IPV4_RECORD = 1

Option = tuple[int, bytes]


class PcapngWriter:
    """Writes one section.

    Args:
        file: open for writing bytes.
        application: what made it.
        comment: on the whole.
        interfaces: name and description of each, in the order of their numbers.
        names: of IPv4 addresses.
    """

    def __init__(
        self,
        file: IO[bytes],
        *,
        application: str,
        comment: str,
        interfaces: Sequence[tuple[str, str]],
        names: Mapping[bytes, str],
    ) -> None:
        self._file = file
        head = struct.pack("<IHHq", _BYTE_ORDER, 1, 0, -1)  # version 1.0, length not known in advance
        self._block(_SECTION, head, [(_COMMENT, comment.encode()), (_USER_APPLICATION, application.encode())])
        for name, description in interfaces:
            options = [(_NAME, name.encode()), (_DESCRIPTION, description.encode())]
            self._block(
                _INTERFACE, struct.pack("<HHI", _RAW_IP, 0, 0), [*options, (_RESOLUTION, bytes([_NANOSECONDS]))]
            )
        records = b"".join(_padded(_IPV4_RECORD, address + name.encode() + b"\0") for address, name in names.items())
        if records:
            self._block(_NAMES, records + struct.pack("<HH", 0, 0), [])

    def packet(self, interface: int, time_ns: int, captured: bytes, length: int, comment: str = "") -> None:
        """One packet.

        Args:
            interface: its number.
            time_ns: since 1970, ns.
            captured: what is kept of it, from the IP header on.
            length: of the whole packet, bytes.
            comment: on it; empty: none.
        """
        head = struct.pack("<IIIII", interface, time_ns >> 32, time_ns & 0xFFFFFFFF, len(captured), length)
        options = [(_COMMENT, comment.encode())] if comment else []
        self._block(_PACKET, head + captured + b"\0" * (-len(captured) % 4), options)

    def _block(self, kind: int, body: bytes, options: Sequence[Option]) -> None:
        if options:
            body += b"".join(_padded(*option) for option in options) + struct.pack("<HH", 0, 0)
        length = len(body) + 12
        self._file.write(struct.pack("<II", kind, length) + body + struct.pack("<I", length))


def _padded(code: int, value: bytes) -> bytes:
    """An option or a record: its code, its length and its value up to the next multiple of four bytes."""
    return struct.pack("<HH", code, len(value)) + value + b"\0" * (-len(value) % 4)
