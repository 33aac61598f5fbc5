"""``subflow explain`` shows the reasons for decisions of a stored run. ``subflow replay`` shows its state at a time."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import typer

from subflow_app.foundation.errors import InputError
from subflow_app.terminal.options import Database, Json, RunId, opened_store, run_number, time_option
from subflow_app.terminal.terminal import print_json, print_line, print_note, print_tables


def explain(
    run: RunId,
    owner: Annotated[
        str | None,
        typer.Argument(metavar="OWNER", help="A subflow (download/1) or, for its scheduler, a flow (download)."),
    ] = None,
    *,
    at: Annotated[
        str, typer.Option("--at", metavar="TIME", help="The last decision at or before this time, e.g. 12.5s.")
    ],
    previous_count: Annotated[
        int, typer.Option("--previous", min=0, max=10_000, metavar="N", help="Also this many decisions before it.")
    ] = 0,
    next_count: Annotated[
        int, typer.Option("--next", min=0, max=10_000, metavar="N", help="Also this many decisions after it.")
    ] = 0,
    agent: Annotated[
        bool, typer.Option("--agent", help="A learning agent's decision; OWNER is the agent, if the run has several.")
    ] = False,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Explain the decisions of a controller or scheduler.

    Shows the cause in the network (the link, its queue, the time), what the sender noticed and when, the rule with its
    numbers, and a change to try. The details follow: the rule, its formula and source, and its numbers; for a script,
    the executed lines with their numbers filled in. If a run did not keep its decisions (`subflow run --decisions`),
    or a script decided, the run is simulated again to find them. A message on stderr reports this, as do
    `is_resimulated` and `notice` in the JSON document. With --agent, it shows the observation, action and reward of a
    learning agent, and the action that it would have taken with the usual value of one input; every run keeps this.
    For a measured run, it shows the values before and after, as far as they were measured.
    """
    from subflow_app.features.explain.core.explained import (
        explained,
        explanation_document,
        explanation_lines,
        replay_if_possible,
        story_at,
    )
    from subflow_app.features.explain.core.measured_story import measured_lines, measured_story
    from subflow_app.features.explain.core.story import story_document, story_lines
    from subflow_app.features.traces.core.measured import is_measured
    from subflow_app.features.traces.core.traces import StoredTraces
    from subflow_app.features.training.core.agent_explanations import (
        agent_behind,
        agent_decision_lines,
        agent_decisions_around,
        agent_lines,
        decision_with_reasons,
        stored_agent_steps,
    )
    from subflow_app.foundation.settings import load_settings

    at_s = time_option("--at", at)
    documents: list[dict[str, Any]] = []
    texts: list[list[str]] = []
    is_resimulated, notice = False, ""
    with opened_store(database, read_only=True) as store:
        number = run_number(store, run)
        counts = {"before": previous_count + 1, "after": next_count}
        if agent:
            steps, later_steps = agent_decisions_around(store, number, owner, at_s, **counts)
            owner = steps[0].agent.name
            count = len(steps)
            for step in (*steps, *later_steps):
                document, why = decision_with_reasons(store, number, step)
                documents.append(document)
                texts.append(agent_decision_lines(step) + why)
        elif owner is not None and is_measured(store.run(number)):
            measured = measured_story(StoredTraces(store, number), owner, at_s)
            if as_json:
                print_json({"run_id": number, "owner": owner, "at_s": at_s, "measured": measured})
            else:
                for line in measured_lines(measured):
                    print_line(line)
            return
        elif owner is None:
            raise InputError("the owner is missing: give a subflow (download/1), a flow (download), or --agent")
        else:
            budget_bytes = load_settings().replay_budget_bytes
            replay = replay_if_possible(store, number, budget_bytes=budget_bytes)
            found, notice = explained(store, number, owner, at_s, **counts, replay=replay)
            is_resimulated = found.is_resimulated
            count = len(found.before)
            for told, worked in zip((*found.before, *found.after), found.worked, strict=True):
                behind = agent_behind(partial(stored_agent_steps, store, number), told)
                documents.append(explanation_document(told, worked))
                texts.append(explanation_lines(told, worked))
                if behind is not None:
                    documents[-1]["agent"], why = decision_with_reasons(store, number, behind)
                    texts[-1] += agent_lines(behind) + why
            documents[count - 1]["story"] = None
            if replay is not None:
                story, replayed = story_at(replay, store.run(number).mss_bytes, owner, at_s)
                notice = notice or replayed
                documents[count - 1]["story"] = story_document(story, str(number))
                texts[count - 1] = [*story_lines(story, str(number)), *texts[count - 1]]
    if notice:
        print_note(notice)
    if as_json:
        document = {"run_id": number, "owner": owner, "at_s": at_s, "decision": documents[count - 1]}
        document |= {"previous": documents[: count - 1], "next": documents[count:]}
        print_json(document | {"is_resimulated": is_resimulated, "notice": notice})
        return
    for position, lines in enumerate(texts):
        if position:
            print_line()
        for line in lines:
            print_line(line)


def replay(
    run: RunId,
    *,
    at: Annotated[str, typer.Option("--at", metavar="TIME", help="Time of the state, e.g. 12.5s.")],
    packets: Annotated[
        bool, typer.Option("--packets", help="With --json, also every packet in flight: link, subflow, position.")
    ] = False,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Show the state of a run at a time.

    The state includes the queues and packets of links, the cwnd and RTT of subflows, and the delivered data. No
    recording is necessary, because the run is simulated again up to that time. If another version of Subflow made it,
    and this one does not reproduce it bit for bit, a message on stderr reports this, as does `notice` in the JSON
    document.
    """
    from subflow_app.features.explain.core.instant_text import instant_document, instant_tables
    from subflow_app.features.explain.core.replay import Replay
    from subflow_app.foundation.settings import load_settings

    at_s = time_option("--at", at)
    if packets and not as_json:
        raise InputError("--packets requires --json")
    with opened_store(database, read_only=True) as store:
        number = run_number(store, run)
        replayed = Replay.stored(store, number, budget_bytes=load_settings().replay_budget_bytes)
        replayed.check_time(at_s)
        instant = replayed.seek(at_s)
        # Only a replay to the end shows whether it reproduces the run, so the command simulates the rest, too.
        if replayed.notice:
            replayed.prepare()
        notice = replayed.notice
    if notice:
        print_note(notice)
    if as_json:
        print_json({"run_id": number, "at_s": at_s, "notice": notice, **instant_document(instant, has_packets=packets)})
        return
    print_line(f"{replayed.title} at {instant.now_s:.9f} s")
    print_line()
    print_tables(*instant_tables(instant))
