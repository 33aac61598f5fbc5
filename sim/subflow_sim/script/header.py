"""The module level of a script: title, constants, options, state and functions."""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass, field

from subflow_sim import _core
from subflow_sim.parameter import Param
from subflow_sim.plain_text import did_you_mean, either
from subflow_sim.scenario_model import ScriptKind
from subflow_sim.script.emitter import Emitter
from subflow_sim.script.problem import Problems
from subflow_sim.script.values import Cell, State
from subflow_sim.script.vocabulary import DECLARATIONS, FUNCTIONS, HOOKS, NAMED_NUMBERS, SETTINGS, UNITS, Hook
from subflow_sim.units import Dimension

_MOST_OPTIONS = 32
# Names that a script's options must not have: the key for the algorithm's name, and the option of learning controllers.
_TAKEN = ("name", "policy")
_MOST_STATE_CELLS = 96
_FILTER_CELLS = {"maximum": 6, "minimum": 6, "average": 2}
_FILTERS = {"windowed_max": "maximum", "windowed_min": "minimum", "ewma": "average"}
_RESERVED = {each.name for each in (*FUNCTIONS, *DECLARATIONS)} | {"wait", "now", *NAMED_NUMBERS}
_LARGEST = 1e12


@dataclass(slots=True)
class OptionCell:
    """An option of a script, with the cell and the unit of its value."""

    param: Param
    cell: Cell
    unit: str
    is_flag: bool


@dataclass(slots=True)
class Header:
    """Content of the module level.

    Attributes:
        summary: the title; without a title, the first line of the docstring.
        source: RFC or paper; may be empty.
        settings: settings of a scheduler, by name.
        constants: numbers by name; flags are True or False.
        options: options by name.
        groups: kind of each group of values, "state" or "per_subflow", by name.
        states: states by group and name.
        kept: position and initial value of a scheduler's values per subflow, by group and name.
        helpers: functions that consist of one return statement.
        hooks: functions called by the simulator.
    """

    summary: str = ""
    source: str = ""
    settings: dict[str, bool] = field(default_factory=dict)
    constants: dict[str, float | bool] = field(default_factory=dict)
    options: dict[str, OptionCell] = field(default_factory=dict)
    groups: dict[str, str] = field(default_factory=dict)
    states: dict[tuple[str, str], State] = field(default_factory=dict)
    kept: dict[tuple[str, str], tuple[int, float | bool]] = field(default_factory=dict)
    helpers: dict[str, ast.FunctionDef] = field(default_factory=dict)
    hooks: dict[str, ast.FunctionDef] = field(default_factory=dict)


def hooks_of(kind: ScriptKind) -> dict[str, Hook]:
    """The hooks that scripts of a kind may have, by name."""
    return {each.name: each for each in HOOKS if each.kind == kind}


def read_header(tree: ast.Module, kind: ScriptKind, problems: Problems, emitter: Emitter) -> Header:
    """Reads the module level, and reports its problems."""
    return _Reader(kind, problems, emitter).read(tree)


