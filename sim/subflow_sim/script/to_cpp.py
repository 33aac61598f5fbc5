"""Conversion of a script to a C++ header like the controllers in sim/core/cc."""

from __future__ import annotations

import ast
import copy
import math
import re
from collections.abc import Mapping
from textwrap import indent

from subflow_sim.errors import ParamError
from subflow_sim.script.compiler import Reading, Script, read_script
from subflow_sim.script.header import OptionCell
from subflow_sim.script.values import Item, Local, Number
from subflow_sim.script.vocabulary import HOOKS, OBJECTS, SECONDS, Hook
from subflow_sim.units import Dimension

# C++ expressions of script fields for which the default of `_attribute` (the field's name, with the suffix _pkts or
# converted to seconds) does not fit. "@" is the object.
_CALLED: Mapping[tuple[str, str], str] = {
    ("w", "rate"): "@.pacing_pps",
    ("w", "advertised"): "@.advertised",
    ("loss", "is_mark"): "(@.kind == CongestionKind::Mark)",
    ("loss", "is_timeout"): "(@.kind == CongestionKind::Timeout)",
    ("sample", "acked"): "@.newly_delivered_pkts",
    ("sample", "lost"): "@.newly_lost_pkts",
    ("sample", "marked"): "@.newly_marked_pkts",
    ("sample", "rate"): "(@.has_rate() ? @.rate_pps() : 0.0)",
    ("moment", "packet_bits"): "@.packet_bits",
    ("record", "number"): "@.number",
    ("record", "tag"): "@.tag",
    ("record", "finished"): "to_seconds(@.finished_at)",
    ("record", "length"): "@.length_s()",
    ("record", "rate"): "@.rate_pps",
    ("record", "send_rate"): "@.send_rate_pps()",
    ("record", "throughput"): "@.throughput_pps()",
    ("record", "loss_ratio"): "@.loss_ratio()",
    ("record", "rtt"): "@.rtt_mean_s",
    ("record", "min_rtt"): "@.rtt_min_s",
    ("record", "rtt_gradient"): "@.rtt_gradient",
    ("record", "rtt_gradient_error"): "@.rtt_gradient_error",
    ("record", "utility"): "@.utility",
    ("sibling", "srtt"): "@.srtt_s",
    ("sibling", "rate"): "@.rate_pps()",
    ("sibling", "own"): "(&@ == &all.own())",
    ("sibling", "advertised"): "@.advertised",
    ("pause", "now"): "to_seconds(@)",
}
_METHODS: Mapping[str, str] = {
    "on_start": "void on_start(Window& @0, std::uint64_t seed)",
    "on_ack": "void on_ack(Window& @0, const AckSample& @1, const Siblings& siblings)",
    "on_every_ack": "void on_every_ack(Window& @0, const AckSample& @1, const Siblings& siblings)",
    "on_delivery": "void on_delivery(Window& @0, const DeliverySample& @1, const Siblings& siblings)",
    "on_loss": "void on_congestion_event(Window& @0, const CongestionEvent& @1, const Siblings& siblings)",
    "on_recovery_exit": "void on_recovery_exit(Window& @0, const AckSample& @1, const Siblings& siblings)",
    "on_idle": "void on_idle_restart(Window& @0, Nanos @1, Reason* why)",
    "plan": "IntervalPlan plan_interval(Window& @0, const IntervalMoment& @1)",
    "on_interval": "NextInterval on_interval(Window& @0, IntervalRecord& @1, const IntervalMoment& @2, "
    "const Siblings& siblings)",
}
_HAS_SRTT = ("ack", "sample", "loss", "moment")
_FUNCTIONS = {
    "abs": "std::abs",
    "sqrt": "std::sqrt",
    "cbrt": "cube_root",
    "exp": "exponential",
    "log": "natural_log",
    "floor": "std::floor",
    "ceil": "std::ceil",
}
_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_COMPARED = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_CPP_WORD = re.compile(
    "auto|bool|break|case|char|class|const|default|delete|do|double|else|enum|explicit|extern|false|float|for|friend|"
    "goto|if|inline|int|long|mutable|namespace|new|operator|private|protected|public|register|return|short|signed|"
    "sizeof|static|struct|switch|template|this|throw|true|typedef|typename|union|unsigned|using|virtual|void|volatile|"
    "while|all|siblings|bound"
)


