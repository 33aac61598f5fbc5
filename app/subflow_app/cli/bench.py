"""``subflow bench``: how fast the simulator and the store are on this machine."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from subflow_app.cli.options import Json
from subflow_app.cli.terminal import print_json, print_note, print_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

STORE = "store"
START = "start"


def bench(
    workloads: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[WORKLOAD...]",
            help="Which; left out: all of the simulator's. `store` is the store's, `start` the window's.",
        ),
    ] = None,
    instructions: Annotated[
        bool, typer.Option("--instructions", help="Also count instructions per packet; needs valgrind and minutes.")
    ] = False,
    decisions: Annotated[
        bool, typer.Option("--decisions", help="Also measure how much longer a run takes that records its decisions.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Measure packets per CPU-second for each named workload.

    Besides the simulator's: `store` is the database, `start` how the window starts.
    """
    from subflow_app.core.errors import InputError
    from subflow_sim.bench import WORKLOADS
    from subflow_sim.bench_batch import BATCH
    from subflow_sim.bench_instructions import has_valgrind

    others = {STORE: (_store_document, _print_store), START: (_start_document, _print_start)}
    names = list(dict.fromkeys(workloads or (*WORKLOADS, BATCH)))
    for name in names:
        if name not in (allowed := (*WORKLOADS, BATCH, *others)):
            raise InputError(f'there is no workload "{name}"; allowed are {", ".join(allowed)}')
    if instructions and not has_valgrind():
        raise InputError(
            "--instructions: valgrind is not installed, or this is a packaged program, which it cannot watch"
        )
    documents = [
        _simulator_document(name, instructions=instructions, decisions=decisions) for name in names if name in WORKLOADS
    ]
    if BATCH in names:
        documents.append(_batch_document())
    found = {name: measure() for name, (measure, _print) in others.items() if name in names}
    if as_json:
        print_json({"workloads": documents, **found})
        return
    if documents:
        _print_workloads(documents)
    for name, document in found.items():
        others[name][1](document)


def _simulator_document(name: str, *, instructions: bool, decisions: bool) -> dict[str, Any]:
    from subflow_sim.bench import run_workload

    print_note(f"measuring {name} ...")
    result = run_workload(name)
    document = {
        "name": result.name,
        "description": result.description,
        "packets": result.packets,
        "cpu_s": result.cpu_s,
        "packets_per_cpu_s": result.packets_per_cpu_s,
    }
    if instructions:
        from subflow_sim.bench_instructions import instructions_per_packet

        print_note(f"counting the instructions of {name} ...")
        document["instructions_per_packet"] = instructions_per_packet(name)
    if decisions:
        from subflow_sim.bench import recording_cost

        print_note(f"recording the decisions of {name} ...")
        cost = recording_cost(name)
        document |= {"decisions": cost.decisions, "recording_ratio": cost.ratio}
    return document


def _batch_document() -> dict[str, Any]:
    from subflow_sim.bench_batch import BATCH, DESCRIPTION, run_batch

    print_note(f"measuring {BATCH} ...")
    return {"name": BATCH, "description": DESCRIPTION, **asdict(run_batch())}


def _store_document() -> dict[str, Any]:
    from subflow_store.bench import run_store_benchmark

    print_note(f"measuring {STORE} ...")
    from subflow_app.bench.history_list import measure_list

    return dict(run_store_benchmark(measure_list))


def _print_workloads(documents: Sequence[dict[str, Any]]) -> None:
    from subflow_app.core.number_text import NOTHING, count_text
    from subflow_app.core.text_table import TextColumn, TextTable

    columns = (
        TextColumn("Workload", is_number=False),
        TextColumn("What it is", is_number=False),
        TextColumn("Packets"),
        TextColumn("CPU", "s"),
        TextColumn("Packets", "per CPU s"),
        TextColumn("Instructions", "per packet"),
        TextColumn("Scaling"),
        TextColumn("Recording", "times"),
    )
    rows = tuple(
        (
            document["name"],
            document["description"],
            count_text(document["packets"]),
            f"{document['cpu_s']:.2f}",
            count_text(document["packets_per_cpu_s"]),
            count_text(document.get("instructions_per_packet")),
            f"{document['scaling_efficiency']:.3f}" if "scaling_efficiency" in document else NOTHING,
            f"{document['recording_ratio']:.2f}" if "recording_ratio" in document else NOTHING,
        )
        for document in documents
    )
    print_tables(TextTable("", columns, rows))


def _print_store(document: dict[str, Any]) -> None:
    """What the store takes, what the plainest SQLite code for the same blobs takes, and how many times as much."""
    from subflow_app.core.number_text import NOTHING, count_text
    from subflow_app.core.text_table import TextColumn, TextTable

    workload = document["workload"]
    columns = (
        TextColumn("Operation", is_number=False),
        TextColumn("Store"),
        TextColumn("Plain SQLite"),
        TextColumn("Ratio"),
    )
    reference, ratio = document["reference"], document["ratio"]
    rows = tuple(
        (
            name,
            f"{value:.3f}",
            f"{reference[name]:.3f}" if name in reference else NOTHING,
            f"{ratio[name]:.2f}" if name in ratio else NOTHING,
        )
        for name, value in document["store"].items()
    )
    title = f"A run of {count_text(workload['samples'])} samples in {workload['columns']} columns"
    print_tables(TextTable(title, columns, rows))


def _start_document() -> dict[str, Any]:
    from subflow_app.bench.start import TARGET_S, measure_start

    print_note("measuring the start of the window ...")
    figures = ("wall_s", "best_wall_s", "cpu_s", "best_cpu_s")
    times = {moment: {name: getattr(at, name) for name in figures} for moment, at in measure_start().items()}
    return {**times, "target_s": TARGET_S}


def _print_start(document: dict[str, Any]) -> None:
    from subflow_app.core.text_table import TextColumn, TextTable

    moments = {
        "painted": "it is painted",
        "usable": "it can be used",
        "listed": "stored runs are listed",
        "plain": "a window with an empty plot alone",
    }
    figures = {"wall_s": "Time", "best_wall_s": "Best time", "cpu_s": "CPU", "best_cpu_s": "Best CPU"}
    columns = (
        TextColumn("From the command until", is_number=False),
        *(TextColumn(title, "s") for title in figures.values()),
    )
    rows = tuple((text, *(f"{document[moment][name]:.2f}" for name in figures)) for moment, text in moments.items())
    print_tables(TextTable(f"Start of the window (can be used: target {document['target_s']:g} s)", columns, rows))
