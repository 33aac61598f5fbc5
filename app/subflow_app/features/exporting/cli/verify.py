"""``subflow verify``: whether a bundle's run comes out the same on this machine."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from subflow_app.foundation.json_document import fields
from subflow_app.terminal.exit_codes import worst_of
from subflow_app.terminal.options import Json
from subflow_app.terminal.terminal import print_json, print_line


def verify(
    bundle: Annotated[Path, typer.Argument(metavar="FILE", help="Made by `subflow export RUN --format bundle`.")],
    as_json: Json = False,
) -> None:
    """Simulate a bundle's scenario again and compare.

    Signature, figures and samples are compared with what the bundle holds.

    Exit code: 0 when the run is confirmed, 1 when it is contradicted, 3 when it is not confirmed (it cannot be
    simulated here, or another version made it and the results differ), 2 for a file that is not a bundle or was
    changed after it was made.
    """
    from subflow_app.features.exporting.core.verification import verify_bundle

    found = verify_bundle(bundle)
    if as_json:
        print_json({**asdict(found), **fields(found, "outcome", "holds")})
    else:
        print_line(f"{found.name}: scenario {found.scenario}, seed {found.seed}, made by version {found.made_with}")
        for check in found.checks:
            print_line(f"  {check.verdict:12}  {check.what}: {check.told}")
        print_line(f"{found.outcome.upper()}: {found.reason}")
    raise typer.Exit(worst_of([found.outcome]))
