"""``subflow replay``: what a stored run was like at a time."""

from __future__ import annotations

from typing import Annotated

import typer

from subflow_app.foundation.errors import InputError
from subflow_app.terminal.options import Database, Json, RunId, opened_store, run_number, time_option
from subflow_app.terminal.terminal import print_json, print_line, print_note, print_tables


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

    The state is the queues and packets of links, the cwnd and RTT of subflows, and what has arrived. Nothing needs
    to have been recorded: the run is simulated again up to that time. If another version of Subflow made it, and
    this one does not reproduce it bit for bit, a message on stderr reports this, as does `notice` in the JSON document.
    """
    from subflow_app.features.explain.core.instant_text import instant_document, instant_tables
    from subflow_app.features.explain.core.replay import Replay
    from subflow_app.foundation.settings import load_settings

    at_s = time_option("--at", at)
    if packets and not as_json:
        raise InputError("--packets goes with --json")
    with opened_store(database, read_only=True) as store:
        number = run_number(store, run)
        replayed = Replay.stored(store, number, budget_bytes=load_settings().replay_budget_bytes)
        replayed.check_time(at_s)
        instant = replayed.seek(at_s)
        # Whether it is the same run is known at its end alone; there is nobody waiting for a jump who could be spared.
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
