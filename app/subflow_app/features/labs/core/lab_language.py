"""What the calls in checks of labs name, as far as that can be known without a run: steps, keys, figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from subflow_app.features.labs.core.figure_functions import FIGURES
from subflow_app.features.labs.core.functions import PARTS
from subflow_app.features.labs.core.scenario_values import is_key
from subflow_app.foundation.expressions import Call
from subflow_sim.plain_text import did_you_mean, either

_PAIRS = {"last": 0, "runs": 0, "seeds": 0, "over": 2}
_KEYS = ("value", "text", "is_on")
_WHICH = ("first", "last", "best")


class KeyProblem(Exception):  # noqa: N818 - told as a problem of the file
    """A call names what cannot be."""

    def __init__(self, message: str, allowed: str) -> None:
        super().__init__(message)
        self.message = message
        self.allowed = allowed


def check_calls(calls: Iterable[Call], steps_before: Sequence[str]) -> None:
    """Look at what calls name.

    Args:
        calls: of a claim or an expression.
        steps_before: ids of the steps before the one that it belongs to.

    Raises:
        KeyProblem: for the first that cannot be.
    """
    for call in calls:
        _check(call, steps_before)


def _check(call: Call, steps_before: Sequence[str]) -> None:
    texts = call.texts
    if call.name == "run_of" and texts and texts[0] is not None and texts[0] not in steps_before:
        raise KeyProblem(f'no step before this one has the id "{texts[0]}"', either(list(steps_before)))
    if call.name in _KEYS and texts:
        _check_key(texts[-1])
    elif call.name == "count" and texts and texts[-1] is not None and texts[-1] not in PARTS:
        raise KeyProblem(f'"{texts[-1]}" cannot be counted', either(PARTS))
    elif call.name == "changed" and len(texts) == 3:
        _check_key(texts[2])
    elif call.name == "training_return" and len(texts) == 2 and texts[1] is not None and texts[1] not in _WHICH:
        raise KeyProblem(f'a training has no "{texts[1]}" return', either(_WHICH))
    if call.name == "over" and texts and texts[0] not in FIGURES:
        raise KeyProblem(
            f'"{texts[0]}" is not a figure of a run{did_you_mean(str(texts[0]), FIGURES)}', either(FIGURES)
        )
    if call.name in _PAIRS:
        _check_pairs(call, texts[_PAIRS[call.name] :])


def _check_pairs(call: Call, pairs: Sequence[str | None]) -> None:
    if len(pairs) % 2:
        raise KeyProblem(f"{call.name}(…) has a key without its value", f"{call.name}('KEY', VALUE, …)")
    for key in pairs[::2]:
        if key is None:
            raise KeyProblem(f"{call.name}(…) has a value where a key is expected", f"{call.name}('KEY', VALUE, …)")
        _check_key(key)


def _check_key(key: str | None) -> None:
    if key is not None and not is_key(key):
        allowed = 'a dotted key of a scenario, e.g. "links.wifi.queue", "flows.download.controller" or "duration"'
        raise KeyProblem(f'scenarios have no key "{key}"', allowed)
