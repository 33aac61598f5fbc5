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
from subflow_sim import _core
from subflow_sim.script import Script
from subflow_sim.script.vocabulary import HOOKS as SCRIPT_HOOKS
from subflow_sim.script.vocabulary import Hook

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

_READS = {"ReadReal": "REAL", "ReadTime": "TIME", "ReadFlag": "FLAG", "ReadField": "COMPUTED"}
_ITEM_READS = {"ItemReal": "REAL", "ItemTime": "TIME", "ItemFlag": "FLAG"}
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
        frame = _core.script_frame(script.program, [(key, float(value)) for key, value in (options or {}).items()])
    except _core.CoreScenarioError as error:
        raise InputError(str(error)) from error
    rows, lines, governs_rate = [], [], script.program.entry[_number("on_delivery")] >= 0
    for hook, (operation, to, a, b, value, line) in _code(script):
        name, kind, number = _translated(hook, operation, a, b, value)
        rows.append(struct.pack("<4Bi", OPERATIONS.index(name), to, a, kind, number))
        lines.append(line)
        governs_rate = governs_rate or (to == _RATE_CELL and name not in _WITHOUT_RESULT)
    entry = [script.program.entry[_number(name)] for name in HOOKS]
    head = struct.pack("<4I7iI", MAGIC, len(rows), len(frame), int(governs_rate), *entry, 0)
    cells = struct.pack(f"<{CELLS}d", *frame, *(CELLS - len(frame)) * [0.0])
    code = b"".join(rows).ljust(8 * MOST_INSTRUCTIONS, b"\0")
    blob = head + cells + code + struct.pack(f"<{len(lines)}H", *lines).ljust(2 * MOST_INSTRUCTIONS, b"\0")
    word = re.sub(r"[^a-z0-9]", "", script.name.lower())[:5] or "text"
    return KernelScript(word, blob, script.algorithm.is_coupled, governs_rate)


def _number(hook: str) -> int:
    return next(number for number, each in enumerate(SCRIPT_HOOKS) if each.name == hook)


def _code(script: Script) -> Iterator[tuple[Hook, tuple[str, int, int, int, int, int]]]:
    """Each instruction with the function that it belongs to."""
    begins = {entry: SCRIPT_HOOKS[number] for number, entry in enumerate(script.program.entry) if entry >= 0}
    hook = SCRIPT_HOOKS[0]
    for at, instruction in enumerate(script.program.code):
        hook = begins.get(at, hook)
        yield hook, instruction


def _translated(hook: Hook, operation: str, a: int, b: int, value: int) -> tuple[str, int, int]:
    """Operation, cell b or kind of a field, and value of an instruction for the kernel."""
    if operation in _READS:
        thing = hook.parameters[1 + a][1]
        number, kind = FIELDS[thing][_field(thing, _READS[operation], value)]
        return "Field", kind, number
    if operation in _ITEM_READS:
        return "Item", b, ITEMS.index(_field("sibling", _ITEM_READS[operation], value))
    return operation, b, value


def _field(thing: str, kind: str, place: int) -> str:
    """Name of a field of the core."""
    return next(
        each.name
        for each in _core.script_fields()
        if (each.object, each.kind.name, each.place) == (thing, kind, place)
    )


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
    code = list(_code(script))
    rounds = [1] * len(code)
    for at, (_, (operation, _, _, _, value, _)) in enumerate(code):
        if operation == "Next":
            for inside in range(value, at + 1):
                rounds[inside] *= MOST_SUBFLOWS
    found: dict[str, int] = {}
    for (hook, _), times in zip(code, rounds, strict=True):
        found[hook.name] = found.get(hook.name, 0) + times
    return found
