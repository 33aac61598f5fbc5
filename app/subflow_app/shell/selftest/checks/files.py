"""Checks of reading and writing files: database, data, figures, reports, faulty files, and unusual names.

Database: a run is stored, read back unchanged, annotated, deleted, restored, and copied.

Data: a run is exported as CSV, long CSV, Parquet, a packet capture, and a bundle that is simulated again.

Figures: the command and the window's drawing process draw figures in all formats, and reports.

Refused files: unusable scenarios and databases are refused with a reason and left unchanged.

Unusual names: paths with spaces, non-Latin letters and symbols work, even in a terminal restricted to ASCII.
"""

from __future__ import annotations

import csv
import sqlite3
import xml.etree.ElementTree as ElementTree
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from subflow_app.shell.selftest.check import Check, Place, is_to_be_here, keep_short_run, require

if TYPE_CHECKING:
    from subflow_app.features.traces.core.traces import Traces
    from subflow_store import Store


_NOTE = "Grüße, 世界"


def _check_store(place: Place) -> str:
    """Store a run in a database and read it back."""
    from subflow_app.features.catalog.core.uses import Use
    from subflow_app.features.editor.core.scenario_source import open_scenario
    from subflow_app.features.running.core.runs import RunJob
    from subflow_store import open_store

    source = open_scenario("demo", use=Use.SELF_TEST)
    database, copy = place.folder / "runs.subflow", place.folder / "copy.subflow"
    with open_store(database) as store:
        job = RunJob(source.scenario, source.text, store=store)
        result = job.run()
        require(result.run_id is not None, f"the run is not kept: {result.store_error or result.error}")
        assert result.run_id is not None
        store.set_note(result.run_id, _NOTE)
        store.delete([result.run_id])
        require(not store.runs(), "a deleted run is listed")
        store.undelete([result.run_id])
        store.save_copy(copy)
    count = 0
    for path in (database, copy):
        with open_store(path, read_only=True) as store:
            count = _compare(path, store, result.run_id, job.traces, result.summary["signature"], source.text)
    return f"signature {result.summary['signature']}, {count} traces as they were, also in a copy"


def _compare(path: Path, store: Store, run_id: int, made: Traces, signature: str, scenario_text: str) -> int:
    """Compare a stored run with the original; returns the number of traces, and raises CheckError if they differ."""
    import numpy as np

    from subflow_app.features.traces.core.traces import StoredTraces

    run, traces = store.run(run_id), StoredTraces(store, run_id)
    require(run.signature == signature, f"{path.name} has the signature {run.signature}, the run had {signature}")
    require(run.note == _NOTE, f"{path.name} has the note {run.note}")
    require(run.scenario_text == scenario_text, f"{path.name} has another scenario text")
    require(set(traces.keys()) == set(made.keys()), f"{path.name} has other traces")
    for key in traces.keys():  # noqa: SIM118 # a method of StoredTraces, not of a dict
        (times, values), (made_times, made_values) = traces.read(key), made.read(key)
        is_same = np.array_equal(times, made_times) and np.array_equal(values, made_values, equal_nan=True)
        require(is_same, f"{path.name} has other samples of {key}")
    return len(traces.keys())


STORE = Check("store", _check_store)


def _check_tables(place: Place) -> str:
    """Export a run in all data formats, and read each file again."""
    from subflow_app.features.exporting.core.table_formats import TABLE_FORMATS
    from subflow_app.features.exporting.core.verification import verify_bundle
    from subflow_app.features.measured.core.measured_table import ReadingOptions
    from subflow_app.features.measured.core.pcap_reader import read_pcap

    number = keep_short_run(place.folder / "runs.subflow")
    formats = ("csv", *(table.name for table in TABLE_FORMATS), "pcapng", "bundle")
    words = ("--db", "runs.subflow", "--format", ",".join(formats), "--until", "5s", "--out", "data")
    place.subflow("export", number, *words)
    folder = place.folder / "data"
    rows, columns = _csv_size(folder / "subflows.csv")
    require(rows > 1 and columns > 1, f"subflows.csv has {rows} rows and {columns} columns")
    for name in ("subflows.parquet", "samples.parquet"):
        _check_parquet(folder / name)
    if is_to_be_here("dpkt"):
        require(read_pcap(folder / "mptcp.pcapng", ReadingOptions()).columns, "the capture has no connection")
    verified = verify_bundle(folder / f"run-{number}.subflow.zip")
    require(verified.holds, f"the bundle's run does not come out again: {verified.checks}")
    return f"{', '.join(formats)}: {sum(1 for _ in folder.iterdir())} files, read again and verified"


def _csv_size(path: Path) -> tuple[int, int]:
    """Number of rows below the heading, and number of columns."""
    with path.open(encoding="utf-8", newline="") as file:
        table = list(csv.reader(file))
    return len(table) - 1, len(table[0])


def _check_parquet(path: Path) -> None:
    """Check the parts that Parquet readers read first: both magic numbers and the length of the metadata."""
    raw = path.read_bytes()
    described = int.from_bytes(raw[-8:-4], "little")
    is_whole = raw[:4] == raw[-4:] == b"PAR1" and 0 < described < len(raw) - 12
    require(is_whole and b"time_s" in raw[-8 - described :], f"{path.name} is not Parquet")


