"""Orders of a lab file, which carry out the steps of the lab automatically.

The orders, one per line of a step:

    set KEY=VALUE             change a value of the document, as with --set
    unset KEY                 restore the default
    event at=20s link=wifi loss=5%
                              add a timed event
    open SCENARIO             replace the document with a shipped scenario
    script NAME FILE          set a script of the document from a file next to the lab
    run                       run the document; also run seed=3, run seeds=1..5
    predict TEXT              the text of an option, a number, or points of a curve: predict 0s:1, 20s:80, 21s:40
    answer QUESTION VALUE     the text of an option, a number, a free text, or = for the number that the answer computes
    sweep KEY=1%,2% seeds=1..3
                              sweep over values, as with --axis
    fork at=20s link=wifi loss=5%
                              fork the last run at a time, with a change
    train AGENT steps=2000 seed=1 options.gamma=0.9
                              train an agent on the document; keys are those of --set, and steps, minutes, seed,
                              num_envs, episode, eval_every
    promote NAME              name the policy of the last training
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from subflow_sim.plain_text import did_you_mean, either


class SolutionError(Exception):
    """Raised for an order that cannot be parsed.

    Attributes:
        message: description of the mistake.
        allowed: accepted forms.
    """

    def __init__(self, message: str, allowed: str) -> None:
        super().__init__(f"{message}; allowed: {allowed}")
        self.message = message
        self.allowed = allowed


@dataclass(frozen=True, slots=True)
class Order:
    """An order of a solution.

    Attributes:
        verb: first word of the order.
        words: further words, except for KEY=VALUE pairs.
        values: KEY=VALUE pairs in order.
    """

    verb: str
    words: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)


_FORMS: Mapping[str, str] = {
    "set": "set KEY=VALUE",
    "unset": "unset KEY",
    "event": "event at=20s link=wifi loss=5%",
    "open": "open SCENARIO",
    "script": "script NAME FILE",
    "run": "run, run seed=3 or run seeds=1..5",
    "predict": "predict TEXT, predict NUMBER or predict 0s:1, 20s:80",
    "answer": "answer QUESTION VALUE",
    "sweep": "sweep KEY=1%,2% seeds=1..3",
    "fork": "fork at=20s link=wifi loss=5%",
    "train": "train AGENT steps=2000",
    "promote": "promote NAME",
}
COMPUTED = "="
"""Value of an answer that the expression of its question computes, for numbers of one's own."""

_POINT = re.compile(r"\s*([0-9.]+)\s*s?\s*:\s*([0-9.]+)\s*\Z")


def parse_order(text: str) -> Order:
    """Parse one command of a lab's solution, e.g. ``run seed=3``.

    Raises:
        SolutionError: if the text is not a complete order.
    """
    verb, _, rest = text.strip().partition(" ")
    rest = rest.strip()
    form = _FORMS.get(verb)
    if form is None:
        raise SolutionError(f'"{verb}" is not an order{did_you_mean(verb, list(_FORMS))}', either(list(_FORMS)))
    match verb:
        case "set":
            key, equals, value = rest.partition("=")
            order = Order(verb, values={key.strip(): value.strip()} if equals and key.strip() else {})
        case "predict":
            order = Order(verb, (rest,) if rest else ())
        case "answer":
            question, _, value = rest.partition(" ")
            order = Order(verb, (question, value.strip()) if value.strip() else ())
        case _:
            order = _words(verb, rest, form)
    if not _is_whole(order):
        raise SolutionError(f'"{text}" is incomplete', form)
    return order


def curve_points(text: str) -> list[tuple[float, float]]:
    """Parse the points of a curve: "0s:1, 20s:80" gives [(0, 1), (20, 80)].

    Raises:
        SolutionError: if the text is not a list of points, or times do not increase.
    """
    allowed = "times in seconds and values in the unit of the sketch, e.g. 0s:1, 20s:80, 21s:40"
    matches = [_POINT.match(part) for part in text.split(",")]
    try:
        points = [(float(match[1]), float(match[2])) for match in matches if match is not None]
    except ValueError:
        points = []
    if len(points) < max(2, len(matches)):
        raise SolutionError(f'"{text}" are not points of a curve', allowed)
    if any(second[0] <= first[0] for first, second in pairwise(points)):
        raise SolutionError(f'the times of "{text}" do not rise', allowed)
    return points


def _words(verb: str, rest: str, form: str) -> Order:
    try:
        parts = shlex.split(rest)
    except ValueError as error:
        raise SolutionError(f'"{rest}" has an unclosed quote', form) from error
    words, values = [], {}
    for part in parts:
        key, equals, value = part.partition("=")
        if equals:
            values[key] = value
        else:
            words.append(part)
    return Order(verb, tuple(words), values)


def _is_whole(order: Order) -> bool:
    words, values = len(order.words), order.values
    match order.verb:
        case "set":
            return len(values) == 1 and not words
        case "unset" | "open" | "promote":
            return words == 1 and not values
        case "run":
            return not words and set(values) <= {"seed", "seeds"} and len(values) < 2
        case "event" | "fork":
            return not words and "at" in values and ("link" in values or "flow" in values)
        case "predict":
            return words == 1
        case "script":
            return words == 2 and not values
        case "answer":
            return words == 2
        case "sweep":
            return not words and bool(set(values) - {"seeds"})
        case _:
            return words == 1
