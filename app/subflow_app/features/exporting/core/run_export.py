"""What is written of a stored run by itself: tables, packets and a bundle, in one folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subflow_app.features.capture.core.packet_capture import CapturePlan, flow_names, write_capture
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
    """What is wanted.

    Attributes:
        run_data: CSV tables, summary and scenario, as `exports.ExportPlan` has them.
        tables: samples in other forms, by names of `TABLE_FORMATS`.
        capture: packets of a flow; without a name, of the first. None: none.
        bundle: the run in one file.
        page: the run as a web page that simulates it again.
    """

    run_data: bool = True
    tables: tuple[str, ...] = ()
    capture: CapturePlan | None = None
    bundle: bool = False
    page: bool = False


@dataclass(frozen=True, slots=True)
class ExportedRun:
    """What came of it.

    Attributes:
        files: that were written, in order.
        notices: what a person has to know of them.
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
    """Write it into a folder, which is made if need be; files of the same name are replaced.

    Args:
        store: where the run is.
        run_id: its number.
        folder: where to.
        wanted: what.
        summary: document of the run.
        is_cancelled: asked while packets are simulated again; what was written until then stays.

    Raises:
        AppError: if something that is not installed is needed.
        ExportError: if a file cannot be written.
        InputError: if what is wanted is not there.
        SimError: if the simulator refuses the scenario.
        StoreError: if there is no such run or the database cannot be read.
    """
    row, traces = store.run(run_id), StoredTraces(store, run_id)
    if wanted == RunExport(run_data=False):
        return ExportedRun(())  # an empty folder would only ask what is missing in it
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
    if wanted.bundle:
        files.append(write_bundle(store, run_id, folder / f"run-{run_id}{BUNDLE_SUFFIX}", summary=summary))
    if wanted.page:
        files.append(write_page(store, [run_id], folder / f"run-{run_id}{PAGE_SUFFIX}"))
    return ExportedRun(tuple(files), tuple(notices))
