"""Expressions as pages evaluate them: nested lists."""

from __future__ import annotations

import ast
from typing import Any

from subflow_app.foundation.expressions import COMPARISONS, Expression

_ARITHMETIC = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}


def compiled(expression: Expression) -> Any:
    """An expression as lists of an operation and its operands.

    Numbers are in SI units, texts are `["text", …]`, and numbers that a formula names
    are those names.
    """
    return _node(expression, expression.root)


def _node(whole: Expression, node: ast.expr) -> Any:
    token = whole.at(node)
    match node:
        case ast.Name() if token.kind == "name":
            return token.text
        case ast.Name():
            return ["text", token.value] if token.kind == "text" else token.value
        case ast.Call(args=arguments):
            return ["call", token.text, *(_node(whole, each) for each in arguments)]
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return ["not", _node(whole, inner)]
        case ast.UnaryOp(operand=inner):
            return ["-", 0, _node(whole, inner)]
        case ast.BinOp(left=left, op=op, right=right):
            return [_ARITHMETIC[type(op)], _node(whole, left), _node(whole, right)]
        case ast.IfExp(test=test, body=body, orelse=other):
            return ["if", _node(whole, test), _node(whole, body), _node(whole, other)]
        case ast.BoolOp(op=op, values=nodes):
            return ["or" if isinstance(op, ast.Or) else "and", *(_node(whole, each) for each in nodes)]
        case ast.Compare(left=left, ops=ops, comparators=others):
            parts = [_node(whole, each) for each in (left, *others)]
            symbols = [COMPARISONS[type(op)][0] for op in ops]
            if symbols == ["in", ".."]:
                return ["and", ["compare", [">="], [parts[0], parts[1]]], ["compare", ["<="], [parts[0], parts[2]]]]
            return ["compare", symbols, parts]
    raise AssertionError(ast.dump(node))
