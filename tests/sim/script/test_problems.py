"""All problems of a script are reported at once, each with its place and the allowed values."""

from __future__ import annotations

import contextlib
import random
import re

import pytest
from tests.helpers.members import for_each

from subflow_sim.script import SKELETONS, ScriptError, check_script, compile_script
from subflow_sim.script.vocabulary import FUNCTIONS, HOOKS, OBJECTS

_GROWS = "def on_ack(w, ack, siblings):\n    w.cwnd += 1 / w.cwnd\n"
_HALVES = "def on_loss(w, loss):\n    w.ssthresh = max(w.cwnd / 2, 2)\n"


@for_each(
    ("text", "line", "message"),
    [
        ("import os\n" + _GROWS, 1, "`import` has no place outside a function"),
        ("def on_ack(w, ack):\n    import os\n", 2, "scripts cannot use `import`"),
        ("def on_ack(w, ack):\n    w.cwnd += ack.akced\n", 2, 'ack has no akced, did you mean "acked"?'),
        ("def on_ack(w, ack):\n    w.ssthres = 2\n", 2, 'w has no ssthres, did you mean "ssthresh"?'),
        ("def on_ack(w, ack):\n    w.cwnd += ack.rtt\n", 2, "a count or a ratio and a time (s) do not go together"),
        ("def on_ack(w, ack):\n    w.cwnd = ack.rtt\n", 2, "w.cwnd is a count or a ratio, and this is a time (s)"),
        ("def on_ack(w, ack):\n    ack.acked = 2\n", 2, "ack.acked is measured and cannot be set"),
        ("def on_ack(w, ack):\n    if w.cwnd:\n        w.cwnd += 1\n", 2, "this is a number, where True or False"),
        (
            "def on_ack(w, ack):\n    if ack.begins_round:\n        x = 1\n    w.cwnd += x\n",
            4,
            "x may have no value here",
        ),
        ("def on_ack(w, ack):\n    while True:\n        pass\n", 2, "scripts cannot use `while`"),
        ("def on_ack(w, ack):\n    w.cwnd = __import__('os')\n", 2, "unknown function __import__"),
        ("def on_ack(w, ack):\n    w.cwnd = w.__class__\n", 2, "w has no __class__"),
        ("def on_ack(w, ack):\n    w.cwnd = [1][0]\n", 2, "[...] only finds what per_subflow keeps"),
        ("def on_akc(w, ack):\n    w.cwnd += 1\n", 1, 'the simulator calls no on_akc, did you mean "on_ack"?'),
        ("def on_ack(w):\n    w.cwnd += 1\n", 1, "on_ack is given 1 parameters"),
        ("def f(x):\n    return f(x)\ndef on_ack(w, ack):\n    w.cwnd = f(1)\n", 2, "f calls itself"),
        ("def on_ack(w, ack, siblings):\n    for s in ack:\n        w.cwnd += 1\n", 2, "loops go over subflows alone"),
        ("def on_ack(w, ack):\n    w.cwnd += min(1)\n", 2, "min is not called like that"),
        ("def on_ack(w, ack):\n    return 1\n", 2, "on_ack does not return that"),
        ("x = option(5, max=2)\n" + _GROWS, 1, "the default is outside 0 to 2"),
        ('x = option(5, unit="furlong")\n' + _GROWS, 1, 'unknown unit "furlong"'),
        ("my = state(x=1)\ndef on_ack(w, ack):\n    my.y += 1\n    w.cwnd += 1\n", 3, "my has no y"),
        (
            "my = state(x=0)\ndef on_ack(w, ack):\n    my.x = ack.rtt\n    my.x = w.cwnd\n    w.cwnd += 1\n",
            4,
            "my.x is",
        ),
        ("def on_ack(w, ack):\n    w.cwnd += ack.rtt ** inf\n", 2, "a time (s) to a power that is not known"),
        ("def on_ack(w, ack):\n    w.cwnd += (\n", 2, "this is not Python's syntax"),
        (_HALVES, 1, "nothing would ever make the window grow"),
        ("", 1, "it has no function that the simulator calls"),
        ("x = 1\n", 1, "it has no function that the simulator calls"),
        ("def plan(w, moment):\n    return 0.1\n", 1, "plan works together with on_interval"),
        (
            "def plan(w, moment):\n    w.rate = 10 / moment.srtt\ndef on_interval(w, record):\n    pass\n",
            2,
            "plan may end here without returning",
        ),
        ("def on_ack(w, ack):\n    cwdn = w.cwnd + 1\n", 2, "cwdn is assigned and never used"),
        ("\0", 1, "this is not the text of a script"),
        ("def on_ack(w, ack):\n    w.cwnd += " + "(" * 300 + "1" + ")" * 300 + "\n", 2, "this is not Python's syntax"),
        ("def on_ack(w, ack):\n    w.cwnd += " + "-" * 20000 + "1\n", 1, "nested too deep"),
        ("def on_ack(w, ack):\n    w.cwnd += " + "+".join(["1"] * 12000) + "\n", 1, ""),
        ("#" * 70_000, 1, "the script is too long"),
    ],
)
def test_a_problem_is_told_with_its_place(text: str, line: int, message: str) -> None:
    problems = check_script(text, "controller")
    assert problems
    assert message in problems[0].message
    assert problems[0].line == line
    assert problems[0].column >= 1
    assert problems[0].end_column > problems[0].column


