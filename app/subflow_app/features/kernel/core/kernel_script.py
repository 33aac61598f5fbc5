"""Scripts of controllers as the kernel's machine reads them: a struct script of `sim/kernel/machine.h`.

The lists of names are those of `machine.h`, in its order; a test compares both.
"""

from __future__ import annotations

import ast
import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from subflow_app.foundation.errors import InputError
from subflow_sim.errors import ParamError
from subflow_sim.script import Script
from subflow_sim.script.instructions import first_instructions, initial_frame, instructions

MAGIC = 0x31666253
CELLS, MOST_INSTRUCTIONS, MOST_STEPS, MOST_SUBFLOWS = 256, 4096, 8192, 8

HOOKS = ("on_start", "on_ack", "on_every_ack", "on_delivery", "on_loss", "on_recovery_exit", "on_idle")
"""Functions that the kernel calls."""

OPERATIONS = (
    *("Move", "Add", "Subtract", "Multiply", "Divide", "FloorDivide", "Remainder", "Power", "Negate"),
    *("Difference", "Minimum", "Maximum", "Absolute", "SquareRoot", "CubeRoot", "Exponential", "Logarithm"),
    *("Floor", "Ceiling", "Known", "Random", "Less", "LessEqual", "Equal", "NotEqual"),
    *("Jump", "JumpUnless", "JumpIf", "JumpUnlessLess", "JumpUnlessLessEqual", "JumpUnlessEqual", "JumpIfEqual"),
    *("Field", "ForEach", "Next", "Refer", "Item", "ItemRate", "ItemRatePerRtt", "ItemIsOwn", "ItemNumber"),
    *("Count", "TotalRate", "LargestRate", "LargestRatePerRtt", "SlowStart"),
    *("RecentMaximum", "RecentMinimum", "Average", "Return"),
)

_WHOLE, _TIME, _REAL = range(3)
_COMMON = {"srtt": (3, _TIME), "now": (5, _TIME), "inflight": (6, _WHOLE)}
_ACKNOWLEDGED = {"acked": (0, _WHOLE), "rtt": (1, _TIME), "in_recovery": (9, _WHOLE), "marked": (10, _WHOLE)}
FIELDS: Mapping[str, Mapping[str, tuple[int, int]]] = {
    "ack": {
        **(_COMMON | _ACKNOWLEDGED),
        "oldest_rtt": (2, _TIME),
        "min_rtt": (4, _TIME),
        "begins_round": (7, _WHOLE),
        "is_cwnd_limited": (8, _WHOLE),
    },
    "sample": {
        **(_COMMON | _ACKNOWLEDGED),
        "lost": (11, _WHOLE),
        "prior_inflight": (12, _WHOLE),
        "interval": (13, _TIME),
        "is_app_limited": (14, _WHOLE),
        "in_loss": (15, _WHOLE),
        "rate": (16, _REAL),
        "delivered": (17, _WHOLE),
        "prior_delivered": (18, _WHOLE),
    },
    "loss": {**_COMMON, "is_timeout": (19, _WHOLE), "is_mark": (20, _WHOLE)},
    "pause": {"now": _COMMON["now"]},
}
"""Number and kind of each field of a hook's arguments."""

ITEMS = ("cwnd", "window", "srtt", "advertised", "acked_since_loss", "acked_between_losses")
"""Fields of the siblings."""

FAILURES = (
    "",
    "division by zero",
    "a power that is not defined",
    "a square root of a negative number",
    "an exponential that is too large",
    "a logarithm of a number that is not above 0",
    "no such subflow",
    "too many steps in one call",
    "w.cwnd is not a number",
    "w.ssthresh is not a number",
    "w.rate is negative, infinite or not a number",
    "w.advertised is not finite",
    "w.ssthresh is still infinite after a loss",
)
"""Reasons for which a call fails in the kernel, by their numbers."""

_WITHOUT_RESULT = frozenset({"ForEach", "Next", "Refer", "Return", *(name for name in OPERATIONS if "Jump" in name)})
_RATE_CELL = 2

