"""What the simulator says of a scenario, in the language of the window.

Its messages are put together in English, from phrases and the values that a person typed: they belong to its
contracts, and to the command line too. The window takes them apart again by the forms that they have. What has none of
these forms, which is what hardly anybody gets to see, stays English.
"""

from __future__ import annotations

import re
from functools import cache

from subflow_app.core.language import ENGLISH, current_language, tr, translatable

FORMS = (
    # What is wrong.
    translatable("this value is required"),
    translatable("missing"),
    translatable("empty"),
    translatable("too long"),
    translatable("too small"),
    translatable("too large"),
    translatable("too large, did you mean {guess}?"),
    translatable("must not be negative"),
    translatable("must not be zero"),
    translatable("must be finite"),
    translatable("must be greater than 0"),
    translatable("not a number"),
    translatable("not a whole number"),
    translatable("not a whole number of packets"),
    translatable("not a name"),
    translatable("not in this version"),
    translatable("contains a control character"),
    translatable("unknown"),
    translatable("unknown, did you mean {guess}?"),
    translatable("unknown key"),
    translatable("unknown key, did you mean {guess}?"),
    translatable("the unit is missing"),
    translatable("{unit} does not belong here, this number has no unit"),
    translatable("{unit} is not a unit of {what}, did you mean {guess}?"),
    translatable("{unit} is not a unit of {what}"),
    translatable("this is not a number with a unit"),
    translatable("this is not a number with a unit, decimals need a point"),
    translatable("this is not a number"),
    translatable("this is not a number, decimals need a point"),
    translatable("this is {what}, not {wanted}"),
    translatable("each path is a list of its own, did you mean {guess}?"),
    translatable("after the end of the run, so it would never happen"),
    translatable("the run is over before the flow starts"),
    translatable("the flow would stop before it starts"),
    translatable("the flow ends where it starts"),
    translatable("this is a router: flows start and end at hosts"),
    translatable("both ends are the same node"),
    translatable("changes nothing"),
    translatable("no path"),
    translatable("there is no link {name}, did you mean {guess}?"),
    translatable("there is no link {name}"),
    translatable("there is no node {name}, did you mean {guess}?"),
    translatable("there is no node {name}"),
    translatable("there is no flow {name}, did you mean {guess}?"),
    translatable("there is no flow {name}"),
    translatable("not valid TOML: {reason}"),
    # What is allowed.
    translatable("{what} greater than {low} and at most {high} or {other}, e.g. {example}"),
    translatable("{what} greater than {low} and at most {high}, e.g. {example}"),
    translatable("{what} greater than {low}, e.g. {example}"),
    translatable("{what} from {low} to {high} or {other}, e.g. {example}"),
    translatable("{what} from {low} to {high}, e.g. {example}"),
    translatable("{what} of at least {low} or {other}, e.g. {example}"),
    translatable("{what} of at least {low}, e.g. {example}"),
    translatable("{what} of at most {high}, e.g. {example}"),
    translatable("a number with {units}, e.g. {example}"),
    translatable("{what}, e.g. {example}"),
    translatable("e.g. {example}"),
    translatable("text in quotes, 1 to {count} characters"),
    translatable("text in quotes"),
    translatable("a name in quotes"),
    translatable("a name of letters, digits, - and _, at most {count} characters"),
    translatable("a name of letters, digits, - and _, at most {count} characters, with .1, .2 and so on for one copy"),
    translatable('"neutral", "random", the name of a policy, or the path of a file as "mine.safetensors"'),
    translatable("only for {what}"),
    translatable("a time up to {end}"),
    translatable("at least one of {what}"),
    translatable("a host other than that of from"),
    translatable("two different nodes"),
    translatable("leave it out"),
    translatable("true or false"),
    # The phrases in them.
    translatable("text"),
    translatable("a number"),
    translatable("a whole number"),
    translatable("a list"),
    translatable("a list of {count}"),
    translatable("a list of names"),
    translatable("a list of paths"),
    translatable("a list of paths, each a list of link names"),
    translatable("a list of whole numbers"),
    translatable("a table"),
    translatable("an array of tables"),
    translatable("a date or time of day"),
    translatable("two numbers"),
    translatable("two nodes"),
    translatable("a rate"),
    translatable("a time"),
    translatable("a size in whole bytes"),
    translatable("a queue length"),
    translatable("a ratio"),
    translatable("{one} or {other}"),
)
_PLACE = re.compile(r"\{(\w+)\}")
_DEEPEST = 4


def problem_text(text: str) -> str:
    """A message of the simulator, or what it says is allowed, in the language of the window."""
    return text if current_language() == ENGLISH else _translated(text, _DEEPEST)


def _translated(text: str, depth: int) -> str:
    for form, pattern in _patterns():
        match = pattern.fullmatch(text)
        if match is not None:
            parts = match.groupdict()
            return tr(form, **{name: _translated(part, depth - 1) if depth else part for name, part in parts.items()})
    return text


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((form, _pattern(form)) for form in FORMS)


def _pattern(form: str) -> re.Pattern[str]:
    pieces = _PLACE.split(form)
    # Every other piece is the name of a place.
    written = (f"(?P<{piece}>.+?)" if number % 2 else re.escape(piece) for number, piece in enumerate(pieces))
    return re.compile("".join(written), re.DOTALL)
