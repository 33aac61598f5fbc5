"""Export of the table of measures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from subflow_app.vocabulary.measure import HOWS, PERIODS, Measure
from subflow_app.vocabulary.measures import MEASURES, RUN_MEASURES


def as_document(translate: Callable[[str], str] = str) -> dict[str, Any]:
    """The table of measures as a JSON document, for web pages and for programs not written in Python.

    Args:
        translate: translates a text to the language of the reader; default: English.

    Returns:
        A document with four entries. ``periods`` and ``hows`` map names to texts. ``measures`` and ``run_measures`` map
        keys to the attributes of a `Measure`, in which ``combine`` is {"how", "text", "keys"} or null.
    """

    def entry(each: Measure) -> dict[str, Any]:
        return {
            "title": translate(each.title),
            "symbol": each.symbol,
            "unit": each.unit,
            "si_unit": each.si_unit,
            "scale": each.scale,
            "decimals": each.decimals,
            "better": each.better,
            "definition": translate(each.definition) if each.definition else "",
            "formula": translate(each.formula) if each.formula else "",
            "over": each.over,
            "of": each.of,
            "function": each.function,
            "combine": None
            if each.combine is None
            else {
                "how": each.combine.how,
                "text": translate(each.combine.text),
                "keys": list(each.combine.keys),
            },
            "default_for": list(each.default_for),
            "of_run": each.of_run,
            "instead": each.instead,
            "source": each.source,
        }

    return {
        "periods": {key: translate(text) for key, text in PERIODS.items()},
        "hows": {key: translate(text) for key, text in HOWS.items()},
        "measures": {key: entry(each) for key, each in MEASURES.items()},
        "run_measures": {key: entry(each) for key, each in RUN_MEASURES.items()},
    }