_IMPOSSIBLE = {
    "plan": "the kernel reports no monitor intervals, because it announces no packet when it leaves",
    "on_interval": "the kernel reports no monitor intervals, because it announces no packet when it leaves",
    "select": "this is a scheduler, and the kernel takes no schedulers of MPTCP from outside",
}


@dataclass(frozen=True, slots=True)
class KernelScript:
    """A script for the kernel.

    Attributes:
        word: beginning of its name in the kernel, 1 to 5 of the characters a-z and 0-9.
        blob: the bytes of its struct script.
        is_coupled: whether it reads its siblings.
        governs_rate: whether it sets the pacing rate or reads deliveries; both require Linux 6.10.
    """

    word: str
    blob: bytes
    is_coupled: bool
    governs_rate: bool


def kernel_script(script: Script, options: Mapping[str, float | bool] | None = None) -> KernelScript:
    """The script as the kernel's machine reads it.

    Args:
        script: a compiled script.
        options: values of its options; the others have their defaults.

    Raises:
        InputError: if the script needs something that the kernel lacks, with the line of each such place; or for an
            option that the script lacks.
    """
    problems = list(_problems(script))
    if problems:
        raise InputError("\n".join(f"{script.name} {problem}" for problem in problems))
    try:
        frame = initial_frame(script, options or {})
    except ParamError as error:
        raise InputError(str(error)) from error
    first = first_instructions(script)
    rows, lines, governs_rate = [], [], "on_delivery" in first
    for each in instructions(script):
        b, value = each.b, each.value
        if each.operation == "Field":
            thing, name = each.field
            value, b = FIELDS[thing][name]
        elif each.operation == "Item":
            value = ITEMS.index(each.field[1])
        rows.append(struct.pack("<4Bi", OPERATIONS.index(each.operation), each.to, each.a, b, value))
        lines.append(each.line)
        governs_rate = governs_rate or (each.to == _RATE_CELL and each.operation not in _WITHOUT_RESULT)
    entry = [first.get(name, -1) for name in HOOKS]
    head = struct.pack("<4I7iI", MAGIC, len(rows), len(frame), int(governs_rate), *entry, 0)
    cells = struct.pack(f"<{CELLS}d", *frame, *(CELLS - len(frame)) * [0.0])
    code = b"".join(rows).ljust(8 * MOST_INSTRUCTIONS, b"\0")
    blob = head + cells + code + struct.pack(f"<{len(lines)}H", *lines).ljust(2 * MOST_INSTRUCTIONS, b"\0")
    word = re.sub(r"[^a-z0-9]", "", script.name.lower())[:5] or "text"
    return KernelScript(word, blob, script.algorithm.is_coupled, governs_rate)


def _problems(script: Script) -> Iterator[str]:
    tree = ast.parse(script.text)
    lines = {node.name: node.lineno for node in tree.body if isinstance(node, ast.FunctionDef)}
    impossible = [name for name in lines if name in _IMPOSSIBLE]
    for name in impossible:
        yield f"line {lines[name]}: {name}: {_IMPOSSIBLE[name]}"
    if impossible:
        return
    for name, steps in _longest(script).items():
        if steps > MOST_STEPS:
            yield (
                f"line {lines[name]}: {name} takes up to {steps} steps with {MOST_SUBFLOWS} subflows: must be at most"
                f" {MOST_STEPS}, because the kernel does nothing else meanwhile"
            )


def _longest(script: Script) -> dict[str, int]:
    """Bound of the steps of each function: each loop runs once per subflow."""
    code = list(instructions(script))
    rounds = [1] * len(code)
    for at, each in enumerate(code):
        if each.operation == "Next":
            for inside in range(each.value, at + 1):
                rounds[inside] *= MOST_SUBFLOWS
    found: dict[str, int] = {}
    for each, times in zip(code, rounds, strict=True):
        found[each.hook.name] = found.get(each.hook.name, 0) + times
    return found
