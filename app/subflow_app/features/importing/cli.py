"""``subflow import`` makes runs of measurements and scenarios of networks; ``subflow import-trace``, runs alone."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from subflow_app.foundation.errors import InputError
from subflow_app.foundation.paths import policy_folder
from subflow_app.terminal.failures import stopped_by
from subflow_app.terminal.options import Database, Json, ListedCommand, opened_store, positive_time_option
from subflow_app.terminal.terminal import print_json, print_line, print_note, print_rows
from subflow_app.vocabulary.number_text import counted
from subflow_app.vocabulary.tables import Column, NumberColumn
from subflow_sim.gate import is_there

if TYPE_CHECKING:
    from subflow_app.features.importing.core.door import Recognised
    from subflow_app.features.measured.core.measured_table import MeasuredTable, RawColumn, ReadingOptions


def _format_names() -> str:
    from subflow_app.features.measured.core.trace_formats import format_names

    return ", ".join(format_names())


class ImportTraceCommand(ListedCommand):
    """`import` and `import-trace`, whose help lists the file formats."""

    lists: ClassVar = {"formats": _format_names}


Format = Annotated[str, typer.Option(metavar="FORMAT", help="Measurements: any of {formats}.")]
Maps = Annotated[
    list[str] | None,
    typer.Option("--map", metavar="COLUMN=TRACE:OWNER", help="Meaning of a column, e.g. cwnd=cwnd_pkts:download/1."),
]
Units = Annotated[
    list[str] | None,
    typer.Option("--unit", metavar="COLUMN=UNIT", help="Unit of a column, or of the times (time=ms). Repeatable."),
]
Time = Annotated[str, typer.Option(metavar="COLUMN", help="The column of times.")]
Interval = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Time between samples; for ss logs without times, also between their entries."),
]
ClockWay = Annotated[
    str, typer.Option(metavar="WAY", help="If times go back: refuse, sort, drop, or join (shift the rest).")
]
Flow = Annotated[str, typer.Option(metavar="NAME", help="Name of the first connection; the others get .2, .3, ...")]
Mss = Annotated[int | None, typer.Option(min=1, max=65535, metavar="BYTES", help="Payload of a full packet.")]
Name = Annotated[str | None, typer.Option(metavar="TEXT", help="Name of the run; default: that of the file.")]
Preview = Annotated[bool, typer.Option("--preview", help="Only show what the file holds.")]
Addresses = Annotated[bool, typer.Option("--addresses", help="Keep the addresses of hosts, which are left out.")]


@dataclass(frozen=True, slots=True)
class _Measuring:
    """Options for files of measurements."""

    reading: ReadingOptions
    name: str | None
    is_preview: bool
    is_json: bool


def import_files(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Files of other programs.")],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FILE", help="Scenario to write; default: next to FILE.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the scenario if it exists.")] = False,
    run: Annotated[int, typer.Option(min=1, metavar="N", help="Number of the run, if a page has several.")] = 1,
    format: Format = "auto",
    maps: Maps = None,
    units: Units = None,
    time: Time = "",
    interval: Interval = None,
    clock: ClockWay = "refuse",
    flow: Flow = "measured",
    mss: Mss = None,
    name: Name = None,
    preview: Preview = False,
    addresses: Addresses = False,
    as_json: Json = False,
    database: Database = None,
) -> None:
    r"""Import measurements as runs, and networks as scenarios.

    The format is recognised by the content of each file. Measurements: logs of ss -tin, captures (pcap, pcapng), iperf3
    (JSON and text), qlog, tables of tshark -T fields, and other tables. Each becomes a run with the tag "measured":
    it is plotted and compared like a simulated one. Networks: GraphML and GML as of the Topology Zoo, SNDlib, topohub,
    MiniEdit, containerlab, Mininet scripts (never run), commands of tc, and web pages that `subflow export RUN --page`
    wrote. Each becomes a scenario beside the file, and so does a recording of a link: rates, delays or losses over
    time, as in 5G and LTE data sets or of Mahimahi. Shipped measurements are known by their names.

    \b
    subflow import ss-mptcp.log
    subflow import download.pcapng --flow download
    subflow import table.csv --preview
    subflow import Geant2012.graphml -o geant.toml
    """
    from subflow_app.features.importing.core.door import Way, recognise
    from subflow_app.foundation.resources import find_measurement

    found = [recognise(find_measurement(file), format) for file in files]
    scenarios = [each for each in found if each.way is not Way.RUN]
    if out is not None and len(scenarios) != 1:
        raise InputError(f'--out "{out}": names one scenario, but the files make {len(scenarios)}')
    network = next((each for each in scenarios if each.way is not Way.RECORDING), None)
    if preview and network is not None:
        raise InputError(f"--preview shows measurements and recordings; {network.path.name} is a network")
    if name is not None and len(found) - len(scenarios) != 1:
        raise InputError(f'--name "{name}": names one run, but the files make {len(found) - len(scenarios)}')
    measuring = _Measuring(
        _reading_options(format, maps, units, time, interval, clock, flow, mss, is_addressed=addresses),
        name,
        preview,
        as_json,
    )
    documents: list[dict[str, Any]] = []
    for each in found:
        if each.way is Way.RUN:
            documents.append(_import_run(each, measuring, database))
        elif each.way is Way.PAGE:
            documents.append(_import_page(each.path, out, run, force=force, as_json=as_json))
        elif each.way is Way.RECORDING:
            documents.append(_import_recording(each.path, out, force=force, is_preview=preview, as_json=as_json))
        else:
            documents.append(_import_graph(each.path, out, force=force, as_json=as_json))
    if as_json:
        print_json(documents[0] if len(documents) == 1 else {"imported": documents})


def import_trace(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A measurement in any format of `subflow import`.")],
    format: Format = "auto",
    maps: Maps = None,
    units: Units = None,
    time: Time = "",
    interval: Interval = None,
    clock: ClockWay = "refuse",
    flow: Flow = "measured",
    mss: Mss = None,
    name: Name = None,
    preview: Preview = False,
    addresses: Addresses = False,
    as_json: Json = False,
    database: Database = None,
) -> None:
    """Import a measurement as a run.

    `subflow import` does the same, and recognises networks, too.

    The run has the tag "measured", and is plotted and compared like any other.

    Meanings and units of columns are guessed from their headings; --preview shows the guess; --map, --unit change it.
    Give measured connections the names of the scenario's flows (--flow download) to lay them over simulated ones.
    """
    from subflow_app.features.importing.core.door import Recognised, Way
    from subflow_app.features.measured.core.trace_formats import trace_format

    options = _reading_options(format, maps, units, time, interval, clock, flow, mss, is_addressed=addresses)
    try:
        kind = trace_format(format, file)
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}") from error
    measuring = _Measuring(options, name, preview, as_json)
    document = _import_run(Recognised(file, Way.RUN, kind.name, kind.title), measuring, database)
    if as_json:
        print_json(document)


def _reading_options(
    format: str,
    maps: list[str] | None,
    units: list[str] | None,
    time: str,
    interval: str | None,
    clock: str,
    flow: str,
    mss: int | None,
    *,
    is_addressed: bool,
) -> ReadingOptions:
    from subflow_app.features.measured.core.measured_table import CLOCKS, ReadingOptions

    way = next((each for each in CLOCKS if each == clock), None)
    if way is None:
        raise InputError(f'--clock = "{clock}": must be one of {", ".join(CLOCKS)}')
    stated_units = _pairs("--unit", units)
    return ReadingOptions(
        format=format,
        time_unit=stated_units.pop("time", ""),
        time_column=time,
        interval_s=None if interval is None else positive_time_option("--interval", interval, "100ms"),
        clock=way,
        flow=flow,
        mss_bytes=mss,
        maps=_pairs("--map", maps),
        units=stated_units,
        is_addressed=is_addressed,
    )


def _import_run(found: Recognised, measuring: _Measuring, database: Path | None) -> dict[str, Any]:
    """Import a measurement, print the result unless as JSON, and return the document."""
    from subflow_app.features.measured.core.measured_run import found_text, keep_run, make_run
    from subflow_app.features.measured.core.reading import Reading
    from subflow_app.terminal.progress import in_background

    options = replace(measuring.reading, format=found.format)
    reading = Reading(found.path, options)
    table, signal_number = in_background(
        reading, f"reading {found.path.name}", lambda: f"{reading.progress.fraction:.0%}"
    )
    if table is None or signal_number:
        print_note(f"{found.path.name}: stopped; nothing of it is kept")
        raise typer.Exit(stopped_by(signal_number))
    if measuring.is_preview:
        return _preview(table, found_text(table), is_json=measuring.is_json)
    run = make_run(
        table,
        name=measuring.name or found.path.stem,
        path=found.path,
        interval_s=options.interval_s,
        mss_bytes=options.mss_bytes,
    )
    with opened_store(database) as store:
        run_id = keep_run(run, store)
    if measuring.is_json:
        columns = [target.text for target in run.targets]
        return {**run.summary(), "run_id": run_id, "found": found_text(table), "columns": columns}
    for notice in run.notices:
        print_note(notice)
    print_line(found_text(table))
    _print_columns(table)
    print_line(
        f'kept as run {run_id}: "{run.name}", {counted(len(run.values), "sample")} of'
        f" {counted(len(run.targets), 'trace')},"
        f" every {run.interval_s:g} s"
    )
    return {}


def _import_graph(file: Path, out: Path | None, *, force: bool, as_json: bool) -> dict[str, Any]:
    """Make a scenario of a graph, print the result unless as JSON, and return the document."""
    from subflow_app.features.editor.core.graph_import import import_graph

    found = import_graph(file)
    target = _written(file, out, found.text, force=force)
    if not as_json:
        print_line(found.summary)
        print_line(found.details)
        print_line(f"wrote {target}")
    document = {"scenario": str(target), "name": found.name, "nodes": found.node_count}
    return {**document, "notes": list(found.notes), "links": [asdict(link) for link in found.links]}


def _import_recording(file: Path, out: Path | None, *, force: bool, is_preview: bool, as_json: bool) -> dict[str, Any]:
    """Make a scenario whose link follows a recording, print the result unless as JSON, and return the document."""
    from subflow_app.features.importing.core.recordings import read_link_recording

    found = read_link_recording(file)
    document: dict[str, Any] = {"found": found.summary, "values": dict(found.values)}
    if not as_json:
        print_line(found.summary)
        print_line(f'in a scenario beside the file: {next(iter(found.values))} = {{ trace = "{file.name}" }}')
    if is_preview:
        return document
    target = _written(file, out, found.text_in((out or file).parent), force=force)
    if not as_json:
        print_line(f"wrote {target}")
    return {**document, "scenario": str(target)}


def _import_page(file: Path, out: Path | None, run: int, *, force: bool, as_json: bool) -> dict[str, Any]:
    """Make a scenario of a run in a page, print the result unless as JSON, and return the document."""
    from subflow_app.features.exporting.core.page_import import read_page
    from subflow_app.features.policies.core import keep_policies

    found = read_page(file).scenario(run)
    added = keep_policies(found.policies)
    for line in (*found.notices, *(f"policy {name}: added to the library, {policy_folder()}" for name in added)):
        print_note(line)
    target = _written(file, out, found.text, force=force)
    if not as_json:
        print_line(f"{found.scenario.name}: signature {found.signature or 'not known'}")
        print_line(f"wrote {target}")
    document = {"scenario": str(target), "name": found.scenario.name, "signature": found.signature}
    return {**document, "policies_added": list(added)}


def _written(file: Path, out: Path | None, text: str, *, force: bool) -> Path:
    """Write the scenario to `out`, by default next to the source file, and return the path of the file.

    Raises:
        InputError: if the file exists and `force` is False, or if it cannot be written.
    """
    from subflow_sim.whole_file import write_whole

    target = out or file.with_suffix(".toml")
    if is_there(target) and not force:
        raise InputError(f"{target} exists: name another file with --out, or replace it with --force")
    try:
        write_whole(target, text.encode("utf-8"))
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror or error}") from error
    return target


def _preview(table: MeasuredTable, found: str, *, is_json: bool) -> dict[str, Any]:
    """Print the columns and their meanings unless as JSON, and return the document."""
    from subflow_app.features.measured.core.measured_run import doubts_of

    notices = [*table.notices, *doubts_of(table)]
    if is_json:
        columns: list[dict[str, Any]] = [
            {
                "title": column.title,
                "unit": column.unit,
                "trace": column.target.text if column.target is not None else None,
                "samples": len(column.values),
            }
            for column in table.columns
        ]
        return {"format": table.format, "found": found, "columns": columns, "notices": notices}
    print_line(found)
    _print_columns(table)
    for notice in notices:
        print_line(notice)
    return {}


def _print_columns(table: MeasuredTable) -> None:
    shown: tuple[Column[RawColumn], ...] = (
        Column("column", lambda column: column.title),
        Column("unit", _unit),
        Column("trace", lambda column: column.target.text if column.target is not None else "left out"),
        NumberColumn("samples", lambda column: len(column.values)),
    )
    print_rows(table.columns, shown)


def _unit(column: RawColumn) -> str:
    from subflow_app.features.measured.core.measured_table import BY_NAME

    return column.unit or (BY_NAME[column.target.name].unit if column.target is not None else "")


def _pairs(option: str, texts: list[str] | None) -> dict[str, str]:
    """Dictionary from ``NAME=VALUE`` strings, which are split at the last "=", because names may contain "=" too."""
    pairs = {}
    for text in texts or ():
        name, equals, value = text.rpartition("=")
        if not equals or not name.strip():
            raise InputError(f'{option} "{text}": must be COLUMN=VALUE')
        pairs[name.strip()] = value.strip()
    return pairs
