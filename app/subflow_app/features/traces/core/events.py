"""Tables of the monitor intervals, decisions and agent steps of a run, for the store and in memory."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from subflow_sim.gate import json_tree
from subflow_store.errors import StoreCorrupt
from subflow_store.streams import AGENT, DECISION, DECISION_NUMBERS, INTERVAL, StreamSpec
from subflow_store.values import EventTable

if TYPE_CHECKING:
    from subflow_sim.agent_steps import AgentSteps, RunAgent
    from subflow_sim.decisions import Decisions
    from subflow_sim.params import Rule
    from subflow_sim.trace import Intervals

__all__ = [
    "AGENT",
    "DECISION",
    "INTERVAL",
    "EventLog",
    "agent_steps_of",
    "agent_table",
    "decision_table",
    "decisions_of",
    "interval_table",
]

_MOST_ROWS = 1 << 18  # about 40 MB of decisions


def interval_table(intervals: Intervals) -> EventTable:
    """Convert monitor intervals to rows of their event stream in the store."""
    columns = {field: getattr(intervals, field) for field in INTERVAL.fields}
    columns["is_app_limited"] = intervals.is_app_limited.astype(np.int32)
    return EventTable(columns, {"owner": intervals.owners})


def decision_table(decisions: Decisions) -> EventTable:
    """Convert decisions to rows of their event stream in the store.

    Each rule is stored in full, as JSON, because a later version may change its wording or remove it.
    """
    from subflow_sim.decisions import CAUSES

    columns: dict[str, Any] = {
        field: getattr(decisions, field) for field in DECISION.fields if not field.startswith("number_")
    }
    columns |= {f"number_{index + 1}": decisions.numbers[:, index] for index in range(DECISION_NUMBERS)}
    names = {
        "owner": decisions.owners,
        "cause": CAUSES,
        "rule": tuple(map(_text_of, decisions.rules)),
    }
    return EventTable(columns, names)


def decisions_of(table: EventTable) -> Decisions:
    """Inverse of `decision_table`; accepts tables of older versions."""
    from subflow_sim.decisions import CAUSES, Decisions

    owners = table.names["owner"]
    causes = np.array([CAUSES.index(name) for name in table.names["cause"]], np.uint8)
    arrays: dict[str, Any] = {name: table[name] for name in Decisions.columns() if name not in ("cause", "numbers")}
    return Decisions(
        owners,
        tuple("subflow" if "/" in owner else "flow" for owner in owners),
        tuple(_rule_of(text) for text in table.names["rule"]),
        cause=causes[table["cause"]],
        numbers=np.stack([table[f"number_{index + 1}"] for index in range(DECISION_NUMBERS)], axis=1),
        **arrays,
    )


def agent_table(steps: AgentSteps) -> EventTable:
    """Convert steps of agents to rows of their event stream in the store.

    Each agent is stored in full, as JSON, because a later version may change its features or its reward.
    """
    columns: dict[str, Any] = {
        field: getattr(steps, field) for field in AGENT.fields if field not in ("owner", "agent", "is_acting")
    }
    columns |= {"owner": steps.agent, "agent": steps.agent, "is_acting": steps.is_acting.astype(np.int32)}
    names = {
        "owner": tuple(agent.name for agent in steps.agents),
        "agent": tuple(map(_text_of, steps.agents)),
        "subflow": steps.subflows,
    }
    return EventTable({field: columns[field] for field in AGENT.fields}, names)


def agent_steps_of(table: EventTable) -> AgentSteps:
    """Inverse of `agent_table`; accepts tables of older versions."""
    from subflow_sim.agent_steps import AgentSteps

    arrays = {name: table[name] for name in AgentSteps.columns()} | {"is_acting": table["is_acting"] != 0}
    return AgentSteps(tuple(map(_agent_of, table.names["agent"])), table.names["subflow"], **arrays)


@cache
def _text_of(whole: RunAgent | Rule) -> str:
    return json.dumps(asdict(whole), ensure_ascii=False)


@cache
def _agent_of(text: str) -> RunAgent:
    from subflow_sim.agent_steps import RunAgent
    from subflow_sim.vec_env import AgentNumber

    with _stored("an agent"):
        whole = stored_object(text, "name")
        whole |= {name: tuple(AgentNumber(**each) for each in whole[name]) for name in ("features", "actions")}
        return RunAgent(**whole | {"choices": tuple(whole["choices"])})


def _rule_of(text: str) -> Rule:
    from subflow_sim.params import Rule

    with _stored("a rule"):
        whole = stored_object(text, "name", "formula", "source")
        return Rule(whole["name"], whole["formula"], whole["source"], tuple(whole["numbers"]))


def stored_object(text: str, *needed: str) -> dict[str, Any]:
    """Parse the stored JSON object of a rule or an agent.

    Raises:
        StoreCorrupt: if the text is not an object with all `needed` string fields.
    """
    with _stored("a rule or an agent"):
        whole = json_tree(text)
        if not (isinstance(whole, dict) and all(isinstance(whole.get(name), str) for name in needed)):
            raise ValueError(f"no JSON object that has {', '.join(needed)}")
    return whole


@contextmanager
def _stored(what: str) -> Iterator[None]:
    """Turns errors in parsing a stored text into `StoreCorrupt`, because this program wrote the text correctly."""
    try:
        yield
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise StoreCorrupt(
            f"the database is damaged (the text of {what}: {error})",
            way_on="`subflow check FILE` shows what is lost; `subflow salvage FILE -o NEW` copies what is sound."
            " The damaged file is left as it is.",
        ) from error


class EventLog:
    """Keeps the latest rows of an event stream in memory. One thread adds rows, and any thread may read them."""

    def __init__(self, spec: StreamSpec, most_rows: int = _MOST_ROWS) -> None:
        """Start empty, with a maximum number of rows."""
        self._spec = spec
        self._most_rows = most_rows
        self._tables: deque[EventTable] = deque()
        self._rows = 0
        self._lock = threading.Lock()

    def append(self, table: EventTable) -> None:
        """Add rows, whose names must extend those of earlier tables; drop the oldest rows above the maximum."""
        with self._lock:
            self._tables.append(table)
            self._rows += len(table)
            while self._rows - len(self._tables[0]) >= self._most_rows:
                self._rows -= len(self._tables.popleft())

    def table(self) -> EventTable:
        """The latest rows, at most `most_rows`."""
        with self._lock:
            tables = tuple(self._tables)
        if not tables:
            return self._spec.empty()
        whole = tables[0]
        if len(tables) > 1:
            columns = {field: np.concatenate([table[field] for table in tables]) for field in self._spec.fields}
            whole = EventTable(columns, tables[-1].names)
        return whole.select(slice(max(0, len(whole) - self._most_rows), None))
