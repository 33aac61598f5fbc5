"""The validated scenario for a run: resolved, immutable, in SI units. Plain values without behaviour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from subflow_sim.scenario_model import Event, Flow, Link, Node, Note, OptionValue, Profile, ScriptFile
    from subflow_sim.training_model import Training


@dataclass(frozen=True, slots=True)
class Scenario:
    """All inputs that determine a run, apart from the version of the simulator.

    Attributes:
        name: displayed title.
        duration_s: simulated time, s.
        warmup_s: initial time omitted from the summary, s.
        seed: seed of all random draws.
        mss_bytes: payload of a full packet, bytes.
        profile: transport defaults: "linux" (behaviour of a current kernel) or "textbook" (closed forms hold).
        start_jitter_s: upper bound of the random delay of each flow's start, s.
        transport: options set by the file; `transport_params.effective_transport` adds the defaults of the profile.
        nodes: nodes by name, in the order of the file, like links and flows.
        events: events sorted by time; events in the same nanosecond keep the order of the file.
        format: version of the file format.
        scripts: controllers and schedulers of the scenario, including unused ones.
        notes: notes on the drawing; they do not affect a run.
        training: how training episodes differ from the scenario; None: only in their seeds. No effect on a run.
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
