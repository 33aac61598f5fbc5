"""The versions of a script, as runs in the history have them: each stored run holds the text that it was made with."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from subflow_app.vocabulary.measure import Measure
from subflow_sim.params import SCRIPT_SECTIONS
from subflow_sim.scenario_model import ScriptKind

if TYPE_CHECKING:
    from subflow_store import Store
    from subflow_store.values import RunRow

MOST_RUNS = 100
"""The latest runs with a script that are looked through."""


@dataclass(frozen=True, slots=True)
class ScriptVersion:
    """A text of a script, with the latest run that was made with it.

    Attributes:
        number: from 1, in the order in which they were first run.
        text: of the script.
        run: the latest with it, with its documents.
        count: how many runs with it there are.
        flows: those of the run's summary that have the script.
    """

    number: int
    text: str
    run: RunRow
    count: int
    flows: tuple[Mapping[str, Any], ...]

    def figure(self, measured: Measure) -> float | None:
        """A measure of the flows that have the script together, SI; None where it is not known."""
        return measured.of_parts(self.flows)


def script_versions(
    store: Store, kind: ScriptKind, name: str, scenario: str, is_given_up: Callable[[], bool] = lambda: False
) -> tuple[ScriptVersion, ...]:
    """The versions of a script that there are runs of, the latest first.

    Args:
        store: with the runs.
        kind: of the script.
        name: of it; another script of that name counts as a version, too.
        scenario: name of the one that the runs are of: results of others cannot be compared.
        is_given_up: whether all this is in vain.

    Raises:
        InterruptedError: if it was given up.
        StoreError: if the store cannot be read.
    """
    key = f"{SCRIPT_SECTIONS[kind]}.{name}.content"
    numbers = sorted(store.values(key), reverse=True)[:MOST_RUNS]
    found: dict[str, list[RunRow]] = {}
    for number in numbers:
        if is_given_up():
            raise InterruptedError
        run = store.run(number)
        text = _text_of(run, kind, name)
        if text is not None and run.scenario_name == scenario and not run.deleted:
            found.setdefault(text, []).append(run)
    # The first run of each, which is the last in its list, decides on the number.
    order = sorted(found, key=lambda text: found[text][-1].id)
    versions = [_version(place, text, found[text], kind, name) for place, text in enumerate(order, start=1)]
    return tuple(sorted(versions, key=lambda each: -each.run.id))


def _text_of(run: RunRow, kind: ScriptKind, name: str) -> str | None:
    try:
        text = tomllib.loads(run.scenario_text or "")[SCRIPT_SECTIONS[kind]][name]["content"]
    except (tomllib.TOMLDecodeError, KeyError, TypeError):
        return None  # a database that somebody else has written into
    return text if isinstance(text, str) else None


def _version(number: int, text: str, runs: Sequence[RunRow], kind: ScriptKind, name: str) -> ScriptVersion:
    return ScriptVersion(number, text, runs[0], len(runs), tuple(_flows_with(runs[0], kind, name)))


def _flows_with(run: RunRow, kind: ScriptKind, name: str) -> Iterator[dict[str, Any]]:
    """What the summary says of the flows that have the script."""
    for flow in (run.summary or {}).get("flows", ()):
        if isinstance(flow, dict) and flow.get(kind) == name:
            yield flow
