"""The formats in which a topology can be written for other programs, and the file of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from subflow_app.features.editor.core.graph_files import graphml_of, left_out
from subflow_app.features.testbed.core import containerlab_file, mininet_script, netns_script, tc_script
from subflow_app.features.testbed.core.testbed import Testbed, make_testbed
from subflow_app.foundation.files import write_file
from subflow_app.vocabulary.language import translatable

if TYPE_CHECKING:
    from subflow_app.features.editor.core.layout import Point
    from subflow_sim.scenario import Scenario


@dataclass(frozen=True, slots=True)
class TopologyFormat:
    """A format of topologies.

    Attributes:
        name: value of `--format`.
        title: name of the format in the window, in English.
        suffix: end of the name of its files.
        content: text of the file, and what it leaves out, from a scenario and the places of its nodes.
        is_script: whether the file can be executed.
    """

    name: str
    title: str
    suffix: str
    content: Callable[[Scenario, Mapping[str, Point]], tuple[str, tuple[str, ...]]]
    is_script: bool = False


def _graphml(scenario: Scenario, places: Mapping[str, Point]) -> tuple[str, tuple[str, ...]]:
    return graphml_of(scenario, places), left_out(scenario)


def _for_testbed(
    write: Callable[[Testbed], str], limits: Callable[[Testbed], tuple[str, ...]]
) -> Callable[[Scenario, Mapping[str, Point]], tuple[str, tuple[str, ...]]]:
    def content(scenario: Scenario, places: Mapping[str, Point]) -> tuple[str, tuple[str, ...]]:
        del places
        testbed = make_testbed(scenario)
        return write(testbed), limits(testbed)

    return content


FORMATS: Mapping[str, TopologyFormat] = MappingProxyType(
    {
        made.name: made
        for made in (
            TopologyFormat("graphml", "GraphML", ".graphml", _graphml),
            TopologyFormat(
                "netns",
                translatable("Network namespaces of Linux"),
                ".sh",
                _for_testbed(netns_script.netns_script, netns_script.limits),
                is_script=True,
            ),
            TopologyFormat(
                "mininet",
                translatable("Mininet"),
                ".py",
                _for_testbed(mininet_script.mininet_script, mininet_script.limits),
                is_script=True,
            ),
            TopologyFormat(
                "containerlab",
                translatable("containerlab"),
                ".clab.yml",
                _for_testbed(containerlab_file.containerlab_file, containerlab_file.limits),
            ),
            TopologyFormat(
                "tc",
                translatable("Links alone, as commands of tc"),
                ".tc.sh",
                _for_testbed(tc_script.tc_script, tc_script.limits),
                True,
            ),
        )
    }
)
"""All formats by name; the first is the default."""
TESTBEDS = tuple(made for made in FORMATS.values() if made.name != "graphml")
"""The formats for testbeds."""


def export_topology(scenario: Scenario, places: Mapping[str, Point], path: Path, format_name: str) -> tuple[str, ...]:
    """Write the topology of a scenario to a file.

    Args:
        scenario: the scenario.
        places: places of the nodes on the canvas, by name, for GraphML.
        path: the file.
        format_name: a key of `FORMATS`.

    Returns:
        The parts of the scenario that the file leaves out, each in a few words.

    Raises:
        ExportError: if the file cannot be written.
        InputError: if the format cannot hold the scenario.
    """
    made = FORMATS[format_name]
    text, missing = made.content(scenario, places)
    write_file(path, text)
    if made.is_script:
        # The permission to read implies that to execute, as `umask` allows.
        path.chmod(path.stat().st_mode | (path.stat().st_mode & 0o444) >> 2)
    return missing
