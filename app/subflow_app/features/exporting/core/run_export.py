"""Export of one stored run to a folder: tables, packets as a capture or as qlog, a bundle and a web page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subflow_app.features.capture.core.packet_capture import CapturePlan, CaptureResult, flow_names, write_capture
from subflow_app.features.capture.core.qlog_capture import QLOG_SUFFIX, write_qlog
from subflow_app.features.explain.core.origin import StoredOrigin
from subflow_app.features.exporting.core.bundle import BUNDLE_SUFFIX, write_bundle
from subflow_app.features.exporting.core.exports import ExportPlan, export_run
from subflow_app.features.exporting.core.table_formats import export_table
from subflow_app.features.exporting.core.web_page import write_page
from subflow_app.features.traces.core.traces import StoredTraces
from subflow_app.foundation.file_kinds import PAGE_SUFFIX
from subflow_app.foundation.files import made_folder
from subflow_app.foundation.paths import file_stem

if TYPE_CHECKING:
    from subflow_store import Store


@dataclass(frozen=True, slots=True)
class RunExport:
    """The parts of a run to export.

    Attributes:
        run_data: whether to write CSV tables, summary and scenario, see `exports.ExportPlan`.
        tables: names of the table formats to write, see `TABLE_FORMATS`.
        capture: packets to write as a capture; None for no capture.
        qlog: events to write as qlog, a file for each station; None for no such file.
        bundle: whether to write a bundle.
        light_bundle: whether to write a bundle without traces.
        page: whether to write a web page that simulates the run.
    """

    run_data: bool = True
    tables: tuple[str, ...] = ()
    capture: CapturePlan | None = None
    qlog: CapturePlan | None = None
    bundle: bool = False
    light_bundle: bool = False
    page: bool = False


@dataclass(frozen=True, slots=True)
class ExportedRun:
    """The files of an export.

    Attributes:
        files: the written files in order.
        notices: warnings about the files.
    """

    files: tuple[Path, ...]
    notices: tuple[str, ...] = ()


def export_stored_run(
    store: Store,
    run_id: int,
    folder: Path,
    wanted: RunExport,
    *,
    summary: Mapping[str, Any],
    is_cancelled: Callable[[], bool] = lambda: False,
) -> ExportedRun:
    """Write a run into a folder, creating it if necessary and replacing files of the same name.

    Args:
        store: database with the run.
        run_id: number of the run.
        folder: the folder.
        wanted: the parts to write.
        summary: summary document of the run.
        is_cancelled: called during the simulation for the capture and for qlog; True omits the file.

    Raises:
        AppError: if a required package is not installed.
        ExportError: if a file cannot be written.
        InputError: if the run lacks a requested part.
        SimError: if the simulator refuses the scenario.
        StoreError: if the run does not exist or the database cannot be read.
    """
    row, traces = store.run(run_id), StoredTraces(store, run_id)
    if wanted == RunExport(run_data=False):
        return ExportedRun(())  # an empty folder would look like a failed export
    made_folder(folder)
    files: list[Path] = []
    notices: list[str] = []
    if wanted.run_data:
        plan = ExportPlan(figures=(), figure_formats=())
        files += export_run(traces, folder, plan, summary=summary, scenario_text=row.scenario_text)
    described = {name: getattr(row, name) for name in ("scenario_name", "seed", "signature", "version")}
    for name in wanted.tables:
        files += export_table(traces, folder, name, described)
    if wanted.capture is not None:
        origin, capture = StoredOrigin.read(store, run_id), wanted.capture
        flow = capture.flow or next(iter(flow_names(origin.scenario)), "")
        plan_of_flow = CapturePlan(flow, capture.station, capture.since_s, capture.until_s)
        path = folder / f"{file_stem(flow)}.pcapng"
        result = write_capture(origin, path, plan_of_flow, is_cancelled=is_cancelled)
        if result is not None:
            files.append(result.path)
            notices += [result.notice] if result.notice else []
    if wanted.qlog is not None:
        for result in _qlog_files(StoredOrigin.read(store, run_id), wanted.qlog, folder, is_cancelled):
            files.append(result.path)
            notices += [result.notice] if result.notice else []
    if wanted.bundle:
        files.append(write_bundle(store, run_id, folder / f"run-{run_id}{BUNDLE_SUFFIX}", summary=summary))
    if wanted.light_bundle:
        path = folder / f"run-{run_id}.light{BUNDLE_SUFFIX}"
        files.append(write_bundle(store, run_id, path, summary=summary, is_light=True))
    if wanted.page:
        files.append(write_page(store, [run_id], folder / f"run-{run_id}{PAGE_SUFFIX}"))
    return ExportedRun(tuple(files), tuple(notices))


def _qlog_files(
    origin: StoredOrigin, plan: CapturePlan, folder: Path, is_cancelled: Callable[[], bool]
) -> Iterator[CaptureResult]:
    """Write the events of a flow as qlog, in a file for each host of the plan."""
    flow = plan.flow or next(iter(flow_names(origin.scenario)), "")
    stations = ("sender", "receiver") if plan.station == "both" else (plan.station,)
    for station in stations:
        end = f".{station}" if len(stations) > 1 else ""
        path = folder / f"{file_stem(flow)}{end}{QLOG_SUFFIX}"
        result = write_qlog(origin, path, replace(plan, flow=flow, station=station), is_cancelled=is_cancelled)
        if result is not None:
            yield result
