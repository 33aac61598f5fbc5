"""Instructions, cells and notes of a program under construction."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from subflow_sim.script.values import Cell


@dataclass(eq=False, slots=True)
class Label:
    """A jump target in the code; `at` is -1 until the label is placed."""

    at: int = -1


@dataclass(frozen=True, slots=True)
class Note:
    """Description of a recorded step.

    Attributes:
        kind: "begin" (an initial value of the function), "read", "set", "if" (condition, 1: true), "call" or "return".
        line: line of the script, from 1.
        text: expression in the script: "ack.acked", "w.cwnd", "w.cwnd < w.ssthresh".
        source: for "set" the whole statement; otherwise the same as `text`.
    """

    kind: str
    line: int
    text: str
    source: str


@dataclass(slots=True)
class _Instruction:
    op: str
    to: Cell | int
    a: Cell | int
    b: Cell | int
    value: Label | Cell | int
    line: int
    note: int


@dataclass(slots=True)
class Emitter:
    """Collects instructions and allocates cells."""

    notes: list[Note] = field(default_factory=list)
    constants: dict[tuple[float, float], Cell] = field(default_factory=dict)
    _code: list[_Instruction] = field(default_factory=list)
    _most_locals: int = 0
    _most_temporaries: int = 0
    _locals: int = 0
    _temporaries: int = 0
    _cells: list[Cell] = field(default_factory=list)
    line: int = 1

    def emit(
        self,
        op: str,
        to: Cell | int = 0,
        a: Cell | int = 0,
        b: Cell | int = 0,
        value: Label | Cell | int = 0,
        note: int = 0,
    ) -> None:
        """Appends an instruction of the current line of the script."""
        self._code.append(_Instruction(op, to, a, b, value, self.line, note))

    @property
    def position(self) -> int:
        """Index of the next instruction."""
        return len(self._code)

    def place(self, label: Label) -> None:
        """Places the label at the next instruction."""
        label.at = self.position

    def note(self, kind: str, text: str, line: int, source: str = "") -> int:
        """Adds a note for an instruction; returns the number of the note, from 1."""
        self.notes.append(Note(kind, line, text, source or text))
        return len(self.notes)

    def constant(self, value: float) -> Cell:
        """The cell of a constant; equal constants share one cell."""
        key = (value, math.copysign(1.0, value))  # 0 and -0 differ
        if key not in self.constants:
            self.constants[key] = Cell("constant", float(value))
        return self.constants[key]

    def begin_function(self) -> None:
        """Starts a function; its local cells overlap those of other functions, because functions run one at a time."""
        self._locals = self._temporaries = 0

    def local(self) -> Cell:
        """A cell reserved until the end of the function."""
        cell = Cell("local", index=self._locals)
        self._locals += 1
        self._most_locals = max(self._most_locals, self._locals)
        self._cells.append(cell)
        return cell

    def temporary(self) -> Cell:
        """A cell reserved until the end of the statement."""
        cell = Cell("temporary", index=self._temporaries)
        self._temporaries += 1
        self._most_temporaries = max(self._most_temporaries, self._temporaries)
        self._cells.append(cell)
        return cell

    def mark(self) -> int:
        """The number of temporary cells in use, for `release`."""
        return self._temporaries

    def release(self, mark: int) -> None:
        """Frees the temporary cells allocated since the mark."""
        self._temporaries = mark

    def lay_out(self, first: int, fixed: list[Cell]) -> list[float]:
        """Assigns a slot to every cell, and returns the initial frame.

        Args:
            first: number of cells of the window, which come first in the frame.
            fixed: cells of the state and the options, in order.
        """
        frame = [0.0] * first
        for cell in (*fixed, *self.constants.values()):
            cell.slot = len(frame)
            frame += [cell.begin] * cell.size
        base = len(frame)
        for cell in self._cells:
            cell.slot = base + cell.index + (self._most_locals if cell.kind == "temporary" else 0)
        return frame + [0.0] * (self._most_locals + self._most_temporaries)

    def code(self) -> list[dict[str, str | int]]:
        """The instructions in the form that `_core.read_program` reads; valid after `lay_out`."""
        return [
            {"op": each.op, "to": _slot(each.to), "a": _slot(each.a), "b": _slot(each.b), "value": _number(each.value)}
            for each in self._code
        ]

    @property
    def lines(self) -> list[int]:
        """Line of the script for each instruction."""
        return [each.line for each in self._code]

    @property
    def noted(self) -> list[int]:
        """Number of the note for each instruction; 0: no note."""
        return [each.note for each in self._code]


def _slot(place: Cell | int) -> int:
    return place if isinstance(place, int) else place.slot


def _number(value: Label | Cell | int) -> int:
    if isinstance(value, Label):
        return value.at
    return _slot(value)
