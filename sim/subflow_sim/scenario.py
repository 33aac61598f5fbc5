"""Reads scenario files: converts TOML text to an immutable `Scenario` in SI units, or lists all its errors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subflow_sim.errors import Problem, ScenarioError
from subflow_sim.gate import TooLargeFileError, is_there, read_scenario_file
from subflow_sim.plain_text import did_you_mean
from subflow_sim.scenario_model import (
    NO_CHOICE,
    Access,
    Arrivals,
    Choice,
    DelayTrace,
    DeliveryTrace,
    Event,
    Flow,
    GilbertLoss,
    Grants,
    Handover,
    Jitter,
    Link,
    LinkDirection,
    LossTrace,
    Node,
    Note,
    Outages,
    QueueSpec,
    Retransmission,
    TokenBucket,
)
from subflow_sim.schema import scenario_schema
from subflow_sim.shipped import shipped_scenarios
from subflow_sim.whole_scenario import Scenario

if TYPE_CHECKING:
    from subflow_sim.params import AlgorithmCatalog

__all__ = [
    "NO_CHOICE",
    "Access",
    "Arrivals",
    "Choice",
    "DelayTrace",
    "DeliveryTrace",
    "Event",
    "Flow",
    "GilbertLoss",
    "Grants",
    "Handover",
    "Jitter",
    "Link",
    "LinkDirection",
    "LossTrace",
    "Node",
    "Note",
    "Outages",
    "QueueSpec",
    "Retransmission",
    "Scenario",
    "TokenBucket",
    "load_scenario",
    "parse_scenario",
    "read_scenario_text",
    "scenario_schema",
]


def parse_scenario(
    text: str,
    *,
    file: str = "<scenario>",
    overrides: Sequence[str] = (),
    algorithms: AlgorithmCatalog | None = None,
    folder: Path | None = None,
    tree: dict[str, Any] | None = None,
) -> Scenario:
    """Reads a scenario file and checks all of it.

    Args:
        text: TOML text.
        file: name in messages; its stem is the default name of the scenario.
        overrides: "KEY=VALUE" with a dotted key, e.g. "links.wifi.loss=1%", "events.0.at=5s". They replace or add
            values before all checks; a value that is not TOML is text.
        algorithms: the available controllers, schedulers and trained policies; None: the algorithms of the compiled
            core and the shipped policies.
        folder: folder of referenced files (traces, scripts, policies); None: only embedded content, shipped scripts and
            policies of the library are usable.
        tree: the result of `tomllib` for the text, if already parsed; overrides change it.

    Raises:
        ScenarioError: if the text has problems; the error contains all of them in the order of the file.
    """
    from subflow_sim.scenario_text import read_scenario

    if algorithms is None:
        from subflow_sim.catalog import catalog

        algorithms = catalog()
    return read_scenario(text, file=file, overrides=overrides, algorithms=algorithms, folder=folder, tree=tree)


def load_scenario(
    path: str | Path,
    *,
    overrides: Sequence[str] = (),
    algorithms: AlgorithmCatalog | None = None,
) -> Scenario:
    """Reads a scenario from a file; see `parse_scenario`.

    Args:
        path: the file, or the name of a shipped scenario, for example "demo", unless a file has that name.
        overrides: see `parse_scenario`.
        algorithms: see `parse_scenario`.

    Raises:
        ScenarioError: if the file cannot be read, is not UTF-8, or has problems.
    """
    file = Path(path)
    if isinstance(path, str) and not file.suffix and not is_there(file):
        names = shipped_scenarios()
        if path not in names:
            allowed = f"a file, or a scenario that ships{did_you_mean(path, list(names))}"
            raise ScenarioError([Problem(path, None, "", "", "no such file, and no scenario that ships", allowed)])
        file = names[path]
    return parse_scenario(
        read_scenario_text(file), file=str(file), overrides=overrides, algorithms=algorithms, folder=file.parent
    )


def read_scenario_text(path: str | Path) -> str:
    """The text of a scenario file.

    Raises:
        ScenarioError: if the file cannot be read, is too large, or is not UTF-8.
    """
    file = str(path)
    try:
        content = read_scenario_file(path)
    except OSError as error:
        reason = error.strerror or str(error)
        allowed = "a smaller file" if isinstance(error, TooLargeFileError) else "a readable file"
        raise ScenarioError([Problem(file, None, "", "", f"cannot be read: {reason}", allowed)]) from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ScenarioError([Problem(file, line, "", "", "not UTF-8 text", "a text file saved as UTF-8")]) from error
