"""Values of a run by key for searches, its headline figures, and the machine on which it ran.

Runs can be found and listed by any of the values. Keys are dotted: parameters as in the scenario file
(``links.wifi.loss``, ``flows.download.controller``), figures as in the summary (``flows.download.goodput_bps``,
``fairness.jain``). The owner's name includes the subflow or the direction of a link, as in traces
(``flows.download/1.loss_ratio``, ``links.wifi/forward.utilisation``).

The table `run_value` is an index of the documents and can be rebuilt from them. A released key keeps its meaning; a
change needs a migration that fills the table again.

The headline contains the few figures of the summary that the list of runs shows and sorts by. The machine is recorded
to make a result reproducible.
"""

from __future__ import annotations

import hashlib
import math
import os
import platform
import re
import socket
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from subflow_store.recording_texts import folded

LONGEST_TEXT = 200
"""Maximum number of characters recorded of a text: longer texts are useless for searches, and embedded files would
fill the database.
"""

UNITS: Mapping[str, float] = {
    "": 1.0,
    "%": 1e-2,
    "bit/s": 1.0,
    "kbit/s": 1e3,
    "Mbit/s": 1e6,
    "Gbit/s": 1e9,
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "min": 60.0,
    "B": 1.0,
    "kB": 1e3,
    "MB": 1e6,
    "GB": 1e9,
    "pkt": 1.0,
}
"""Values of the units of scenario files in SI units. The store must not import the simulator, whose table this repeats;
a test compares the two.
"""

_QUANTITY = re.compile(r"\s*([+-]?\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d{1,4})?)\s*([^\d\s]\S*)?\s*\Z", re.ASCII)

# A script is recorded as a digest, because most scripts begin with the same characters.
_SCRIPT = re.compile(r"(?:controllers|schedulers)\.[^.]+\.content\Z")
_DIGITS = 8

# Keys of a scenario that are not recorded: they describe or draw it, or the list of runs has columns for them.
_NOT_PARAMETERS = ("format", "name", "description", "nodes", "notes")
# Keys of a summary that are not recorded: columns of the list of runs, attributes of subflows and links, and lists that
# `figure_values` reads separately.
_NOT_FIGURES = ("scenario", "name", "seed", "signature", "subflows", "path", "direction", "flows", "links")


class RunValue(NamedTuple):
    """One recorded value.

    Attributes:
        key: dotted key.
        number: number or quantity in SI units; None for other values.
        text: the first LONGEST_TEXT characters of a text, or the digest of a script; None for numbers without a unit.
        name: end of the key after the name of a flow or link, which may contain dots; empty: the whole key.
    """

    key: str
    number: float | None
    text: str | None
    name: str = ""


def parameter_values(scenario_text: str) -> list[RunValue]:
    """The parameters in a scenario file; empty for a text that is not TOML, which the store accepts, too."""
    try:
        document = tomllib.loads(folded(scenario_text)[0])
    except tomllib.TOMLDecodeError:
        return []
    return [
        value for name, entry in document.items() if name not in _NOT_PARAMETERS for value in _flattened(name, entry)
    ]


def figure_values(summary: Mapping[str, Any]) -> list[RunValue]:
    """The figures of a summary document; null values are omitted."""
    values = [value for name, entry in summary.items() if name not in _NOT_FIGURES for value in _flattened(name, entry)]
    for flow in _entries(summary.get("flows")):
        owner = f"flows.{flow.get('name', '')}"
        values += _figures_of(owner, flow)
        for number, subflow in enumerate(_entries(flow.get("subflows")), start=1):
            values += _figures_of(f"{owner}/{number}", subflow)
    for link in _entries(summary.get("links")):
        values += _figures_of(f"links.{link.get('name', '')}/{link.get('direction', '')}", link)
    return values


def quantity(text: str) -> float | None:
    """A quantity such as "8 Mbit/s" in SI units; None for any other text."""
    match = _QUANTITY.match(text)
    if match is None:
        return None
    factor = UNITS.get(match[2] or "")
    return None if factor is None else _finite(float(match[1].replace("_", "")) * factor)


def _figures_of(owner: str, document: Mapping[str, Any]) -> Iterator[RunValue]:
    for name, entry in document.items():
        if name not in _NOT_FIGURES:
            for value in _flattened(name, entry):
                yield RunValue(f"{owner}.{value.key}", value.number, value.text, value.key)


def _flattened(key: str, entry: Any) -> Iterator[RunValue]:
    """Leaves below an entry; lists of tables are numbered from 1, other lists become one text."""
    if isinstance(entry, Mapping):
        for name, inner in entry.items():
            yield from _flattened(f"{key}.{name}", inner)
    elif isinstance(entry, list) and any(isinstance(inner, Mapping) for inner in entry):
        for number, inner in enumerate(entry, start=1):
            yield from _flattened(f"{key}.{number}", inner)
    elif isinstance(entry, list):
        yield RunValue(key, None, ", ".join(map(_list_text, entry))[:LONGEST_TEXT])
    elif isinstance(entry, bool):
        yield RunValue(key, None, "true" if entry else "false")
    elif isinstance(entry, int | float):
        yield RunValue(key, _finite(entry), None)
    elif isinstance(entry, str) and _SCRIPT.match(key):
        yield RunValue(key, None, hashlib.sha256(entry.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS])
    elif isinstance(entry, str):
        yield RunValue(key, quantity(entry), entry[:LONGEST_TEXT])


def _list_text(entry: Any) -> str:
    return "-".join(map(str, entry)) if isinstance(entry, list) else str(entry)


def _entries(value: Any) -> list[Mapping[str, Any]]:
    """The tables of a list; empty if a summary of another version has another type there."""
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list | tuple) else []


def _finite(value: float) -> float | None:
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


class Headline(NamedTuple):
    """Figures of a whole run; None if the summary lacks them."""

    wall_s: float | None
    packets: int | None
    goodput_bps: float | None
    """Sum over the flows."""
    mean_rtt_s: float | None
    """Mean of the flows' mean RTTs."""
    jain: float | None


def headline(summary: Mapping[str, Any]) -> Headline:
    """Extract the headline from a summary document, as printed by `subflow run --json`.

    Args:
        summary: a summary; any part may be missing, as in a failed run.
    """
    flows = summary.get("flows") or ()
    goodputs = [flow["goodput_bps"] for flow in flows if flow.get("goodput_bps") is not None]
    rtts = [flow["mean_rtt_s"] for flow in flows if flow.get("mean_rtt_s") is not None]
    return Headline(
        wall_s=summary.get("wall_s"),
        packets=summary.get("packets"),
        goodput_bps=sum(goodputs) if goodputs else None,
        mean_rtt_s=sum(rtts) / len(rtts) if rtts else None,
        jain=(summary.get("fairness") or {}).get("jain"),
    )


@cache
def describe_machine() -> dict[str, str]:
    """Host, operating system, processor, number of cores and Python version of this machine, as text."""
    return {
        "host": socket.gethostname(),
        "system": platform.platform(),
        "processor": _processor(),
        "cores": str(os.cpu_count() or 0),
        "python": platform.python_version(),
    }


def _processor() -> str:
    """The processor's marketing name if the system provides it, else its architecture."""
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                key, _, value = line.partition(":")
                if key.strip() == "model name":
                    return value.strip()
    except OSError:
        pass
    return platform.machine()
