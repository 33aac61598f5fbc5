"""``subflow agents``: the trained policies that scenarios can name, and the card of one; `promote` adds one."""

from __future__ import annotations

from typing import Annotated

import typer

from subflow_app.terminal.options import Json
from subflow_app.terminal.terminal import print_json, print_line, print_list

agents_app = typer.Typer(invoke_without_command=True, no_args_is_help=False, help="List the trained policies.")


@agents_app.callback()
def agents(context: typer.Context, as_json: Json = False) -> None:
    """List the trained policies that scenarios can name, show one, or add one.

    `subflow run FILE --set flows.x.controller=CONTROLLER --set flows.x.controller.policy=NAME` runs flow x with one.
    """
    if context.invoked_subcommand is not None:
        return
    from subflow_app.features.policies.core import policy_columns, policy_document, policy_records

    records = policy_records()
    nothing = "no policies yet: `subflow train AGENT` makes one"
    print_list(records, policy_columns(records), policy_document, as_json=as_json, nothing=nothing)


@agents_app.command()
def show(
    name: Annotated[
        str, typer.Argument(metavar="NAME|FILE", help="Policy in the library, or the path of a policy file.")
    ],
    as_json: Json = False,
) -> None:
    """Show the card of a policy.

    The card describes the inputs and actions of the policy, its training and its performance.
    """
    from subflow_app.features.policies.core import find_policy, policy_document, policy_lines

    record = find_policy(name)
    if as_json:
        print_json(policy_document(record))
        return
    for line in policy_lines(record):
        print_line(line)
