"""Print the receive buffers of a scenario's connections by the rule: `python -m tools.receive_buffers SCENARIO`.

Keys that a recipe sets follow as `KEY=VALUE`, such as `links.path1.rate=16Mbit/s`. Each line shows a flow, its buffer
by the rule, and the one that the scenario states.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from subflow_sim.errors import ParamError, ScenarioError
from subflow_sim.receive_buffer import connection_buffer_bytes, size_text
from subflow_sim.scenario import load_scenario
from subflow_sim.shipped import shipped_scenarios


def lines(scenario: str, overrides: Sequence[str] = ()) -> Iterator[str]:
    """A line for each flow of kind tcp or mptcp.

    Args:
        scenario: name of a shipped scenario, or a path.
        overrides: values as `KEY=VALUE`.

    Raises:
        ScenarioError: if the scenario or an override is invalid.
        ParamError: if no buffer follows from a path.
    """
    loaded = load_scenario(shipped_scenarios().get(scenario, Path(scenario)), overrides=list(overrides))
    for name, flow in loaded.flows.items():
        if not flow.sends_datagrams:
            stated = "unlimited" if flow.recv_buffer_bytes is None else size_text(flow.recv_buffer_bytes)
            yield f"{name} {size_text(connection_buffer_bytes(loaded, name, takes_means=True))}, stated: {stated}"


def main(arguments: Sequence[str]) -> None:
    if not arguments:
        sys.exit("usage: python -m tools.receive_buffers SCENARIO [KEY=VALUE ...]")
    try:
        sys.stdout.writelines(f"{line}\n" for line in lines(arguments[0], arguments[1:]))
    except (OSError, ParamError, ScenarioError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(sys.argv[1:])
