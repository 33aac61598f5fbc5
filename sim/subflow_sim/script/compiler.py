"""Compiles the text of a script to a program for the core's virtual machine.

The compiler reads a script up to four times, until the units of its state are known, because the unit of `my.base`
follows from assignments that may appear further down.
"""

from __future__ import annotations

import ast
import re
import threading
import warnings
from dataclasses import asdict, dataclass
from functools import lru_cache

from subflow_sim import _core
from subflow_sim.params import Algorithm, Rule
from subflow_sim.scenario_model import ScriptKind
from subflow_sim.script.emitter import Emitter
from subflow_sim.script.functions import Functions
from subflow_sim.script.header import Header, hooks_of, read_header
from subflow_sim.script.problem import Problems, ScriptError, ScriptProblem
from subflow_sim.script.values import Cell, Learned, Local, Number
from subflow_sim.script.vocabulary import OBJECTS

__all__ = ["MAX_SCRIPT_BYTES", "Script", "ScriptKind", "check_script", "compile_script", "kind_of"]

MAX_SCRIPT_BYTES = 64_000
"""Size limit of a script's text, bytes."""

_MOST_NODES = 20_000
_TURNS = re.compile("[\u202a-\u202e\u2066-\u2069]")
_LONG = 5_000  # characters; a shorter text cannot exceed the node limit
_MOST_READINGS = 4
_HOOK_NUMBERS = {name: number for number, name in enumerate(_core.script_hooks())}
_warnings_off = threading.Lock()


@dataclass(frozen=True, slots=True)
class Script:
    """A compiled controller or scheduler written as text.

    Attributes:
        name: name in the scenario.
        kind: "controller" or "scheduler".
        text: source text.
        algorithm: name, summary, source and options, for catalogues and forms.
        program: program for the core.
    """

    name: str
    kind: ScriptKind
    text: str
    algorithm: Algorithm
    program: _core.ScriptProgram


@lru_cache(maxsize=256)  # more than a scenario may contain
def compile_script(text: str, name: str, kind: ScriptKind) -> Script:
    """Compiles a script.

    Args:
        text: content of the script's file.
        name: name in the scenario.
        kind: "controller" or "scheduler".

    Raises:
        ScriptError: if the script has problems; the error contains all of them.
    """
    return _script(text, name, kind, read_script(text, kind))


def read_script(text: str, kind: ScriptKind) -> Reading:
    """Parses and analyses a script.

    Raises:
        ScriptError: if the script has problems; the error contains all of them.
    """
    problems = Problems(text)
    tree = _parsed(text, problems)
    problems.raise_if_any()
    assert tree is not None
    try:
        reading = _compiled(text, tree, kind, problems, Learned())
        for _ in range(_MOST_READINGS - 1):
            if reading.functions.learning == reading.functions.learned:
                break
            problems = Problems(text)
            reading = _compiled(text, tree, kind, problems, reading.functions.learning)
    except RecursionError:
        problems.add_at(1, 1, 2, "an expression is nested too deep", "shorter expressions, by way of names")
        problems.raise_if_any()
        raise
    problems.raise_if_any()
    return reading


def check_script(text: str, kind: ScriptKind | None = None) -> tuple[ScriptProblem, ...]:
    """The problems of a script, in the order of the text; if `kind` is None, `kind_of` infers it."""
    try:
        compile_script(text, "script", kind or kind_of(text))
    except ScriptError as error:
        return error.problems
    return ()


def kind_of(text: str) -> ScriptKind:
    """The kind of a script: a scheduler if it defines a function `select`, otherwise a controller."""
    try:
        tree = _parsed(text, Problems(text))
    except RecursionError:
        tree = None
    names = [each.name for each in tree.body if isinstance(each, ast.FunctionDef)] if tree is not None else []
    return "scheduler" if "select" in names else "controller"


def _parsed(text: str, problems: Problems) -> ast.Module | None:
    """The syntax tree of a text; None after reporting a problem."""
    if len(text.encode(errors="replace")) > MAX_SCRIPT_BYTES:
        problems.add_at(1, 1, 2, "the script is too long", f"at most {MAX_SCRIPT_BYTES // 1000} kB")
        return None
    if "\0" in text:
        problems.add_at(1, 1, 2, "this is not the text of a script", "text without null characters")
        return None
    turned = _TURNS.search(text)
    if turned is not None:
        line, column = text.count("\n", 0, turned.start()) + 1, turned.start() - text.rfind("\n", 0, turned.start())
        message = f"U+{ord(turned[0]):04X} turns the direction of writing: a reader sees another script than runs"
        problems.add_at(line, column, column + 1, message, "text without such characters")
        return None
    try:
        # Without the filter, Python prints warnings about suspicious code on the terminal.
        with _warnings_off, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except SyntaxError as error:
        line, column = error.lineno or 1, error.offset or 1
        message = f"this is not Python's syntax: {error.msg}"
        problems.add_at(line, max(column, 1), max(column, 1) + 1, message)
        return None
    except (ValueError, MemoryError, RecursionError, UnicodeError):
        problems.add_at(1, 1, 2, "it is nested too deep", "shorter expressions, by way of names")
        return None
    if len(text) > _LONG and sum(1 for _ in ast.walk(tree)) > _MOST_NODES:
        problems.add_at(1, 1, 2, "the script is too long", "shorter functions")
        return None
    return tree


