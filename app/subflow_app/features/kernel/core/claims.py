"""Tests a claim about a controller on this machine's kernel, over emulated links in network namespaces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from subflow_app.features.breaking.core.counterexample import Counterexample
from subflow_app.features.breaking.core.trial import Verdict
from subflow_app.features.kernel.core.compare import Case, run_comparisons
from subflow_app.features.kernel.core.probe import probe_machine
from subflow_sim.scenario import Scenario

_SOCKET_BUFFER_BYTES = 64_000_000


def kernel_verdict(each: Counterexample) -> Verdict:
    """Run the network of a counterexample on the kernel, and return the verdict on its claim.

    The network has the transport profile `linux`.

    Raises:
        KernelError: if Linux lacks the controller, or the machine cannot run the kernel's side.
        InputError: if the simulator no longer has the controller, or the kernel has no counterpart of an element of the
            scenario.
    """
    machine = probe_machine()

    def run(scenario: Scenario) -> Mapping[str, Any]:
        case = Case.of(scenario, seed=scenario.seed, socket_buffer_bytes=_SOCKET_BUFFER_BYTES)
        (comparison,) = run_comparisons([case], machine, seeds=1, repetitions=1)
        return comparison.kernel[0].recording.summary()

    return each.trial().verdict(each.network("linux"), run)
