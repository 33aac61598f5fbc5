"""``subflow verify``: whether a bundle's run comes out the same on this machine."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from subflow_app.cli.exit_codes import FAILED
from subflow_app.cli.options import Json
from subflow_app.cli.terminal import print_json, print_line


def verify(
    bundle: Annotated[Path, typer.Argument(metavar="FILE", help="Made by `subflow export RUN --format bundle`.")],
    as_json: Json = False,
) -> None:
    """Simulate a bundle's scenario again and compare.

    Signature, figures and samples are compared with what the bundle holds.

    Exit code 1 if anything differs, 2 if the file is no bundle or was changed after it was made.
    """
    from subflow_app.core.exporting.verification import verify_bundle

    found = verify_bundle(bundle)
    if as_json:
        print_json({**asdict(found), "holds": found.holds})
    else:
        print_line(f"{found.name}: scenario {found.scenario}, seed {found.seed}, made by version {found.made_with}")
        for check in found.checks:
            print_line(f"  {check.verdict:12}  {check.what}: {check.told}")
        print_line("verified: the same run" if found.holds else "NOT the same run")
    if not found.holds:
        raise typer.Exit(FAILED)
