"""Scenario files whose flows state a receive buffer by the rule of `receive_buffer`."""

from __future__ import annotations

from subflow_sim.receive_buffer import connection_buffer_bytes, size_text
from subflow_sim.scenario import parse_scenario


def with_buffers(text: str, file: str) -> str:
    """A scenario file whose tcp and mptcp flows all state a receive buffer by the rule.

    Args:
        text: the file without buffers, with each flow under a header `[flows.NAME]`. A recorded rate counts with its
            mean.
        file: name of the file in messages.

    Raises:
        ScenarioError: if the file is not a valid scenario.
        ParamError: as `connection_buffer_bytes`.
    """
    scenario = parse_scenario(text, file=file)
    for name, flow in scenario.flows.items():
        if not flow.sends_datagrams:
            size = connection_buffer_bytes(scenario, name, takes_means=True)
            text = text.replace(f"[flows.{name}]\n", f'[flows.{name}]\nrecv_buffer = "{size_text(size)}"\n', 1)
    return text
