"""``subflow check``, ``salvage`` and ``upgrade``: commands for database files that may be damaged or old."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from subflow_app.terminal import failures
from subflow_app.terminal.options import Json
from subflow_app.terminal.terminal import print_json, print_line, print_note, print_rows

if TYPE_CHECKING:
    from subflow_app.features.databases.core import Rescue
    from subflow_store.salvage import Findings

File = Annotated[Path, typer.Argument(metavar="FILE", help="A database of runs.")]


def check(file: File, as_json: Json = False) -> None:
    """Find damage in a database.

    Every row is checked; nothing is changed. Exit code: 0 when everything is sound, 1 when something is damaged, 2 when
    the file does not exist, 130 after Ctrl-C, 143 after SIGTERM.
    """
    from subflow_app.features.databases.core import DAMAGE_COLUMNS, Rescue, contents_text

    found = _carried_out(Rescue(file))
    if as_json:
        print_json({"file": str(file), "is_sound": not found.damage, **_document(found)})
    elif found.damage:
        print_line(f"{file}: {contents_text(found)}; damaged:")
        print_rows(found.damage, DAMAGE_COLUMNS)
        print_line(f"`subflow salvage {file} -o NEW` copies all sound data")
    else:
        print_line(f"{file}: {contents_text(found)}; sound")
    raise typer.Exit(failures.FAILED if found.damage else failures.OK)


def salvage(
    file: File,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="NEW", help="The new database; it must not exist yet.")],
    as_json: Json = False,
) -> None:
    """Copy what is sound in a damaged database to a new one.

    Prints what is lost. Runs keep their numbers, names, notes and tags. The damaged file is left as it is.

    Exit code: 0 when the new one is written, 1 when that failed, 2 when the file does not exist, 130 after Ctrl-C, 143
    after SIGTERM.
    """
    from subflow_app.features.databases.core import DAMAGE_COLUMNS, Rescue, contents_text

    found = _carried_out(Rescue(file, out))
    if as_json:
        print_json({"file": str(out), "salvaged_from": str(file), **_document(found)})
        return
    print_line(f"wrote {out}: {contents_text(found)}")
    if found.damage:
        print_line("lost, or rebuilt as far as possible:")
        print_rows(found.damage, DAMAGE_COLUMNS)
    else:
        print_line("nothing is lost")


def upgrade(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Databases of runs.")],
    as_json: Json = False,
) -> None:
    """Upgrade databases of older versions.

    After that, commands that only read can open them. A copy of each old file is kept next to it.
    """
    from subflow_store.older import upgrade_file

    documents = []
    for file in files:
        done = upgrade_file(file)
        kept = None if done.backup is None else str(done.backup)
        documents.append({"file": str(file), "version_before": done.before, "version": done.after, "kept_as": kept})
        if as_json:
            continue
        if done.before == done.after:
            print_line(f"{file}: already of this version")
        else:
            beside = f"; old file kept as {kept}" if kept is not None else ""
            print_line(f"{file}: upgraded from version {done.before} to {done.after}{beside}")
    if as_json:
        print_json(documents)


def _carried_out(job: Rescue) -> Findings:
    from subflow_app.terminal.progress import in_background

    outcome, signal_number = in_background(job, job.name, lambda: f"{job.progress.fraction:.0%}")
    outcome.check()
    if job.findings is None:
        print_note("stopped")
        raise typer.Exit(failures.stopped_by(signal_number))
    return job.findings


def _document(found: Findings) -> dict[str, object]:
    return {
        "runs": list(found.runs),
        "trainings": list(found.trainings),
        "sweeps": list(found.sweeps),
        "damage": [damage._asdict() for damage in found.damage],
    }
