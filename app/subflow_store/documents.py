"""Documents as the store keeps them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def strict_json(document: Mapping[str, Any]) -> str:
    """A document as strict JSON: what JSON cannot say, NaN and infinities, becomes null."""
    return json.dumps(_finite(document), allow_nan=False, ensure_ascii=False)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return value
