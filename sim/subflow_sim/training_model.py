"""What a `[training]` block says: how the episodes of training differ from the scenario that has it. Plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subflow_sim.draws import Draw, Independent

if TYPE_CHECKING:
    from subflow_sim.params import AlgorithmCatalog


@dataclass(frozen=True, slots=True)
class Template:
    """A scenario file as parsed, from which the scenarios of episodes are made.

    Attributes:
        file: what messages call it.
        tree: of tables, without `[training]`; delivery traces and scripts have their content in it.
        algorithms: that it may name.
        folder: where the files are that it names.
    """

    file: str
    tree: Mapping[str, Any]
    algorithms: AlgorithmCatalog
    folder: Path | None


@dataclass(frozen=True, slots=True)
class DrawnEvents:
    """Changes at random times: a row of `[[training.events]]`.

    Attributes:
        values: draws by key of an `[[events]]` table, without the time.
        at: when the one change happens; None: it is repeated.
        every: time from one change, or its undoing, to the next; None: it happens once.
        lasts: how long until it is undone; None: it is not.
        probability: share of the episodes that have it.
    """

    values: Mapping[str, Independent]
    at: Independent | None
    every: Independent | None
    lasts: Independent | None
    probability: float


@dataclass(frozen=True, slots=True)
class Training:
    """A `[training]` block.

    Attributes:
        episode: how long episodes last; None: as long as the scenario.
        draws: by dotted key of the scenario file, in the order of the block.
        events: changes at random times.
        template: what the draws are put into.
    """

    episode: Independent | None
    draws: Mapping[str, Draw]
    events: tuple[DrawnEvents, ...]
    template: Template = field(repr=False, compare=False)
