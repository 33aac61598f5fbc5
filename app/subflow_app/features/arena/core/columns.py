"""What the arena tells of an entrant: the utility, which alone ranks, and what it is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from subflow_app.vocabulary.language import translatable
from subflow_app.vocabulary.measure import Measure
from subflow_app.vocabulary.measures import MEASURES


@dataclass(frozen=True, slots=True)
class ArenaColumn(Measure):
    """A column of the arena.

    Attributes:
        id: by which options and documents name it.
        help: what it is, in a sentence or two.
    """

    id: str = ""
    help: str = ""


COLUMNS: Mapping[str, ArenaColumn] = {
    column.id: column
    for column in (
        ArenaColumn(
            "arena_utility",
            translatable("Utility"),
            "",
            1.0,
            2,
            1,
            id="utility",
            help=translatable(
                "ln(goodput / fair share) - 0.5 ln(1 + queueing delay / base RTT) - 5 (loss - the links' own); -5 at "
                "least, and where competing TCP is left less than 80 % of what it gets beside NewReno."
            ),
        ),
        ArenaColumn(
            "arena_throughput",
            translatable("Throughput over fair"),
            "",
            1.0,
            2,
            1,
            id="throughput",
            help=translatable(
                "Goodput divided by the max-min fair share: 1 is all of it. Computed from the mean logarithm; at "
                "least 0.007."
            ),
        ),
        ArenaColumn(
            "arena_queueing",
            translatable("Queueing delay"),
            "RTT",
            1.0,
            2,
            -1,
            id="queueing",
            help=translatable("Mean time that packets wait in queues, in base round-trip times."),
        ),
        ArenaColumn(
            "arena_loss_ratio",
            translatable("Loss of its own"),
            "%",
            100.0,
            2,
            -1,
            id="loss",
            help=translatable("Share of packets lost, beyond the random loss of the links."),
        ),
        ArenaColumn(
            **MEASURES["friendliness"].attributes,
            id="friendliness",
            help=translatable(
                "Goodput of competing TCP divided by what it gets next to one NewReno instead; below 0.8 the network "
                "gets the lowest utility."
            ),
        ),
        ArenaColumn(
            **MEASURES["convergence_s"].attributes,
            id="convergence",
            help=translatable("Time from a change of capacity until a connection has its new fair share."),
        ),
        ArenaColumn(
            "arena_cpu_us",
            translatable("CPU per packet"),
            "µs",
            1.0,
            2,
            -1,
            id="cpu",
            help=translatable("CPU time of the whole simulation per delivered packet, on the machine that ran it."),
        ),
    )
}
"""By id, in order. All but the first are told and not scored."""
