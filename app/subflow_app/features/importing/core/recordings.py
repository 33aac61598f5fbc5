"""Recordings of links: rates, delays and losses over time, as a scenario with one link that follows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.catalog.core.uses import Use, read_scenario
from subflow_app.features.editor.core.scenario_source import with_contents
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.toml_edit import render_text
from subflow_sim.delay_trace import delays_of, parse_delays
from subflow_sim.delivery_trace import OPPORTUNITY_BYTES, parse_trace
from subflow_sim.errors import ParamError
from subflow_sim.loss_trace import parse_losses
from subflow_sim.recording import has_columns, read_recording

_DATA_SET = ("dl_bitrate", "ul_bitrate")
_MAHIMAHI_LINES = 3


@dataclass(frozen=True, slots=True)
class Recorded:
    """A recording of a link.

    Attributes:
        path: path of the file.
        values: by key of a link ("rate", "delay", "loss"), a line about its values for people.
        text: a scenario with two hosts and a link that follows the recording, which it names relative to its folder.
    """

    path: Path
    values: Mapping[str, str]
    text: str

    def text_in(self, folder: Path | None) -> str:
        """The scenario for another folder or none: the recording is embedded unless it lies in the folder."""
        if folder is not None and folder.resolve() == self.path.parent.resolve():
            return self.text
        scenario = read_scenario(Use.DOCUMENT, self.text, file=self.path.name, folder=self.path.parent)
        return with_contents(self.text, scenario)

    @property
    def summary(self) -> str:
        """The recording in a line."""
        return f"recording of a link: {'; '.join(f'{key} {value}' for key, value in self.values.items())}"


def looks_like_recording(head: str) -> bool:
    """True if a text with this beginning, in lower case, records a link: a data set, Mahimahi, or our columns."""
    first, *lines = head.split("\n", _MAHIMAHI_LINES + 1)
    if any(name in first for name in _DATA_SET):
        return True
    names = [name.strip() for name in first.split(",")]
    if names[0] in ("time_s", "time_ms") and {"rate_mbps", "rate_kbps", "rate_bps", "loss_percent"} & set(names):
        return True
    words = [line.strip() for line in [first, *lines[:_MAHIMAHI_LINES]]]
    return len(words) > _MAHIMAHI_LINES and all(word.isdigit() for word in words) and words == sorted(words, key=int)


def read_link_recording(path: Path) -> Recorded:
    """Read a recording.

    Raises:
        InputError: if the file holds neither rates nor delays nor losses.
    """
    try:
        text = read_recording(path.name, path.parent, "lte.up")
    except ParamError as error:
        raise InputError(f"{path.name}: {error.message}; allowed: {error.allowed}") from error
    values: dict[str, str] = {}
    problems: list[str] = []
    for key, about in (("rate", _rates), ("delay", _delays), ("loss", _losses)):
        if key != "rate" and not has_columns(text):
            continue
        try:
            values[key] = about(text)
        except ParamError as error:
            problems.append(f"{error.message}; allowed: {error.allowed}")
    if not values:
        raise InputError(f"{path.name}: {problems[0]}")
    return Recorded(path, values, _scenario(path, values))


def _rates(text: str) -> str:
    times_ms = np.frombuffer(parse_trace(text), dtype=np.uint32)
    duration_s = float(times_ms[-1]) / 1000
    bits = 8 * OPPORTUNITY_BYTES
    # Times ascend, so that their places at full seconds give the numbers in between.
    places = np.searchsorted(times_ms, 1000 * np.arange(1, max(1, int(duration_s)) + 1), side="right")
    whole = np.diff(places, prepend=0) * bits / 1e6
    return (
        f"over {duration_s:.6g} s: mean {len(times_ms) * bits / duration_s / 1e6:.4g} Mbit/s, in single seconds"
        f" {whole.min():.4g} to {whole.max():.4g} Mbit/s"
    )


def _delays(text: str) -> str:
    packed, interval_s = parse_delays(text, "", 0.01)
    delays_ms: NDArray[np.float64] = delays_of(packed) / 1e3
    return (
        f"over {len(delays_ms) * interval_s:.6g} s: mean {delays_ms.mean():.4g} ms,"
        f" {delays_ms.min():.4g} to {delays_ms.max():.4g} ms"
    )


def _losses(text: str) -> str:
    changes, table = parse_losses(text, None)
    losses = np.array([float(line.partition(",")[2]) for line in table.splitlines()[1:]]) * 100
    return f"mean {losses.mean():.4g} %, {losses.min():.4g} to {losses.max():.4g} %, {len(changes) - 1} changes"


def _scenario(path: Path, values: Mapping[str, str]) -> str:
    reference = f"{{ trace = {render_text(path.name)} }}"
    settings = {"rate": '"100Mbit/s"', "delay": '"20ms"', **dict.fromkeys(values, reference)}
    lines = [f"# A link that follows {path.name}."]
    lines += [f"# {key}: {about}" for key, about in values.items()]
    lines += ["", "format = 1", f"name = {render_text(f'A link that follows {path.stem}')}", 'duration = "60s"', ""]
    lines += ["[nodes.server]", "at = [0, 0]", "", "[nodes.client]", "at = [300, 0]", "", "[links.link]"]
    lines += ['ends = ["server", "client"]', *(f"{key} = {value}" for key, value in settings.items())]
    # A recording describes one direction: the other carries acknowledgements without limit and loss of its own.
    reverse = {"rate": 'rate = "100Mbit/s"', "loss": "loss = 0"}
    if values.keys() & reverse.keys():
        lines += ["", "[links.link.reverse]", *(line for key, line in reverse.items() if key in values)]
    lines += ["", "[flows.download]", 'kind = "tcp"', 'from = "server"', 'to = "client"', 'controller = "cubic"']
    return "\n".join([*lines, 'recv_buffer = "6MB"', ""])
