"""Loads BPF images (tools/kernel_image.py) of the kind "syscall" for tests, as root, by bpf(2) alone."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tools.kernel_image import MAGIC

_SYSCALL = {"x86_64": 321, "aarch64": 280}
_MAP_CREATE, _LOOKUP, _UPDATE, _PROGRAM_LOAD, _TEST_RUN, _BTF_LOAD = 0, 1, 2, 5, 10, 18
_TYPE_SYSCALL, _SLEEPABLE = 31, 1 << 4
_KIND_FUNCTION = 12

_libc = ctypes.CDLL(None, use_errno=True)


def _bpf(command: int, attributes: bytes) -> int:
    buffer = ctypes.create_string_buffer(attributes, max(len(attributes), 152))
    made: int = _libc.syscall(_SYSCALL[os.uname().machine], command, buffer, len(buffer))
    if made < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return made


class BpfProgram:
    """The first program of an image.

    Raises:
        OSError: if the kernel refuses it; the text ends with the verifier's message.
    """

    def __init__(self, image: bytes) -> None:
        magic, *counts, codes, types = struct.unpack_from("<12I", image)
        assert magic == MAGIC
        place = 48 + 8 * codes
        sizes = (48, 32, 32, 24, 4, 24, 28, 12, 16)
        tables = []
        for size, count in zip(sizes, counts, strict=True):
            tables.append([image[place + size * number : place + size * (number + 1)] for number in range(count)])
            place += size * count
        maps, kernel_functions, functions, programs, parts, _, _, relocations, cores = tables
        self._open: list[int] = []
        self._btf = self._kept(_BTF_LOAD, self._btf_attributes(image[place : place + types]))
        self.maps: dict[str, tuple[int, int]] = {}
        for row in maps:
            name, kind, key, value, most, flags, key_type, value_type, _ = struct.unpack("<16s8I", row)
            create = struct.pack(
                "<7I16s4I", kind, key, value, most, flags, 0, 0, name, 0, self._btf, key_type, value_type
            )
            self.maps[name.rstrip(b"\0").decode()] = self._kept(_MAP_CREATE, create), value
        descriptors = [descriptor for descriptor, _ in self.maps.values()]
        numbers = [_kernel_function(row.rstrip(b"\0").decode()) for row in kernel_functions]
        _, first, count = struct.unpack("<16sII", programs[0])
        chosen = [struct.unpack("<I", parts[first + each])[0] for each in range(count)]
        rows = {number: struct.unpack("<8I", functions[number]) for number in chosen}
        begins: dict[int, int] = {}
        size = 0
        for number in chosen:
            begins[number] = size
            size += rows[number][1]
        code, infos, core = bytearray(), b"", b""
        for number in chosen:
            at, length, moved, moves, related, relateds, type_id, _ = rows[number]
            code += image[48 + 8 * at : 48 + 8 * (at + length)]
            infos += struct.pack("<II", begins[number], type_id)
            for each in range(moves):
                inside, kind, index = struct.unpack("<III", relocations[moved + each])
                where = begins[number] + inside
                source, value = {
                    0: (1, descriptors[index] if kind == 0 else 0),
                    1: (2, numbers[index] if kind == 1 else 0),
                    2: (1, begins.get(index, 0) - where - 1),
                }[kind]
                code[8 * where + 1] = code[8 * where + 1] & 0x0F | source << 4
                if kind == 1:
                    code[8 * where + 2 : 8 * where + 4] = b"\0\0"
                struct.pack_into("<i", code, 8 * where + 4, value)
            for each in range(relateds):
                byte, *rest = struct.unpack("<4I", cores[related + each])
                core += struct.pack("<4I", byte + 8 * begins[number], *rest)
        self.program = self._load(bytes(code), infos, core)

    def _kept(self, command: int, attributes: bytes) -> int:
        self._open.append(_bpf(command, attributes))
        return self._open[-1]

    def _btf_attributes(self, types: bytes) -> bytes:
        self._types = ctypes.create_string_buffer(types, len(types))
        return struct.pack("<QQIII", ctypes.addressof(self._types), 0, len(types), 0, 0)

    def _load(self, code: bytes, infos: bytes, core: bytes) -> int:
        buffers = [ctypes.create_string_buffer(each, max(len(each), 1)) for each in (code, infos, core, b"GPL\0")]
        places = [ctypes.addressof(each) for each in buffers]
        log = ctypes.create_string_buffer(1 << 22)
        attributes = bytearray(152)
        head = (_TYPE_SYSCALL, len(code) // 8, places[0], places[3], 1, len(log), ctypes.addressof(log), 0, _SLEEPABLE)
        struct.pack_into("<IIQQIIQII", attributes, 0, *head)
        struct.pack_into("<IIQI", attributes, 72, self._btf, 8, places[1], len(infos) // 8)
        struct.pack_into("<I", attributes, 116, len(core) // 16)
        struct.pack_into("<QI", attributes, 128, places[2], 16)
        try:
            return self._kept(_PROGRAM_LOAD, bytes(attributes))
        except OSError as error:
            told = log.value.decode(errors="replace").strip()
            raise OSError(error.errno, f"{error.strerror}: {told[-2000:]}") from None

    def write(self, name: str, value: bytes) -> None:
        """Stores a value of the size of the map's values."""
        descriptor, size = self.maps[name]
        assert len(value) == size, (name, len(value), size)
        self._element(_UPDATE, descriptor, ctypes.create_string_buffer(value, size))

    def read(self, name: str) -> bytes:
        """The value of a map."""
        descriptor, size = self.maps[name]
        buffer = ctypes.create_string_buffer(size)
        self._element(_LOOKUP, descriptor, buffer)
        return buffer.raw

    @staticmethod
    def _element(command: int, descriptor: int, value: ctypes.Array[ctypes.c_char]) -> None:
        key = ctypes.create_string_buffer(4)
        _bpf(command, struct.pack("<IIQQQ", descriptor, 0, ctypes.addressof(key), ctypes.addressof(value), 0))

    def run(self) -> None:
        """Runs the program once."""
        _bpf(_TEST_RUN, struct.pack("<4I", self.program, 0, 0, 0))

    def close(self) -> None:
        """Removes the program and its maps from the kernel."""
        for descriptor in self._open:
            with suppress(OSError):
                os.close(descriptor)


@contextmanager
def bpf_program(image: bytes) -> Iterator[BpfProgram]:
    """A loaded program, which is removed after the block."""
    program = BpfProgram(image)
    try:
        yield program
    finally:
        program.close()


def _kernel_function(name: str) -> int:
    """Number of a function in the types of the kernel."""
    with open("/sys/kernel/btf/vmlinux", "rb") as file:  # noqa: PTH123 - its size is not that of the content
        data = file.read()
    _, _, _, head, types, size, strings, _ = struct.unpack_from("<HBBIIIII", data)
    place, number = head + types, 0
    extra = {1: (4, 0), 3: (12, 0), 4: (0, 12), 5: (0, 12), 6: (0, 8), 13: (0, 8), 14: (4, 0), 15: (0, 12), 17: (4, 0)}
    while place < head + types + size:
        number += 1
        text, info = struct.unpack_from("<II", data, place)
        kind, elements = info >> 24 & 31, info & 0xFFFF
        start = head + strings + text
        if kind == _KIND_FUNCTION and data[start : start + len(name) + 1] == name.encode() + b"\0":
            return number
        constant, each = extra.get(kind, (0, 12 if kind == 19 else 0))
        place += 12 + constant + each * elements
    raise OSError(2, f"the kernel has no function {name}")
