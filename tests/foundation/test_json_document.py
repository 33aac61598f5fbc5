"""Every parser can read the JSON documents."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from subflow_app.foundation.json_document import json_text


def test_undefined_numbers_become_null() -> None:
    document = {"a": math.nan, "b": [math.inf, -math.inf], "c": np.float64("nan"), "d": np.array([1.0, np.nan])}

    assert json.loads(json_text(document)) == {"a": None, "b": [None, None], "c": None, "d": [1.0, None]}


def test_numbers_keep_their_value_and_kind() -> None:
    document = {"i": np.int64(2**53), "f": 0.1, "b": np.bool_(True), "n": None, "t": ("x", 1)}

    assert json.loads(json_text(document)) == {"i": 2**53, "f": 0.1, "b": True, "n": None, "t": ["x", 1]}


def test_text_is_ascii_and_ends_with_a_line_end() -> None:
    text = json_text({"name": "Übertragung → 2"})

    assert text.isascii()
    assert text.endswith("}\n")
    assert json.loads(text) == {"name": "Übertragung → 2"}


def test_what_json_cannot_hold_is_refused() -> None:
    with pytest.raises(TypeError, match="object"):
        json_text({"a": object()})
