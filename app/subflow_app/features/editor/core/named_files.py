"""The files that a scenario names and that lie beside it: delivery traces, scripts, policies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from subflow_sim.gate import is_file, is_there, read_file
from subflow_sim.policy_library import MAX_POLICY_BYTES
from subflow_sim.policy_library import SUFFIX as POLICY_SUFFIX
from subflow_sim.scenario import Choice, Scenario
from subflow_sim.script_reader import SUFFIX as SCRIPT_SUFFIX
from subflow_sim.whole_file import write_whole


class OtherFileError(Exception):
    """Where a file is to go, there is another one.

    Attributes:
        path: of that one.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(str(path))
        self.path = path


def bring_along(scenario: Scenario, folder: Path, target: Path) -> None:
    """Copy the files that a scenario names to where it is going to be.

    Args:
        scenario: in order.
        folder: where it was.
        target: the other folder.

    Raises:
        OtherFileError: if there is another file in the place of one; nothing was copied.
        OSError: if one cannot be copied; what was there still is.
    """
    contents: dict[Path, bytes] = {}
    for name in dict.fromkeys(_named_files(scenario)):
        source, copy = folder / name, target / name
        # What has its content in the scenario needs no file.
        if not is_file(source) or (is_there(copy) and copy.samefile(source)):
            continue
        content = read_file(source, MAX_POLICY_BYTES)
        if not is_there(copy):
            contents[copy] = content
        elif not is_file(copy) or copy.stat().st_size != len(content) or copy.read_bytes() != content:
            raise OtherFileError(copy)
    for copy, content in contents.items():
        copy.parent.mkdir(parents=True, exist_ok=True)
        write_whole(copy, content)


def _named_files(scenario: Scenario) -> Iterator[str]:
    """Their names as the scenario has them, relative to its folder."""
    for link in scenario.links.values():
        for side in (link.forward, link.reverse):
            yield from (trace.file for trace in (side.trace, side.delay_trace) if trace is not None)
    yield from (script.file for script in scenario.scripts if script.file.endswith(SCRIPT_SUFFIX))
    choices = [choice for flow in scenario.flows.values() for choice in (flow.controller, flow.scheduler)]
    for choice in choices:
        yield from _policies(choice)


def _policies(choice: Choice) -> Iterator[str]:
    if choice.policy is not None and choice.policy.name.endswith(POLICY_SUFFIX):
        path = Path(choice.policy.name)
        if not path.is_absolute():
            yield choice.policy.name
