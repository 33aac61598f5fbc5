"""The keys of `[training]` and of `[[training.events]]`. Times and changes may be draws; see `subflow_sim.draws`."""

from __future__ import annotations

from subflow_sim.parameter import Param
from subflow_sim.units import Dimension

RANGES = ("uniform", "log_uniform", "integer")
"""Kinds of draws from an interval."""

DRAW_KINDS = (*RANGES, "choice", "bdp", "of")
"""Keys that identify a table as a draw."""

TRAINING: tuple[Param, ...] = (
    Param(
        "episode",
        Dimension.TIME,
        "How long an episode of training lasts: a time, or a draw of times. Default: as long as a run.",
        minimum=0.0,
        exclusive_minimum=True,
        maximum=1e6,
    ),
)

TRAINING_EVENT: tuple[Param, ...] = (
    Param("at", Dimension.TIME, "When the change happens, once in an episode.", minimum=0.0, maximum=1e6),
    Param(
        "every",
        Dimension.TIME,
        "Time from the beginning to the first change, and from each to the next; drawn anew each time. In place of at.",
        minimum=1e-3,
        maximum=1e6,
    ),
    Param(
        "lasts",
        Dimension.TIME,
        "How long until the change is undone; drawn anew each time. Only for up, open and backup.",
        minimum=1e-3,
        maximum=1e6,
    ),
    Param(
        "probability",
        Dimension.RATIO,
        "Share of the episodes that have these changes.",
        default=1.0,
        minimum=0.0,
        maximum=1.0,
    ),
)

TRAINING_HELP = "How the episodes of training differ from this scenario. Other runs take no notice of it."
DRAWS_HELP = (
    'Dotted keys of this file with what they are in an episode: { uniform = ["2Mbit/s", "16Mbit/s"] }, log_uniform, '
    "{ integer = [1, 8] }, { choice = [...], weights = [...] }, { of = KEY, times = 2 } (what another key was drawn "
    "to be), { bdp = 1.5 } (a queue by what the link's longest round trip holds, recv_buffer or send_buffer of a flow "
    "by what its shares of its paths hold), or a plain value. A count of 0 leaves the flow out."
)
TRAINING_EVENTS_HELP = "Changes at random times: the keys of an event, each a value or a draw, with at or every."