class _Reader:
    def __init__(self, kind: ScriptKind, problems: Problems, emitter: Emitter) -> None:
        self._kind: ScriptKind = kind
        self._problems = problems
        self._emitter = emitter
        self._header = Header()
        self._names: set[str] = set()

    def read(self, tree: ast.Module) -> Header:
        docstring = ast.get_docstring(tree)
        title = ""
        for position, each in enumerate(tree.body):
            if isinstance(each, ast.FunctionDef):
                self._read_function(each)
            elif isinstance(each, ast.Assign) and len(each.targets) == 1 and isinstance(each.targets[0], ast.Name):
                title = self._read_assignment(each.targets[0], each.value) or title
            elif position == 0 and docstring is not None:
                continue
            else:
                allowed = "a docstring, NAME = a constant, option(...), state(...), and functions"
                self._problems.add(each, f"{_kind_of_statement(each)} has no place outside a function", allowed)
        first = docstring.strip().splitlines()[0].strip() if docstring and docstring.strip() else ""
        self._header.summary = title or first.rstrip(".")
        hooks = hooks_of(self._kind)
        if not self._header.hooks and not self._problems.found:
            names = ["select"] if self._kind == "scheduler" else ["on_ack", "on_delivery", "plan"]
            self._problems.add_at(1, 1, 2, "it has no function that the simulator calls", either(names))
        self._check_hooks(hooks)
        return self._header

    def _check_hooks(self, hooks: dict[str, Hook]) -> None:
        found = self._header.hooks
        if self._kind != "controller" or not found or self._problems.found:
            return
        if not {"on_ack", "on_every_ack", "on_delivery", "plan"} & found.keys():
            node = next(iter(found.values()))
            self._problems.add(node, "nothing would ever make the window grow", "on_ack, on_delivery or plan besides")
        if ("plan" in found) != ("on_interval" in found):
            missing = "on_interval" if "plan" in found else "plan"
            node = found["plan"] if "plan" in found else found["on_interval"]
            self._problems.add(node, f"{node.name} works together with {missing}", f"a function {missing} besides")

    # ---- functions ----

    def _read_function(self, node: ast.FunctionDef) -> None:
        self._take_name(node, node.name, is_function=True)
        arguments = node.args
        extra = arguments.posonlyargs or arguments.kwonlyargs or arguments.vararg or arguments.kwarg
        if extra or arguments.defaults or node.decorator_list:
            self._problems.add(node, "plain parameters only: no defaults, no *, no decorators", "")
        hooks = hooks_of(self._kind)
        if node.name in hooks:
            self._header.hooks[node.name] = node
            return
        others = {each.name for each in HOOKS} - hooks.keys()
        if node.name in others:
            other = "a scheduler" if self._kind == "controller" else "a controller"
            self._problems.add(node, f"{node.name} is a function of {other}", either(list(hooks)))
            return
        if node.name.startswith("on_"):
            hint = did_you_mean(node.name, list(hooks))
            self._problems.add(node, f"the simulator calls no {node.name}{hint}", either(list(hooks)))
            return
        body = [each for each in node.body if not _is_docstring(each)]
        if len(body) != 1 or not isinstance(body[0], ast.Return) or body[0].value is None:
            allowed = "def name(...): return expression"
            self._problems.add(
                node, f"{node.name} is more than one return, and the simulator does not call it", allowed
            )
            return
        self._header.helpers[node.name] = node

    # ---- assignments ----

    def _read_assignment(self, target: ast.Name, value: ast.expr) -> str:
        name = target.id
        if name in SETTINGS:
            return self._read_setting(name, value)
        self._take_name(target, name)
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            match value.func.id:
                case "option":
                    self._read_option(name, value)
                    return ""
                case "state":
                    self._read_state(name, value)
                    return ""
                case "per_subflow":
                    self._read_kept(name, value)
                    return ""
        found = self.constant(value)
        if found is not None:
            self._header.constants[name] = found
        return ""

    def _read_setting(self, name: str, value: ast.expr) -> str:
        kind, of, _ = SETTINGS[name]
        if of is not None and of != self._kind:
            self._problems.add(value, f"{name} is a setting of a {of}", "")
            return ""
        given = value.value if isinstance(value, ast.Constant) else None
        if not isinstance(given, kind):
            self._problems.add(value, f"{name} is {'text' if kind is str else 'True or False'}", "")
            return ""
        if isinstance(given, str):
            is_missing = not given.strip() and name != "source"
            if is_missing or not given.isprintable() or len(given) > 200:
                self._problems.add(value, f"{name} is one line of at most 200 characters", "")
            elif name == "source":
                self._header.source = given
            else:
                return given
        elif isinstance(given, bool):
            self._header.settings[name] = given
        return ""

    def _read_option(self, name: str, call: ast.Call) -> None:
        if len(call.args) != 1:
            self._problems.add(call, "an option has one default", 'option(2, min=0, max=10, unit="pkt", help="...")')
            return
        default = self.constant(call.args[0])
        given: dict[str, float | bool | str] = {}
        for keyword in call.keywords:
            if keyword.arg in ("unit", "help"):
                text = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
                if not isinstance(text, str) or not text.isprintable() or len(text) > 300:
                    self._problems.add(keyword.value, f"{keyword.arg} is text in quotes, on one line", "")
                    continue
                given[keyword.arg] = text
            elif keyword.arg in ("min", "max"):
                bound = self.constant(keyword.value)
                if bound is not None:
                    given[keyword.arg] = float(bound)
            else:
                hint = did_you_mean(keyword.arg or "", ["min", "max", "unit", "help"])
                self._problems.add(keyword, f'an option has no "{keyword.arg}"{hint}', "min, max, unit, help")
        if default is None:
            return
        unit = str(given.get("unit", ""))
        if unit not in UNITS:
            self._problems.add(call, f'unknown unit "{unit[:20]}"', either([each for each in UNITS if each]))
            return
        if len(self._header.options) >= _MOST_OPTIONS:
            self._problems.add(call, f"more than {_MOST_OPTIONS} options", "")
            return
        if name in _TAKEN:
            self._problems.add(call, f"an option cannot be called {name}: that means something else", "another name")
            return
        cell = Cell("option", float(default))
        text = str(given.get("help", "")) or f"The option {name} of the script."
        if isinstance(default, bool):
            param = Param(name, Dimension.FLAG, text, default=default)
        else:
            low, high = float(given.get("min", min(0.0, default))), float(given.get("max", max(_LARGEST, default)))
            if not low <= default <= high:
                self._problems.add(call.args[0], f"the default is outside {low:g} to {high:g}", "a default within")
                return
            dimension = Dimension.TIME if unit == "s" else Dimension.NUMBER
            symbol = "" if unit == "s" else unit
            param = Param(name, dimension, text, default=default, minimum=low, maximum=high, symbol=symbol)
        self._header.options[name] = OptionCell(param, cell, unit, isinstance(default, bool))

    def _read_state(self, group: str, call: ast.Call) -> None:
        self._header.groups[group] = "state"
        if call.args or not call.keywords:
            self._problems.add(call, "state has names with first values", "state(base=inf, round=0)")
        for keyword in call.keywords:
            if keyword.arg is None:
                self._problems.add(keyword.value, "** has no place here", "name=value")
                continue
            state = self._state_of(keyword.value)
            if state is None:
                continue
            self._header.states[group, keyword.arg] = state
        if sum(each.cell.size for each in self._header.states.values()) > _MOST_STATE_CELLS:
            self._problems.add(call, f"the state takes more than {_MOST_STATE_CELLS} numbers", "less to remember")

    def _state_of(self, value: ast.expr) -> State | None:
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in _FILTERS:
            return self._filter_of(value, value.func.id)
        begin = self.constant(value)
        if begin is None:
            return None
        return State(Cell("state", float(begin)), is_flag=isinstance(begin, bool))

    def _filter_of(self, call: ast.Call, name: str) -> State | None:
        kind = _FILTERS[name]
        key = "weight" if kind == "average" else "over"
        given = [each.value for each in call.keywords if each.arg == key] or call.args
        if len(given) != 1 or len(call.args) + len(call.keywords) != 1:
            example = next(each.call for each in DECLARATIONS if each.name == name)
            self._problems.add(call, f"{name} has one number", example)
            return None
        option = self._header.options.get(given[0].id) if isinstance(given[0], ast.Name) else None
        if option is not None:
            over = option.cell
        else:
            number = self.constant(given[0])
            if number is None:
                return None
            if not 0 < number < math.inf or (kind == "average" and number > 1):
                limits = "above 0 and at most 1" if kind == "average" else "above 0"
                self._problems.add(given[0], f"{key} is {number:g}", limits)
                return None
            over = self._emitter.constant(float(number))
        cell = Cell("state", math.inf if kind == "minimum" else 0.0, _FILTER_CELLS[kind])
        return State(cell, kind, over)  # type: ignore[arg-type]  # one of the literals

    def _read_kept(self, group: str, call: ast.Call) -> None:
        self._header.groups[group] = "per_subflow"
        if self._kind != "scheduler":
            allowed = "state(...): a controller remembers what concerns its own subflow"
            self._problems.add(call, "per_subflow is for schedulers", allowed)
            return
        if call.args or not call.keywords:
            self._problems.add(call, "per_subflow has names with first values", "per_subflow(used=0)")
        for keyword in call.keywords:
            begin = self.constant(keyword.value)
            if keyword.arg is None or begin is None:
                continue
            if len(self._header.kept) >= _core.SCRIPT_MOST_KEPT:
                self._problems.add(keyword, f"more than {_core.SCRIPT_MOST_KEPT} numbers per subflow", "")
                return
            self._header.kept[group, keyword.arg] = (len(self._header.kept), begin)

    # ---- constants ----

    def constant(self, node: ast.expr) -> float | bool | None:
        """The value of an expression of constants; None after reporting a problem."""
        match node:
            case ast.Constant(value=bool() as flag):
                return flag
            case ast.Constant(value=int() | float() as number) if abs(number) <= _LARGEST:
                return float(number)
            case ast.Name(id="inf"):
                return math.inf
            case ast.Name(id=name) if name in self._header.constants:
                return self._header.constants[name]
            case ast.Name(id=name) if name in self._header.options:
                self._problems.add(node, f"{name} is known only when it runs", "options inside functions")
                return None
            case ast.Name(id=name):
                hint = did_you_mean(name, list(self._header.constants))
                self._problems.add(node, f"{name} is not a constant{hint}", "numbers and constants from above")
                return None
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
                value = self.constant(operand)
                return None if value is None else -value if isinstance(sign, ast.USub) else +value
            case ast.BinOp(left=left, op=op, right=right):
                return self._fold(node, op, self.constant(left), self.constant(right))
        self._problems.add(node, "this is not a constant", "numbers, constants from above, and + - * / ** of them")
        return None

    def _fold(self, node: ast.expr, op: ast.operator, left: float | None, right: float | None) -> float | None:
        if left is None or right is None:
            return None
        try:
            match op:
                case ast.Add():
                    found = left + right
                case ast.Sub():
                    found = left - right
                case ast.Mult():
                    found = left * right
                case ast.Div():
                    found = left / right
                case ast.Pow() if left > 0 and abs(right) < 300:
                    found = whole_power(left, int(right)) if right in (1, 2, 3, 4) else _core.power(left, right)
                case _:
                    self._problems.add(node, "this is not a constant", "+ - * / ** of numbers")
                    return None
        except (ZeroDivisionError, OverflowError):
            found = math.nan
        if math.isnan(found):
            self._problems.add(node, "this has no value", "")
            return None
        return float(found)

    def _take_name(self, node: ast.AST, name: str, *, is_function: bool = False) -> None:
        if name in self._names:
            self._problems.add(node, f"{name} exists already", "each name once")
        if name in _RESERVED or (name in SETTINGS and is_function):
            self._problems.add(node, f"{name} has a meaning of its own", "another name")
        self._names.add(name)


def whole_power(base: float, exponent: int) -> float:
    """The power by repeated multiplication, rounded as in the virtual machine; `exponent` is at least 1."""
    product = base
    for _ in range(exponent - 1):
        product *= base
    return product


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _kind_of_statement(node: ast.stmt) -> str:
    names = {
        ast.Import: "`import`",
        ast.ImportFrom: "`import`",
        ast.ClassDef: "a class",
        ast.If: "`if`",
        ast.For: "a loop",
        ast.While: "a loop",
        ast.AugAssign: "an assignment with an operator",
        ast.Expr: "an expression",
        ast.AsyncFunctionDef: "an async function",
    }
    return names.get(type(node), "this")
