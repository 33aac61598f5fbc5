"""A scenario as the simulator runs it: checked, resolved, immutable, in SI units. Plain values without behaviour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from subflow_sim.scenario_model import Event, Flow, Link, Node, Note, OptionValue, Profile, ScriptFile
    from subflow_sim.training_model import Training


@dataclass(frozen=True, slots=True)
class Scenario:
    """Everything that determines a run, apart from the version of the simulator.

    Attributes:
        name: title for people.
        duration_s: simulated time.
        warmup_s: beginning that is left out of summary figures.
        seed: of all random draws.
        mss_bytes: payload of a full packet.
        profile: transport defaults: "linux" (what a current kernel does) or "textbook" (closed forms hold).
        start_jitter_s: each flow's start is delayed by a seeded uniform draw up to this.
        transport: options that the file sets itself; `transport_params.effective_transport` completes them by profile.
        nodes: by name, in the order of the file; so are links and flows.
        events: sorted by time; the order of the file is kept among those of the same nanosecond.
        format: version of the file format.
        scripts: controllers and schedulers that it brings, also those that no flow has.
        notes: on the drawing; a run takes no notice of them.
        training: how the episodes of training differ from it; None: only by their luck. A run takes no notice of it.
    """

    name: str
    duration_s: float
    warmup_s: float
    seed: int
    mss_bytes: int
    profile: Profile
    start_jitter_s: float
    nodes: Mapping[str, Node]
    links: Mapping[str, Link]
    flows: Mapping[str, Flow]
    events: tuple[Event, ...]
    format: int = 1
    transport: Mapping[str, OptionValue] = field(default_factory=dict)
    training: Training | None = None
    notes: tuple[Note, ...] = ()
    scripts: tuple[ScriptFile, ...] = ()