def to_cpp(script: Script) -> str:
    """The header of a controller that computes the same windows as the script.

    The explanations of its decisions use one generic rule per function; improve the names of the rules by hand.

    Raises:
        ParamError: if the script is a scheduler.
    """
    if script.kind != "controller":
        raise ParamError(f'"{script.name}" is a scheduler', "a controller: schedulers cannot be converted")
    return _Writer(script, read_script(script.text, script.kind)).header()


class _Writer:
    def __init__(self, script: Script, reading: Reading) -> None:
        self._script = script
        self._reading = reading
        self._header = reading.header
        self._hook: Hook = HOOKS[0]
        self._things: dict[str, tuple[str, str]] = {}  # C++ name and kind by parameter
        self._items: list[str] = []  # variables of open loops
        self._locals: Mapping[str, Local] = {}
        self._uses_draws = any(
            isinstance(each, ast.Name) and each.id == "random" for node in self._nodes() for each in ast.walk(node)
        )

    def _nodes(self) -> list[ast.FunctionDef]:
        return [*self._header.hooks.values(), *self._header.helpers.values()]

    # ---- class ----

    def header(self) -> str:
        name = _class_name(self._script.name)
        algorithm = self._script.algorithm
        hooks = [each for each in HOOKS if each.name in self._header.hooks]
        methods = [self._method(hook) for hook in hooks]
        if self._uses_draws and "on_start" not in self._header.hooks:
            methods.append(_SEEDS)
        if "on_loss" not in self._header.hooks:
            methods.append(_HALVES if "plan" not in self._header.hooks else _IGNORES)
        source = algorithm.source or "none yet"
        options = self._options()
        rules = "".join(self._rule(hook) for hook in hooks)
        listed = ", ".join(f"&k{_class_name(hook.name)}" for hook in hooks)
        parts = [
            f"// {_one_line(algorithm.summary)}. Source: {_one_line(source)}.",
            "#pragma once\n",
            "#include <algorithm>\n#include <array>\n#include <cmath>\n#include <cstdint>\n#include <limits>\n",
            '#include "../rng.h"\n#include "../script/filters.h"\n#include "controller.h"\n#include "cube_root.h"',
            '#include "power.h"\n#include "siblings_or_own.h"\n',
            "namespace subflow {\n",
            f"class {name} {{\npublic:",
            indent(options + rules, "    ").rstrip(),
            f"    static constexpr std::array kRules{{{listed}}};",
            "    static constexpr AlgorithmInfo kInfo{",
            f"        .name = {_quoted(self._script.name)},",
            f"        .summary = {_quoted(algorithm.summary)},",
            f"        .source = {_quoted(algorithm.source)},",
            "        .is_coupled = true," if algorithm.is_coupled else None,
            "        .options = kOptions," if options else None,
            "        .rules = kRules,\n    };",
            "    static constexpr bool kGovernsRecovery = true;" if "plan" in self._header.hooks else None,
            "",
            f"    explicit {name}(const Options&{' options' if options else ''}){self._initialisers()} {{}}\n",
            *(indent(method, "    ") for method in methods),
            "private:",
            indent(self._members(), "    ").rstrip(),
            f"}};\nstatic_assert(CongestionController<{name}>);\n",
            "}  // namespace subflow\n",
        ]
        return "\n".join(part for part in parts if part is not None)

    def _options(self) -> str:
        if not self._header.options:
            return ""
        entries = "".join(indent(_option(each), "    ") for each in self._header.options.values())
        return f"static constexpr std::array kOptions{{\n{entries}}};\n"

    def _rule(self, hook: Hook) -> str:
        what = _quoted(f"{self._script.name}: {hook.name}")
        return (
            f"static constexpr RuleInfo k{_class_name(hook.name)}{{\n    .name = {what},\n"
            f"    .formula = {_quoted(hook.help)},\n    .source = {_quoted(self._script.algorithm.source)},\n"
            "    .numbers = {},\n};\n"
        )

    def _initialisers(self) -> str:
        taken = [f"{_name(key)}_(options.number({_quoted(key)}))" for key in self._header.options]
        return f" : {', '.join(taken)}" if taken else ""

    def _members(self) -> str:
        lines = [
            f"static constexpr {'bool' if isinstance(value, bool) else 'double'} {_name(key)} = {_literal(value)};"
            for key, value in self._header.constants.items()
        ]
        lines += [f"double {_name(key)}_;" for key in self._header.options]
        for group in (name for name, kind in self._header.groups.items() if kind == "state"):
            members = "".join(f"    {self._state(name, each)}\n" for name, each in self._states(group))
            lines.append(f"struct {{\n{members}}} {_name(group)}_;")
        if self._uses_draws:
            lines.append("Draws draws_;")
        lines.append(_BOUND.rstrip())
        return "\n".join(lines) + "\n"

    def _states(self, group: str) -> list[tuple[str, str]]:
        return [(name, f"{each}.{name}") for each, name in self._header.states if each == group]

    def _state(self, name: str, whole: str) -> str:
        group, _, key = whole.partition(".")
        state = self._header.states[group, key]
        if state.filter == "average":
            return f"MovingAverage {_name(name)};"
        if state.filter:
            kind = "RecentMaximum" if state.filter == "maximum" else "RecentMinimum"
            return f"{kind} {_name(name)};"
        kind = "bool" if state.is_flag else "double"
        begin = bool(state.cell.begin) if state.is_flag else state.cell.begin
        return f"{kind} {_name(name)} = {_literal(begin)};"

    # ---- functions ----

    def _method(self, hook: Hook) -> str:
        node = self._header.hooks[hook.name]
        self._hook = hook
        self._locals = self._reading.locals[hook.name]
        given = [each.arg for each in node.args.args]
        called = [_name(each) for each in given] + ["", "", "", ""]
        has_siblings = any(kind == "siblings" for _, kind in hook.parameters[: len(given)])
        self._things = {name: (_name(name), kind) for name, (_, kind) in zip(given, hook.parameters, strict=False)}
        signature = _METHODS[hook.name]
        for position in range(3):
            signature = signature.replace(f" @{position}", f" {called[position]}".rstrip())
        if not has_siblings:
            signature = signature.replace("Siblings& siblings", "Siblings&")
        body = [*self._beginning(hook, called), *self._declarations(), *self._block(node.body)]
        if hook.returns == "nothing":
            # The body becomes a lambda, because it may return early and the window must be bounded afterwards.
            text = indent("\n".join(body), "        ")
            end = f"    }}();\n    bound({called[0]});\n"
            return f"{signature} {{\n    [&] {{\n{text}\n{end}}}\n"
        if hook.returns == "next":
            body.append("return NextInterval::InTurn;")
        return f"{signature} {{\n{indent(chr(10).join(body), '    ')}\n}}\n"

    def _beginning(self, hook: Hook, called: list[str]) -> list[str]:
        lines = []
        if hook.name == "on_start":
            lines.append("draws_ = Draws(seed);" if self._uses_draws else "static_cast<void>(seed);")
            return lines
        why = (
            "why"
            if hook.name == "on_idle"
            else f"{called[len(hook.parameters) - 2 if hook.name == 'on_interval' else 1]}.why"
        )
        if hook.name == "on_interval" and not called[2]:
            why = ""
        if why and (called[1] or hook.name == "on_idle"):
            lines.append(f"if ({why} != nullptr) {why}->set(k{_class_name(hook.name)}, {{}});")
        if any(kind == "siblings" for _, kind in self._things.values()):
            source = next((name for name, kind in self._things.values() if kind in _HAS_SRTT), "")
            lines.append(f"const SiblingsWithSelf all(siblings, {called[0]}, {source}.srtt);")
        return lines

    def _declarations(self) -> list[str]:
        lines = []
        for name, local in self._locals.items():
            if not name or isinstance(local.value, Item):
                continue
            is_flag = local.value.is_flag
            lines.append(f"bool {_name(name)} = false;" if is_flag else f"double {_name(name)} = 0;")
        return lines

    def _block(self, body: list[ast.stmt]) -> list[str]:
        return [line for each in body for line in self._statement(each)]

    def _statement(self, node: ast.stmt) -> list[str]:
        match node:
            case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
                return self._assign(target, value)
            case ast.AugAssign(target=target, op=op, value=value):
                read = copy.deepcopy(target)
                return self._assign(target, ast.BinOp(left=read, op=op, right=value))
            case ast.If():
                lines = [f"if ({self._plain(node.test)}) {{", *_indented(self._block(node.body))]
                if node.orelse:
                    lines += ["} else {", *_indented(self._block(node.orelse))]
                return [*lines, "}"]
            case ast.For(target=ast.Name(id=name)):
                self._items.append(name)
                body = self._block(node.body)
                self._items.pop()
                return [f"for (const Sibling& {_name(name)} : all.siblings()) {{", *_indented(body), "}"]
            case ast.Return():
                return [self._return(node)]
            case ast.Expr(value=ast.Call() as call):
                return [self._call_alone(call)]
        return []  # a docstring, pass

    def _assign(self, target: ast.expr, value: ast.expr) -> list[str]:
        local = self._locals.get(target.id) if isinstance(target, ast.Name) else None
        if isinstance(target, ast.Name) and local is not None and isinstance(local.value, Item):
            return [f"const Sibling& {_name(target.id)} = {self._expression(value)};"]
        return [f"{self._expression(target)} = {self._plain(value)};"]

    def _return(self, node: ast.Return) -> str:
        if self._hook.returns == "next":
            is_now = isinstance(node.value, ast.Name)
            return f"return NextInterval::{'BeginsNow' if is_now else 'InTurn'};"
        if self._hook.returns != "plan" or node.value is None:
            return "return;"
        value, given = node.value, dict[str | None, ast.expr]()
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "interval":
            given = {each.arg: each.value for each in value.keywords}
            value = value.args[0]
        least = self._plain(given["min_packets"]) if "min_packets" in given else "1"
        tag = self._plain(given["tag"]) if "tag" in given else "0"
        return (
            f"return {{.length = std::max(from_seconds({self._plain(value)}), Nanos(1)), "
            f".min_packets = static_cast<std::uint32_t>({least}), .tag = static_cast<std::int32_t>({tag})}};"
        )

    def _call_alone(self, node: ast.Call) -> str:
        if isinstance(node.func, ast.Attribute):  # my.x.update(...)
            place = self._filter(node.func.value)
            group, key = ast.unparse(node.func.value).split(".")
            state = self._header.states[group, key]
            option = next((each for each in self._header.options.values() if each.cell is state.over), None)
            over = (
                f"{_name(option.param.key)}_" if option is not None else _literal(state.over.begin if state.over else 1)
            )
            values = [self._plain(node.args[0]), *(self._plain(each.value) for each in node.keywords)]
            return f"{place}.add({', '.join([*values, over])});"
        return f"{self._expression(node)};"

    def _filter(self, node: ast.expr) -> str:
        assert isinstance(node, ast.Attribute)
        assert isinstance(node.value, ast.Name)
        return f"{_name(node.value.id)}_.{_name(node.attr)}"

    # ---- expressions ----

    def _plain(self, node: ast.expr) -> str:
        """An expression without enclosing brackets."""
        text = self._expression(node)
        return text[1:-1] if _is_bracketed(text) else text

    def _expression(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(value=value):
                return _literal(value)
            case ast.Name(id=name):
                return self._named(name)
            case ast.Attribute():
                return self._attribute(node)
            case ast.BinOp():
                return self._binary(node)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return f"!{self._expression(operand)}"
            case ast.UnaryOp(op=op, operand=operand):
                return f"({'-' if isinstance(op, ast.USub) else '+'}{self._expression(operand)})"
            case ast.BoolOp(op=op, values=values):
                sign = " && " if isinstance(op, ast.And) else " || "
                return f"({sign.join(self._expression(each) for each in values)})"
            case ast.Compare():
                return self._comparison(node)
            case ast.IfExp():
                test, body, other = (self._expression(each) for each in (node.test, node.body, node.orelse))
                return f"({test} ? {body} : {other})"
            case ast.Call():
                return self._call(node)
        raise AssertionError(ast.dump(node))

    def _named(self, name: str) -> str:
        if name in self._items:
            return _name(name)
        if name in self._things:
            return self._things[name][0]
        if name in self._header.options:
            text = f"{_name(name)}_"
            return f"({text} != 0)" if self._header.options[name].is_flag else text
        return _literal(math.inf) if name == "inf" else _name(name)

    def _attribute(self, node: ast.Attribute) -> str:
        if isinstance(node.value, ast.Name) and node.value.id in self._header.groups:
            state = self._header.states[node.value.id, node.attr]
            place = self._filter(node)
            return f"{place}.value()" if state.filter else place
        owner = self._expression(node.value)
        kind = self._kind(node.value)
        if kind == "siblings":
            return "all.own()"
        called = _CALLED.get((kind, node.attr))
        if called is None:
            field = next(each for each in OBJECTS[kind] if each.name == node.attr)
            text = f"@.{node.attr}_pkts" if field.symbol == "pkt" else f"@.{node.attr}"
            if field.symbol == "pkt" and kind == "sample" and node.attr in ("delivered", "prior_delivered"):
                text = f"static_cast<double>(@.{node.attr}_pkts)"
            if field.symbol == "pkt" and kind == "record":
                text = f"static_cast<double>(@.{node.attr}_pkts)"
            called = f"to_seconds({text})" if field.symbol == "s" else text
        return called.replace("@", owner)

    def _kind(self, node: ast.expr) -> str:
        if isinstance(node, ast.Name):
            if node.id in self._things:
                return self._things[node.id][1]
            return "sibling"
        return "sibling"

    def _binary(self, node: ast.BinOp) -> str:
        left, right = self._expression(node.left), self._expression(node.right)
        match node.op:
            case ast.Pow():
                exponent = node.right.value if isinstance(node.right, ast.Constant) else None
                if exponent in (1, 2, 3, 4):
                    return f"({' * '.join([left] * int(str(exponent)))})"
                return f"power({left}, {right})"
            case ast.FloorDiv():
                return f"std::floor({left} / {right})"
            case ast.Mod():
                return f"({left} - std::floor({left} / {right}) * {right})"
            case ast.Sub() if self._is_clock(node.left) and self._is_clock(node.right):
                return f"time_difference({left}, {right})"
        return f"({left} {_OPERATORS[type(node.op)]} {right})"

    def _is_clock(self, node: ast.expr) -> bool:
        """True for times in whole nanoseconds, whose difference is exact."""
        match node:
            case ast.Attribute(value=ast.Name(id=group), attr=attr) if group in self._header.groups:
                name = f"{group}.{attr}"
                learned = self._reading.learning
                return learned.units.get(name) == SECONDS and name not in learned.not_clocks
            case ast.Attribute(attr=attr):
                kind = self._kind(node.value)
                return kind not in ("sibling", "siblings") and any(
                    each.name == attr and each.symbol == "s" and (kind, attr) not in _CALLED for each in OBJECTS[kind]
                )
            case ast.Name(id=name) if name in self._locals:
                value = self._locals[name].value
                return isinstance(value, Number) and value.unit == SECONDS and value.is_clock
            case ast.Call(func=ast.Name(id="min" | "max"), args=args):
                return len(args) > 1 and all(self._is_clock(each) for each in args)
        return False

    def _comparison(self, node: ast.Compare) -> str:
        terms = [self._expression(each) for each in (node.left, *node.comparators)]
        parts = [
            f"{left} {_COMPARED[type(op)]} {right}" for left, op, right in zip(terms, node.ops, terms[1:], strict=False)
        ]
        return f"({' && '.join(parts)})"

    def _call(self, node: ast.Call) -> str:
        assert isinstance(node.func, ast.Name)
        name = node.func.id
        if name in self._header.helpers:
            return self._expression(_inlined(node, self._header.helpers[name]))
        if node.args and isinstance(node.args[0], ast.GeneratorExp):
            return self._reduction(name, node, node.args[0])
        values = [self._plain(each) for each in node.args]
        match name:
            case "min" | "max":
                nested = values[0]
                for each in values[1:]:
                    nested = f"std::{name}<double>({nested}, {each})"
                return nested
            case "pow":
                return f"power({values[0]}, {values[1]})"
            case "len":
                return "static_cast<double>(all.siblings().size())"
            case "known":
                return f"!std::isnan({values[0]})"
            case "random":
                return "draws_.uniform()"
            case "slow_start":
                return f"slow_start({values[0]}, {values[1]}.acked_pkts, nullptr)"
        return f"{_FUNCTIONS[name]}({values[0]})"

    def _reduction(self, name: str, node: ast.Call, loop: ast.GeneratorExp) -> str:
        generator = loop.generators[0]
        assert isinstance(generator.target, ast.Name)
        item = generator.target.id
        self._items.append(item)
        conditions = "".join(f"if (!{self._expression(each)}) continue; " for each in generator.ifs)
        elt = self._plain(loop.elt)
        self._items.pop()
        begin, take = {
            "sum": ("double found = 0", f"found += {elt}"),
            "count": ("double found = 0", f"found += {elt} ? 1 : 0"),
            "any": ("bool found = false", f"found = found || {elt}"),
            "all": ("bool found = true", f"found = found && {elt}"),
            "min": (f"double found = {_literal(math.inf)}", f"found = std::min<double>(found, {elt})"),
            "max": (f"double found = {_literal(-math.inf)}", f"found = std::max<double>(found, {elt})"),
        }[name]
        default = next((self._plain(each.value) for each in node.keywords), "")
        end = f"return std::isinf(found) ? {default} : found" if default else "return found"
        loop_text = f"for (const Sibling& {_name(item)} : all.siblings()) {{ {conditions}{take}; }}"
        return f"[&] {{ {begin}; {loop_text} {end}; }}()"


def _inlined(call: ast.Call, helper: ast.FunctionDef) -> ast.expr:
    """The return expression of a helper, with the arguments in place of its parameters."""
    given = {each.arg: value for each, value in zip(helper.args.args, call.args, strict=True)}
    returned = next(each for each in helper.body if isinstance(each, ast.Return))
    assert returned.value is not None

    class Put(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:  # ast prescribes the name
            return copy.deepcopy(given[node.id]) if node.id in given else node

    replaced: ast.expr = Put().visit(copy.deepcopy(returned.value))
    return replaced


def _option(option: OptionCell) -> str:
    param = option.param
    kind = {Dimension.FLAG: "Flag", Dimension.TIME: "Time"}.get(param.dimension, "Number")
    lines = [f".key = {_quoted(param.key)},", f".kind = OptionKind::{kind},", f".help = {_quoted(param.help)},"]
    lines.append(f".default_number = {_literal(float(param.default))},")  # type: ignore[arg-type]  # a number or a flag
    if kind != "Flag":
        lines += [f".minimum = {_literal(param.minimum or 0.0)},", f".maximum = {_literal(param.maximum or 0.0)},"]
        if param.symbol:
            lines.append(f".unit = {_quoted(param.symbol)},")
    return "OptionInfo{\n" + indent("\n".join(lines), "    ") + "\n},\n"


def _literal(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    number = float(value)  # type: ignore[arg-type]  # a number in the script
    if math.isinf(number):
        sign = "-" if number < 0 else ""
        return f"{sign}std::numeric_limits<double>::infinity()"
    return repr(number)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _one_line(text: str) -> str:
    return " ".join(text.split()).rstrip(".")


def _class_name(name: str) -> str:
    words = [each for each in re.split(r"[-_]", name) if each]
    text = "".join(each[:1].upper() + each[1:] for each in words)
    return text if text[:1].isalpha() else f"C{text}"


def _name(name: str) -> str:
    plain = "".join(char if char.isascii() else f"u{ord(char):x}" for char in name)
    return f"{plain}_of_script" if _CPP_WORD.fullmatch(plain) else plain


def _is_bracketed(text: str) -> bool:
    if not (text.startswith("(") and text.endswith(")")):
        return False
    depth = 0
    for position, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0 and position < len(text) - 1:
            return False
    return True


def _indented(lines: list[str]) -> list[str]:
    return [f"    {each}" for each in lines]


_SEEDS = """void on_start(Window&, std::uint64_t seed) { draws_ = Draws(seed); }
"""
_HALVES = """void on_congestion_event(Window& w, const CongestionEvent& loss, const Siblings&) {
    if (loss.why != nullptr) loss.why->rule = kRules.front();
    w.ssthresh_pkts = std::max(w.cwnd_pkts / 2, 2.0);
}
"""
_IGNORES = """void on_congestion_event(Window&, const CongestionEvent&, const Siblings&) {}
"""
_BOUND = """static void bound(Window& w) {
    w.cwnd_pkts = std::clamp(w.cwnd_pkts, 1.0, 1e6);
    if (w.ssthresh_pkts != kInfiniteSsthresh) w.ssthresh_pkts = std::clamp(w.ssthresh_pkts, 1.0, 1e6);
}
"""