@dataclass(frozen=True, slots=True)
class Reading:
    """A compiled script whose cells have no addresses yet.

    Attributes:
        emitter: emitted instructions.
        header: content of the module level.
        entry: first instruction of each function.
        begun: values recorded when a function begins, as (function, name, cell).
        locals: local names of each function.
        functions: the function compiler, with the units it inferred.
    """

    emitter: Emitter
    header: Header
    entry: dict[str, int]
    begun: list[tuple[str, str, Cell]]
    locals: dict[str, dict[str, Local]]
    functions: Functions

    @property
    def learning(self) -> Learned:
        """Properties of the state inferred by this reading."""
        return self.functions.learning


def _compiled(text: str, tree: ast.Module, kind: ScriptKind, problems: Problems, learned: Learned) -> Reading:
    emitter = Emitter()
    header = read_header(tree, kind, problems, emitter)
    functions = Functions(text, header, problems, emitter, learned)
    window = [Cell("window", slot=slot) for slot in range(len(OBJECTS["w"]))]
    functions.window = {field.name: cell for field, cell in zip(OBJECTS["w"], window, strict=True)}
    entry: dict[str, int] = {}
    begun: list[tuple[str, str, Cell]] = []
    locals_: dict[str, dict[str, Local]] = {}
    hooks = hooks_of(kind)
    for name, node in header.hooks.items():
        entry[name] = functions.compile(node, hooks[name])
        begun += [(name, what, cell) for what, cell in functions.begun.items()]
        locals_[name] = functions.scope.names
    for helper in header.helpers.values():
        _check_helper(helper, problems)
    return Reading(emitter, header, entry, begun, locals_, functions)


def _named(names: dict[str, Local]) -> list[tuple[str, Cell]]:
    return [(name, each.value.cell) for name, each in names.items() if name and isinstance(each.value, Number)]


def _check_helper(helper: ast.FunctionDef, problems: Problems) -> None:
    given = [each.arg for each in helper.args.args]
    for position, name in enumerate(given):
        if name in given[:position]:
            problems.add(helper, f"{helper.name} has two parameters {name}", "each name once")


def _script(text: str, name: str, kind: ScriptKind, reading: Reading) -> Script:
    emitter, header, functions = reading.emitter, reading.header, reading.functions
    states = [each.cell for each in header.states.values()]
    options = list(header.options.values())
    notes = [(hook, emitter.note("begin", what, header.hooks[hook].lineno), cell) for hook, what, cell in reading.begun]
    frame = emitter.lay_out(len(OBJECTS["w"]), [*states, *(each.cell for each in options)])
    for state in header.states.values():
        _begin_filter(frame, state.cell, state.filter)
    if len(frame) > _core.SCRIPT_MOST_CELLS or emitter.position > _core.SCRIPT_MOST_INSTRUCTIONS:
        message = "the script is too long for the machine"
        raise ScriptError([ScriptProblem(1, 1, 2, message, "fewer names and shorter functions")])
    every_hook = len(_HOOK_NUMBERS)
    cells = [
        *((f"w.{field}", cell, every_hook) for field, cell in functions.window.items() if kind == "controller"),
        *((f"{group}.{each}", state.cell, every_hook) for (group, each), state in header.states.items()),
        *((option.param.key, option.cell, every_hook) for option in options),
        *((each, cell, _HOOK_NUMBERS[hook]) for hook, names in reading.locals.items() for each, cell in _named(names)),
    ]
    is_coupled = functions.uses_siblings and kind == "controller"
    program = _core.read_program(
        {
            "name": name,
            "text": text,
            "told": [asdict(each) for each in emitter.notes],
            "is_coupled": is_coupled,
            "code": emitter.code(),
            "lines": emitter.lines,
            "notes": emitter.noted,
            "frame": frame,
            "options": [{"key": each.param.key, "cell": each.cell.slot} for each in options],
            "names": [{"name": each, "cell": cell.slot, "hook": hook} for each, cell, hook in cells],
            "kept": [float(begin) for _, begin in header.kept.values()],
            "entry": [reading.entry.get(hook, -1) for hook in _HOOK_NUMBERS],
            "begins": [
                [{"note": note, "cell": cell.slot} for at, note, cell in notes if at == hook] for hook in _HOOK_NUMBERS
            ],
            "is_work_conserving": header.settings.get("work_conserving", False),
            "retransmits_when_blocked": header.settings.get("opportunistic_retransmission", False),
            "penalises": header.settings.get("penalisation", False),
        }
    )
    algorithm = Algorithm(
        name=name,
        summary=header.summary or f"Written as text: {name}",
        source=header.source,
        options=tuple(each.param for each in options),
        is_coupled=is_coupled,
        rules=tuple(Rule(hook, "", name, ()) for hook in reading.entry),
    )
    return Script(name, kind, text, algorithm, program)


def _begin_filter(frame: list[float], cell: Cell, kind: str) -> None:
    """Empties a filter: sets to 0 the times of a maximum or minimum, or the mean and the flag of an average."""
    if kind in ("maximum", "minimum"):
        for place in range(cell.slot + 1, cell.slot + cell.size, 2):
            frame[place] = 0.0
    elif kind == "average":
        frame[cell.slot] = frame[cell.slot + 1] = 0.0
