"""Values of a `[training]` block, which describes how training episodes differ from their scenario."""

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
    """A parsed scenario file, the basis of the scenarios of episodes.

    Attributes:
        file: name in messages.
        tree: tables without `[training]`; contains the content of traces and scripts.
        algorithms: available algorithms.
        folder: folder of referenced files; None if the scenario is not a file.
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
        at: time of a single change; None: the change repeats.
        every: time from one change, or its reversal, to the next; None: a single change.
        lasts: time until the change is reversed; None: permanent.
        probability: share of the episodes with this change.
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
        episode: duration of episodes; None: the duration of the scenario.
        draws: draws by dotted key of the scenario file, in the order of the block.
        events: changes at random times.
        template: the scenario to which the draws apply.
    """

    episode: Independent | None
    draws: Mapping[str, Draw]
    events: tuple[DrawnEvents, ...]
    template: Template = field(repr=False, compare=False)
