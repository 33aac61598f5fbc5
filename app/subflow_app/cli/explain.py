"""``subflow explain``: why a controller or scheduler of a stored run did what it did."""

from __future__ import annotations

from typing import Annotated

import typer

from subflow_app.cli.options import Database, Json, RunId, opened_store, run_number, time_option
from subflow_app.cli.terminal import print_json, print_line


def explain(
    run: RunId,
    owner: Annotated[
        str, typer.Argument(metavar="OWNER", help="A subflow (download/1) or, for its scheduler, a flow (download).")
    ],
    at: Annotated[
        str, typer.Option("--at", metavar="TIME", help="The last decision at or before this time, e.g. 12.5s.")
    ],
    previous_count: Annotated[
        int, typer.Option("--previous", min=0, max=10_000, metavar="N", help="Also so many decisions before it.")
    ] = 0,
    next_count: Annotated[
        int, typer.Option("--next", min=0, max=10_000, metavar="N", help="Also so many decisions after it.")
    ] = 0,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Explain what a controller or scheduler decided: the rule, its formula and source, and the numbers that went in.

    It needs a run that kept its decisions: `subflow run --decisions`.
    """
    from subflow_app.core.explanations import decisions_around, explanation_document, explanation_lines

    at_s = time_option("--at", at)
    with opened_store(database, read_only=True) as store:
        number = run_number(store, run)
        before, after = decisions_around(store, number, owner, at_s, before=previous_count + 1, after=next_count)
    if as_json:
        *previous, current = map(explanation_document, before)
        following = list(map(explanation_document, after))
        document = {"run_id": number, "owner": owner, "at_s": at_s, "decision": current}
        print_json(document | {"previous": previous, "next": following})
        return
    for position, explanation in enumerate((*before, *after)):
        if position:
            print_line()
        for line in explanation_lines(explanation):
            print_line(line)
