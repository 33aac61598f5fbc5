"""Compiles the BPF object of scripts for `sim/kernel/helper.c`: ``python -m tools.kernel_image``.

The image contains what bpf(2) needs, in tables: the helper then needs no reader of ELF files, and the programs share
their functions. It is committed, because it is the same for all kernels and processors. The same compiler makes the
same bytes.
"""

from __future__ import annotations

import argparse
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "sim" / "kernel" / "controller.bpf.c"
IMAGE = ROOT / "sim" / "kernel" / "controller.image"

COMPILER = "clang-19"
"""Another release makes other instructions, which would have to pass the verifier of all kernels again."""
_FLAGS = ("-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Wextra", "-Werror")

MAGIC = 0x494B4653  # "SFKI"
PROGRAM_PREFIXES = ("struct_ops/", "syscall/")
RELOCATE_MAP, RELOCATE_KERNEL_FUNCTION, RELOCATE_CALL = range(3)

_INT, _PTR, _ARRAY, _STRUCT, _UNION, _ENUM, _TYPEDEF = 1, 2, 3, 4, 5, 6, 8
_FUNC, _FUNC_PROTO, _VAR, _DATASEC, _FLOAT, _ENUM64 = 12, 13, 14, 15, 16, 19
_SYM_OBJECT, _SYM_FUNC, _SYM_SECTION = 1, 2, 3
_CALL, _LOAD_64 = 0x85, 0x18
_PSEUDO_CALL = 1


class ObjectError(Exception):
    """The compiler made something that the image cannot hold."""


@dataclass(frozen=True, slots=True)
class _Section:
    name: str
    data: bytes
    kind: int
    target: int  # of relocations: number of the section


@dataclass(frozen=True, slots=True)
class _Symbol:
    name: str
    kind: int
    section: int
    value: int
    size: int


class _Btf:
    """The types of an object (BTF), changed in place to what kernels accept."""

    _EXTRA: Mapping[int, tuple[int, int]] = {  # bytes after the first twelve: constant, and for each element
        _INT: (4, 0), _ARRAY: (12, 0), _STRUCT: (0, 12), _UNION: (0, 12), _ENUM: (0, 8), _FUNC_PROTO: (0, 8),
        _VAR: (4, 0), _DATASEC: (0, 12), 17: (4, 0), _ENUM64: (0, 12),
    }  # fmt: skip
    _NAMED = (_STRUCT, _UNION, _ENUM, _FUNC_PROTO, _ENUM64)  # kinds whose elements begin with a name

    def __init__(self, data: bytes) -> None:
        _, _, _, length, types, types_size, strings, strings_size = struct.unpack_from("<HBBIIIII", data)
        self.types = bytearray(data[length + types : length + types + types_size])
        self.strings = data[length + strings : length + strings + strings_size]
        self.at = [0]
        place = 0
        while place < len(self.types):
            self.at.append(place)
            kind, elements = self._kind(place)
            constant, each = self._EXTRA.get(kind, (0, 0))
            place += 12 + constant + each * elements

    def _kind(self, place: int) -> tuple[int, int]:
        (info,) = struct.unpack_from("<I", self.types, place + 4)
        return info >> 24 & 31, info & 0xFFFF

    def text(self, offset: int) -> str:
        return self.strings[offset : self.strings.index(b"\0", offset)].decode()

    def of(self, number: int) -> tuple[str, int, int, int]:
        """Name, kind, number of elements, and size or type of a type."""
        name, _, size = struct.unpack_from("<III", self.types, self.at[number])
        return (self.text(name), *self._kind(self.at[number]), size)

    def elements(self, number: int) -> Iterable[tuple[str, int, int]]:
        """Name, type and offset in bits of the members of a structure."""
        for place in range(self.of(number)[2]):
            name, kind, offset = struct.unpack_from("<III", self.types, self.at[number] + 12 + 12 * place)
            yield self.text(name), kind, offset & 0xFFFFFF

    def array(self, number: int) -> tuple[int, int]:
        """Element type and length of an array."""
        element, _, length = struct.unpack_from("<III", self.types, self.at[number] + 12)
        return element, length

    def size(self, number: int) -> int:
        """Size of a type in bytes."""
        _, kind, _, size = self.of(number)
        if kind in (_INT, _STRUCT, _UNION, _ENUM, _FLOAT, _ENUM64):
            return size
        if kind == _PTR:
            return 8
        if kind == _ARRAY:
            element, length = self.array(number)
            return length * self.size(element)
        return self.size(size)

    def functions(self) -> dict[str, int]:
        """Types of the functions by name."""
        found = {self.of(number)[0]: number for number in range(1, len(self.at)) if self.of(number)[1] == _FUNC}
        return found

    def accepted(self) -> None:
        """Replaces what compilers write and kernels refuse: sections of unknown size, and functions from elsewhere."""
        an_int = next(number for number in range(1, len(self.at)) if self.of(number)[1] == _INT)
        for number in range(1, len(self.at)):
            _, kind, elements, _ = self.of(number)
            place = self.at[number]
            if kind == _DATASEC:
                struct.pack_into("<III", self.types, place, 0, _STRUCT << 24 | elements, 4)
                for element in range(elements):
                    struct.pack_into("<III", self.types, place + 12 + 12 * element, 0, an_int, 0)
            elif kind == _FUNC and elements == 2:  # BTF_FUNC_EXTERN
                struct.pack_into("<II", self.types, place + 4, _TYPEDEF << 24, an_int)
            elif kind == _VAR:
                struct.pack_into("<I", self.types, place + 12, 0)

    def written(self, more: Sequence[int]) -> tuple[bytes, dict[int, int]]:
        """The BTF with the strings that it uses, and the new offset of each string.

        Args:
            more: offsets of further strings to keep.
        """
        places = []
        for number in range(1, len(self.at)):
            place = self.at[number]
            kind, elements = self._kind(place)
            places.append(place)
            if kind in self._NAMED:
                each = self._EXTRA[kind][1]
                places += [place + 12 + each * element for element in range(elements)]
        used = sorted({struct.unpack_from("<I", self.types, place)[0] for place in places} | set(more))
        strings, moved = bytearray(b"\0"), {0: 0}
        for offset in used:
            if offset:
                moved[offset] = len(strings)
                strings += self.text(offset).encode() + b"\0"
        types = bytearray(self.types)
        for place in places:
            struct.pack_into("<I", types, place, moved[struct.unpack_from("<I", types, place)[0]])
        head = struct.pack("<HBBIIIII", 0xEB9F, 1, 0, 24, 0, len(types), len(types), len(strings))
        return head + bytes(types) + bytes(strings), moved