def test_all_problems_are_told_at_once_in_the_order_of_the_text() -> None:
    text = "def on_ack(w, ack):\n    w.cwnd += ack.nothing\n    w.nothing = 1\n    x = 1 + ack.rtt + w.cwnd\n"
    problems = check_script(text)
    assert [each.line for each in problems] == [2, 3, 4]
    with pytest.raises(ScriptError) as raised:
        compile_script(text, "mine", "controller")
    assert raised.value.problems == problems
    assert "line 2, column 15" in str(raised.value)


def test_columns_count_characters() -> None:
    (problem,) = check_script('def on_ack(w, ack):\n    """Öäü"""; w.cwnd += ack.x\n')
    assert problem.column == len('    """Öäü"""; w.cwnd += ') + 1


def test_nothing_of_a_script_is_executed() -> None:
    text = "def on_ack(w, ack):\n    w.cwnd += 1\n\nraise SystemExit\n"
    assert check_script(text)[0].line == 4


def test_the_skeletons_are_right() -> None:
    for kind, text in SKELETONS.items():
        assert check_script(text, kind) == ()


def test_the_vocabulary_is_that_of_the_core() -> None:
    from subflow_sim import _core

    core = {(each.object, each.name) for each in _core.script_fields()}
    ours = {(kind, field.name) for kind, fields in OBJECTS.items() if kind != "w" for field in fields}
    assert ours - core == {("sibling", "rate"), ("sibling", "own")}  # computed by operations of the machine
    assert core - ours == set()
    assert [each.name for each in HOOKS] == list(_core.script_hooks())
    kinds = {(each.object, each.name): each.kind.name for each in _core.script_fields()}
    for kind, fields in OBJECTS.items():
        for field in fields:
            if (kind, field.name) in kinds and kinds[kind, field.name] != "COMPUTED":
                assert field.is_flag == (kinds[kind, field.name] == "FLAG")
                assert (field.symbol == "s") or kinds[kind, field.name] != "TIME"


def _words() -> list[str]:
    words = [field.name for fields in OBJECTS.values() for field in fields]
    words += [each.name for each in FUNCTIONS] + list(OBJECTS)
    return words + re.findall(r"\S+", "my x 1 0 inf siblings None True if else + - * / ** ( )")


def test_mutated_scripts_give_told_errors_and_bounded_programs() -> None:
    draws = random.Random(5)
    words = _words()
    texts = [*SKELETONS.values(), _GROWS + _HALVES]
    compiled = 0
    for _ in range(1500):
        text = draws.choice(texts)
        for _ in range(draws.randint(1, 3)):
            place = draws.randrange(len(text))
            match draws.randrange(4):
                case 0:
                    text = text[:place] + text[place + draws.randint(1, 4) :]
                case 1:
                    text = f"{text[:place]} {draws.choice(words)} {text[place:]}"
                case 2:
                    lines = text.splitlines()
                    draws.shuffle(lines)
                    text = "\n".join(lines)
                case 3:
                    text = text[:place] + chr(draws.randrange(32, 300)) + text[place:]
        for kind in ("controller", "scheduler"):
            with contextlib.suppress(ScriptError):  # the only permitted error
                compile_script(text, "mutant", kind)
                compiled += 1
    assert compiled > 20
