"""What expressions of a script stand for while it is compiled."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, TypeAlias

from subflow_sim.script.vocabulary import Unit


@dataclass(eq=False, slots=True)
class Cell:
    """A place in the machine's frame; which one is known when the program is put together.

    Attributes:
        kind: what it is for, which says where it lies.
        begin: what is in it when a subflow begins.
        size: cells, of filters more than one.
        slot: its number in the frame, -1 before that is known.
    """

    kind: Literal["window", "state", "option", "constant", "local", "temporary"]
    begin: float = 0.0
    size: int = 1
    slot: int = -1
    index: int = 0


@dataclass(frozen=True, slots=True)
class Number:
    """A number or a flag in a cell.

    Attributes:
        cell: where it is.
        unit: powers of a second.
        is_flag: True or False.
        is_clock: a time in whole nanoseconds, as the simulator has them.
        constant: its value, if it is known already.
    """

    cell: Cell
    unit: Unit = None
    is_flag: bool = False
    is_clock: bool = False
    constant: float | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """A subflow: that of a loop, or the one whose number is in a cell.

    Attributes:
        kind: "sibling" or "subflow".
        place: number of the loop (2: the own subflow), or the cell.
    """

    kind: str
    place: int | Cell


@dataclass(frozen=True, slots=True)
class Thing:
    """An object that a hook is given: "ack", "w".

    Attributes:
        kind: key of `OBJECTS`.
        index: its position among the objects of the hook; -1: the window.
    """

    kind: str
    index: int


@dataclass(frozen=True, slots=True)
class Collection:
    """All siblings, or all subflows."""

    kind: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What only `return` takes: `wait`, `now`, or an interval."""

    kind: Literal["wait", "now", "interval"]
    length: Number | None = None
    min_packets: Number | None = None
    tag: Number | None = None


@dataclass(frozen=True, slots=True)
class Wrong:
    """Something that is wrong, which the report says already."""


Value: TypeAlias = Number | Item | Thing | Collection | Answer | Wrong

WRONG = Wrong()


@dataclass(slots=True)
class State:
    """A number that a script remembers.

    Attributes:
        cell: where it is, the first of a filter's cells.
        filter: what feeds it; empty: assignments.
        over: of a filter, the cell of its window or weight.
        unit: powers of a second, once it is known.
        is_flag: True or False.
        is_clock: as of `Number`.
    """

    cell: Cell
    filter: Literal["", "maximum", "minimum", "average"] = ""
    over: Cell | None = None
    unit: Unit = None
    is_flag: bool = False
    is_clock: bool = True


@dataclass(slots=True)
class Local:
    """A name that a function has given to something."""

    value: Number | Item
    line: int
    is_used: bool = False


@dataclass(slots=True)
class Learned:
    """What the first reading of a script tells the second of its state: units, and which are whole nanoseconds."""

    units: dict[str, Fraction] = field(default_factory=dict)
    not_clocks: set[str] = field(default_factory=set)