@dataclass(slots=True)
class _Function:
    """A function of the object: its place, and its records in the tables of the image."""

    section: int
    begin: int
    end: int
    type_id: int
    relocations: list[tuple[int, int, int]] = field(default_factory=list)
    core: list[tuple[int, int, int, int]] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)


class _Object:
    """An ELF object of clang."""

    def __init__(self, data: bytes) -> None:
        (table,) = struct.unpack_from("<Q", data, 40)
        count, names = struct.unpack_from("<HH", data, 60)
        raw = [struct.unpack_from("<IIQQQQIIQQ", data, table + 64 * number) for number in range(count)]

        def text(section: int, offset: int) -> str:
            start = raw[section][4] + offset
            return data[start : data.index(b"\0", start)].decode()

        self.sections = [_Section(text(names, one[0]), data[one[4] : one[4] + one[5]], one[1], one[7]) for one in raw]
        symbols = next(number for number, one in enumerate(raw) if one[1] == 2)
        self.symbols = []
        for name, info, _, section, value, size in struct.iter_unpack("<IBBHQQ", self.sections[symbols].data):
            self.symbols.append(_Symbol(text(raw[symbols][6], name), info & 15, section, value, size))
        self.relocations: dict[int, dict[int, _Symbol]] = {}
        for one in self.sections:
            if one.kind == 9:
                pairs = struct.iter_unpack("<QQ", one.data)
                self.relocations[one.target] = {offset: self.symbols[info >> 32] for offset, info in pairs}

    def named(self, name: str) -> _Section:
        return next(one for one in self.sections if one.name == name)


