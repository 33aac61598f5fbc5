"""The options of Mininet's links as values of a link in a scenario.

Source: mininet.link.TCLink and mininet.link.TCIntf (Mininet 2.3).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from subflow_app.features.editor.core.graph_files import GraphFileError
from subflow_app.foundation.toml_edit import render_text
from subflow_sim.errors import ParamError
from subflow_sim.link_params import JITTER_TABLE
from subflow_sim.units import Dimension, format_quantity, parse_quantity

LINK_OPTIONS = ("bw", "delay", "jitter", "loss", "max_queue_size")
"""The options that a scenario can express."""

_MAX_RATE_MBPS = 1000
_QUEUE_PACKETS = 1000
"""Length of the queue without an option: htb takes that of the interface, and netem has its own default."""
_SPREAD = next(param for param in JITTER_TABLE if param.key == "spread")
_TIME = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*(ms|us|s|)\w*\Z")


@dataclass(frozen=True, slots=True)
class MininetDirection:
    """A direction of a link.

    Attributes:
        values: values in the words of a scenario, by key: "rate", "delay", "loss", "queue".
        tables: tables in a scenario as TOML, by key: "jitter".
        notes: options that Mininet ignores, with the reason.
    """

    values: Mapping[str, str]
    tables: Mapping[str, str]
    notes: tuple[str, ...]


def link_direction(options: Mapping[str, Any], file: str, line: int | None) -> MininetDirection:
    """The values of a direction.

    Args:
        options: arguments of TCLink: bw in Mbit/s, delay, jitter, loss in %, max_queue_size in packets. Without bw,
            the rate is unlimited.
        file: name of the file in messages.
        line: line in messages.

    Raises:
        GraphFileError: if a value is impossible.
    """

    def number(key: str, value: Any, factor: float, dimension: Dimension) -> str:
        try:
            found = math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError, OverflowError):
            found = math.nan
        if not 0 <= found < math.inf:
            raise GraphFileError(file, line, f"{key} = {str(value)[:40]}", "a number of at least 0")
        if dimension is Dimension.COUNT:
            return str(int(found))
        return format_quantity(round(found * factor, 15 if dimension is Dimension.RATIO else 3), dimension)

    def time(key: str, value: Any) -> str:
        """A time: text with a unit, as in Mininet; netem takes a number without unit as microseconds."""
        match = _TIME.match(str(value).strip()) if isinstance(value, (str, int, float)) else None
        if match is None or isinstance(value, bool) or len(str(value)) > 40:
            raise GraphFileError(file, line, f"{key} = {str(value)[:40]}", 'a time like "20ms"')
        return format_quantity(parse_quantity(f"{match[1]}{match[2] or 'us'}", Dimension.TIME), Dimension.TIME)

    rate = options.get("bw")
    notes: tuple[str, ...] = ()
    if isinstance(rate, (int, float)) and rate > _MAX_RATE_MBPS:
        rate, notes = None, (f"bw = {rate:g}, because Mininet ignores more than {_MAX_RATE_MBPS}",)
    values = {
        "rate": "unlimited" if rate is None else number("bw", rate, 1e6, Dimension.RATE),
        "delay": time("delay", options.get("delay") or 0),
        "loss": number("loss", options.get("loss") or 0, 0.01, Dimension.RATIO),
    }
    if rate is not None:
        packets = options.get("max_queue_size") or _QUEUE_PACKETS
        values["queue"] = f"{number('max_queue_size', packets, 1, Dimension.COUNT)}pkt"
    if not options.get("jitter"):
        return MininetDirection(values, {}, notes)
    spread = time("jitter", options["jitter"])
    try:
        _SPREAD.read(spread)
    except ParamError as error:
        raise GraphFileError(file, line, f"jitter: {error.message}", error.allowed) from error
    return MininetDirection(values, {"jitter": f'{{ distribution = "normal", spread = {render_text(spread)} }}'}, notes)