TABLES = Check("export of data", _check_tables)


_STARTS = {"svg": b"<?xml", "pdf": b"%PDF-", "png": b"\x89PNG"}


def _check_figures(place: Place) -> str:
    """Draw a run with the command and with the process that serves the window, and compare the pictures."""
    database = place.folder / "runs.subflow"
    number = keep_short_run(database)
    words = ("--format", ",".join(_STARTS), "--figure", "throughput", "--out", "drawn")
    place.subflow("export", number, "--db", database, *words)
    drawn = {kind: (place.folder / "drawn" / f"throughput.{kind}").read_bytes() for kind in _STARTS}
    for kind, content in drawn.items():
        require(content.startswith(_STARTS[kind]), f"throughput.{kind} begins with {content[:8]!r}")
    ElementTree.fromstring(drawn["svg"])
    picture, page, pages = _drawn_for_the_window(database, number)
    require(picture == drawn["png"], "the window's figure is another than the command's")
    require(b"<svg" in page and b"T-2link" in page, "the report for browsers has no figure, or not the run's name")
    require(pages.startswith(b"%PDF-") and b"%%EOF" in pages[-64:], "the report as PDF is not whole")
    sizes = ", ".join(f"{kind} {len(content) // 1000} kB" for kind, content in drawn.items())
    return f"{sizes}, the window's the same; report html {len(page) // 1000} kB, pdf {len(pages) // 1000} kB"


def _drawn_for_the_window(database: Path, number: int) -> tuple[bytes, bytes, bytes]:
    """Contents of a figure as PNG, and of a report as HTML and as PDF, drawn by the process that serves the window."""
    from subflow_app.features.paper.core.figure_plan import FigureLook, run_plan
    from subflow_app.features.paper.core.figure_process import FigureProcess
    from subflow_app.features.paper.core.report import build_report, read_runs
    from subflow_app.features.plots.core import PLOTS_BY_ID
    from subflow_app.features.traces.core.traces import StoredTraces
    from subflow_store import open_store

    process, plots = FigureProcess(), [PLOTS_BY_ID["throughput"]]
    try:
        process.start()
        with open_store(database, read_only=True) as store:
            plan = run_plan(plots, [StoredTraces(store, number)])
            report = build_report(read_runs(store, [number]), plots=plots)
        picture = process.draw(FigureLook(dpi=300).of(plan, "png"))
        return picture, process.draw(replace(report, kind="html")), process.draw(replace(report, kind="pdf"))
    finally:
        process.close()


FIGURES = Check("export of figures", _check_figures)


def _check_refused_files(place: Place) -> str:
    """Try a faulty scenario and a database of a newer version."""
    from subflow_app.foundation.resources import resource_path
    from subflow_store import open_store

    text = resource_path("scenarios/t-2link.toml").read_text(encoding="utf-8")
    wrong = place.folder / "wrong.toml"
    wrong.write_text(text.replace('rate = "5Mbit/s"', 'rate = "5 parrots"', 1), encoding="utf-8")
    said = place.subflow("run", wrong, code=2, may_speak=True).err
    require(f"{wrong}:" in said and "5 parrots" in said, f"unexpected message about a wrong scenario: {said.strip()}")
    newer = place.folder / "newer.subflow"
    open_store(newer).close()
    with closing(sqlite3.connect(newer)) as connection, connection:
        connection.execute("PRAGMA user_version = 4711")
    before = newer.read_bytes()
    said = place.subflow("runs", "--db", newer, code=1, may_speak=True).err
    require("newer Subflow" in said and "Update" in said, f"unexpected message about a newer database: {said.strip()}")
    require(newer.read_bytes() == before, "a newer database was changed")
    return "a wrong scenario, a database of a newer version"


REFUSED_FILES = Check("refused files", _check_refused_files)


_FOLDER, _SCENARIO, _DATABASE = "Büro & 世界 100 %", "Mein Übungs-Netz.subflow.toml", "Läufe 1.subflow"


def _check_strange_path(place: Place) -> str:
    """Run and export a scenario in a folder with an unusual name; `windows.LANGUAGES` covers the window."""
    from subflow_app.foundation.resources import resource_path

    folder = place.folder / _FOLDER
    folder.mkdir()
    (folder / _SCENARIO).write_bytes(resource_path("scenarios/t-2link.toml").read_bytes())
    own = {"XDG_DATA_HOME": str(folder / "Daten"), "LC_ALL": "C", "LANG": "C"}
    run = place.subflow("run", _SCENARIO, "--db", _DATABASE, "--json", folder=folder, environment=own).document
    words = ("export", run["run_id"], "--db", folder / _DATABASE, "--format", "csv", "--out", "Ausgabe für mich")
    written = place.subflow(*words, "--json", folder=folder, environment=own).document
    require(all((folder / path).is_file() for path in written["files"]), f"not written: {', '.join(written['files'])}")
    return f"{_FOLDER}/{_SCENARIO}: run {run['signature']}, {len(written['files'])} files exported"


STRANGE_PATH = Check("strange paths", _check_strange_path)