def image_of(object_file: bytes) -> bytes:
    """The image of an ELF object.

    Raises:
        ObjectError: if the object has relocations or sections of a kind that the image lacks.
    """
    elf = _Object(object_file)
    btf = _Btf(elf.named(".BTF").data)
    maps = _maps(btf)
    functions = _functions(elf, btf)
    index = {(one.section, one.begin): number for number, one in enumerate(functions)}
    kernel_functions: list[str] = []
    for one in functions:
        _relocate(elf, one, index, list(maps), kernel_functions)
    programs = [number for number, one in enumerate(functions) if _is_program(elf, one)]
    tables = _tables(elf, btf, functions, programs)
    btf.accepted()
    core = [record for one in functions for record in one.core]
    types, moved = btf.written([record[2] for record in core])

    parts: list[int] = []
    program_rows = []
    for number in programs:
        needed = _needed(functions, number)
        name = elf.sections[functions[number].section].name.partition("/")[2]
        program_rows.append(struct.pack("<16sII", name.encode()[:15], len(parts), len(needed)))
        parts += needed
    function_rows: list[bytes] = []
    relocations: list[bytes] = []
    cores: list[bytes] = []
    instructions = b""
    for one in functions:
        code = elf.sections[one.section].data[one.begin : one.end]
        row = (len(instructions) // 8, len(code) // 8, len(relocations), len(one.relocations), len(cores))
        function_rows.append(struct.pack("<8I", *row, len(one.core), one.type_id, 0))
        instructions += code
        relocations += [struct.pack("<III", *record) for record in one.relocations]
        cores += [struct.pack("<IIII", at, kind, moved[text], what) for at, kind, text, what in one.core]
    table_rows: list[bytes] = []
    member_rows: list[bytes] = []
    for name, members in tables:
        table_rows.append(struct.pack("<16sII", name.encode(), len(member_rows), len(members)))
        member_rows += [struct.pack("<24sI", member.encode(), program) for member, program in members]
    map_rows = [
        struct.pack("<16s8I", name.encode()[:15], *(attributes[key] for key in _MAP_KEYS), 0)
        for name, attributes in maps.items()
    ]
    kernel_rows = [struct.pack("<32s", name.encode()) for name in kernel_functions]
    part_rows = [struct.pack("<I", part) for part in parts]
    rows = (map_rows, kernel_rows, function_rows, program_rows, part_rows, table_rows, member_rows, relocations, cores)
    head = struct.pack("<12I", MAGIC, *(len(each) for each in rows), len(instructions) // 8, len(types))
    # The instructions come first, because they are read as words of eight bytes.
    return head + instructions + b"".join(b"".join(each) for each in rows) + types


_MAP_KEYS = ("type", "key_size", "value_size", "max_entries", "map_flags", "key", "value")


def _maps(btf: _Btf) -> dict[str, dict[str, int]]:
    found = {}
    for number in range(1, len(btf.at)):
        name, kind, elements, _ = btf.of(number)
        if kind != _DATASEC or name != ".maps":
            continue
        for element in range(elements):
            (variable,) = struct.unpack_from("<I", btf.types, btf.at[number] + 12 + 12 * element)
            map_name, _, _, declared = btf.of(variable)
            attributes = dict.fromkeys(_MAP_KEYS, 0)
            for key, member, _ in btf.elements(declared):
                pointed = btf.of(member)[3]
                if key in ("key", "value"):
                    attributes |= {key: pointed, f"{key}_size": btf.size(pointed)}
                else:
                    attributes[key] = btf.array(pointed)[1]
            found[map_name] = attributes
    return found


def _is_program(elf: _Object, function: _Function) -> bool:
    return elf.sections[function.section].name.startswith(PROGRAM_PREFIXES)


def _functions(elf: _Object, btf: _Btf) -> list[_Function]:
    types = btf.functions()
    found = sorted(
        (each.section, each.value, each.size, each.name)
        for each in elf.symbols
        if each.kind == _SYM_FUNC and each.section != 0
    )
    functions = [_Function(section, begin, begin + size, types[name]) for section, begin, size, name in found]
    for section_name, records in _core_relocations(elf, btf).items():
        section = next(number for number, one in enumerate(elf.sections) if one.name == section_name)
        for at, type_id, text, kind in records:
            owner = next(one for one in functions if one.section == section and one.begin <= at < one.end)
            owner.core.append((at - owner.begin, type_id, text, kind))
    return functions


def _core_relocations(elf: _Object, btf: _Btf) -> dict[str, list[tuple[int, int, int, int]]]:
    """Records (byte, type, text, kind) of each section, from .BTF.ext."""
    data = elf.named(".BTF.ext").data
    (length,) = struct.unpack_from("<I", data, 4)
    offset, size = struct.unpack_from("<II", data, 24)
    found: dict[str, list[tuple[int, int, int, int]]] = {}
    place, end = length + offset + 4, length + offset + size
    while size and place < end:
        name, count = struct.unpack_from("<II", data, place)
        place += 8
        found[btf.text(name)] = [struct.unpack_from("<IIII", data, place + 16 * each) for each in range(count)]
        place += 16 * count
    return found


def _relocate(
    elf: _Object,
    function: _Function,
    index: Mapping[tuple[int, int], int],
    maps: Sequence[str],
    kernel_functions: list[str],
) -> None:
    code = elf.sections[function.section].data
    moves = elf.relocations.get(function.section, {})
    place = function.begin
    while place < function.end:
        operation, registers = code[place], code[place + 1]
        (value,) = struct.unpack_from("<i", code, place + 4)
        symbol = moves.get(place)
        at = (place - function.begin) // 8
        if operation == _CALL and registers >> 4 == _PSEUDO_CALL:
            if symbol is not None and symbol.section == 0:
                if symbol.name not in kernel_functions:
                    kernel_functions.append(symbol.name)
                function.relocations.append((at, RELOCATE_KERNEL_FUNCTION, kernel_functions.index(symbol.name)))
            else:
                target = (function.section, place + 8 * (value + 1))
                if symbol is not None:
                    begin = symbol.value + 8 * (value + 1) if symbol.kind == _SYM_SECTION else symbol.value
                    target = (symbol.section, begin)
                function.relocations.append((at, RELOCATE_CALL, index[target]))
                function.calls.append(index[target])
        elif symbol is not None:
            if operation != _LOAD_64 or symbol.name not in maps:
                raise ObjectError(f"a relocation of {symbol.name or 'a section'}: must be a map or a function")
            function.relocations.append((at, RELOCATE_MAP, maps.index(symbol.name)))
        place += 16 if operation == _LOAD_64 else 8


def _needed(functions: Sequence[_Function], program: int) -> list[int]:
    """A program and all functions that it calls, directly or through others."""
    order = [program]
    for each in order:
        order += [called for called in dict.fromkeys(functions[each].calls) if called not in order]
    return order


def _tables(
    elf: _Object, btf: _Btf, functions: Sequence[_Function], programs: Sequence[int]
) -> list[tuple[str, list[tuple[str, int]]]]:
    """Each struct tcp_congestion_ops of the object, with its members and the numbers of their programs."""
    section = next((number for number, one in enumerate(elf.sections) if one.name == ".struct_ops"), None)
    if section is None:
        return []
    declared = next(number for number in range(1, len(btf.at)) if btf.of(number)[:2] == ("tcp_congestion_ops", _STRUCT))
    by_section = {functions[number].section: position for position, number in enumerate(programs)}
    found = []
    for symbol in sorted((each for each in elf.symbols if each.section == section), key=lambda each: each.value):
        if symbol.kind != _SYM_OBJECT:
            continue
        members = []
        for name, _, bits in btf.elements(declared):
            target = elf.relocations[section].get(symbol.value + bits // 8)
            if target is not None:
                members.append((name, by_section[target.section]))
        found.append((symbol.name, members))
    return found


def compiled(source: Path, *, compiler: str = COMPILER) -> bytes:
    """The image of a BPF source.

    Raises:
        ObjectError: if the compiler is missing or refuses the source.
    """
    program = shutil.which(compiler)
    if program is None:
        raise ObjectError(f"{compiler} is missing: apt-get install {compiler}")
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "made.o"
        command: list[Any] = [program, *_FLAGS, f"-I{ROOT / 'sim' / 'kernel'}", "-c", source, "-o", made]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ObjectError(f"{source.name}: {done.stderr}")
        return image_of(made.read_bytes())


def main() -> int:
    """Write the image; with --check only compare it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only compare the committed image with a new one")
    check = parser.parse_args().check
    try:
        image = compiled(SOURCE)
    except ObjectError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if check:
        return 0 if image == IMAGE.read_bytes() else 1
    IMAGE.write_bytes(image)
    sys.stdout.write(f"{IMAGE.relative_to(ROOT)}: {len(image)} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
