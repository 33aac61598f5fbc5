"""Tries a claim on this machine's kernel: the runs that it names, over emulated links in namespaces of their own."""

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
    """What comes of a counterexample on the kernel, with the `linux` profile of its network.

    Raises:
        KernelError: if it cannot be run there: Linux has no such controller, or the machine does not allow it.
        InputError: if there is no such controller any more.
    """
    machine = probe_machine()

    def run(scenario: Scenario) -> Mapping[str, Any]:
        case = Case.of(scenario, seed=scenario.seed, socket_buffer_bytes=_SOCKET_BUFFER_BYTES)
        (comparison,) = run_comparisons([case], machine, seeds=1, repetitions=1)
        return comparison.kernel[0].recording.summary()

    return each.trial().verdict(each.network("linux"), run)
