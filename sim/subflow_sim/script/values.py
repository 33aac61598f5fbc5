"""Values of a script's expressions during compilation."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, TypeAlias

from subflow_sim.script.vocabulary import Unit


@dataclass(eq=False, slots=True)
class Cell:
    """A place in the frame of the virtual machine; the final layout assigns its slot.

    Attributes:
        kind: purpose of the cell, which determines its region of the frame.
        begin: initial value at the start of a subflow.
        size: number of cells; filters need more than one.
        slot: position in the frame; -1 before the layout.
        index: position among the local or temporary cells of a function.
    """

    kind: Literal["window", "state", "option", "constant", "local", "temporary"]
    begin: float = 0.0
    size: int = 1
    slot: int = -1
    index: int = 0


@dataclass(frozen=True, slots=True)
class Number:
    """A number or flag in a cell.

    Attributes:
        cell: cell of the value.
        unit: unit as a power of a second; None: a literal or a value of unknown unit, which takes the unit of the other
            operand.
        is_flag: whether the value is True or False.
        is_clock: whether the value is a time in whole nanoseconds, as in the simulator.
        constant: the value if known at compilation; otherwise None.
    """

    cell: Cell
    unit: Unit = None
    is_flag: bool = False
    is_clock: bool = False
    constant: float | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """A subflow: the current subflow of a loop, or the subflow whose number is in a cell.

    Attributes:
        kind: "sibling" or "subflow".
        place: index of the loop (2: the subflow of the controller), or the cell.
    """

    kind: str
    place: int | Cell


@dataclass(frozen=True, slots=True)
class Thing:
    """An object parameter of a hook, such as "ack" or "w".

    Attributes:
        kind: key of `OBJECTS`.
        index: position among the objects of the hook; -1: the window.
    """

    kind: str
    index: int


@dataclass(frozen=True, slots=True)
class Collection:
    """All siblings, or all subflows; `kind` is "siblings" or "subflows"."""

    kind: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A value that only `return` accepts: `wait`, `now`, or an interval."""

    kind: Literal["wait", "now", "interval"]
    length: Number | None = None
    min_packets: Number | None = None
    tag: Number | None = None


@dataclass(frozen=True, slots=True)
class Wrong:
    """An invalid value whose problem is already reported."""


Value: TypeAlias = Number | Item | Thing | Collection | Answer | Wrong

WRONG = Wrong()


@dataclass(slots=True)
class State:
    """A state variable of a script.

    Attributes:
        cell: cell of the value; for a filter its first cell.
        filter: kind of the filter; empty for assigned values.
        over: for a filter, the cell of its window or weight; otherwise None.
        unit: unit as a power of a second; None until known.
        is_flag: whether the value is True or False.
        is_clock: as in `Number`.
    """

    cell: Cell
    filter: Literal["", "maximum", "minimum", "average"] = ""
    over: Cell | None = None
    unit: Unit = None
    is_flag: bool = False
    is_clock: bool = True


@dataclass(slots=True)
class Local:
    """A local name of a function, with the line of its last assignment."""

    value: Number | Item
    line: int
    is_used: bool = False


@dataclass(slots=True)
class Learned:
    """Properties of a script's state inferred by one reading for the next.

    Attributes:
        units: unit of each value as a power of a second, by name, for example "my.base".
        not_clocks: names of the values that are not times in whole nanoseconds.
    """

    units: dict[str, Fraction] = field(default_factory=dict)
    not_clocks: set[str] = field(default_factory=set)
