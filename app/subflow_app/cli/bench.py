"""``subflow bench``: how fast the simulator and the store are on this machine."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from subflow_app.cli.options import Json
from subflow_app.cli.terminal import print_json, print_note, print_rows
from subflow_app.core.errors import InputError
from subflow_app.core.number_text import count_text, fixed
from subflow_app.core.tables import Column, NumberColumn

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
    columns: tuple[Column[dict[str, Any]], ...] = (
        Column("Workload", lambda told: told["name"]),
        Column("What it is", lambda told: told["description"]),
        NumberColumn("Packets", lambda told: told["packets"], count_text),
        NumberColumn("CPU", lambda told: told["cpu_s"], fixed(2), "s"),
        NumberColumn("Packets", lambda told: told["packets_per_cpu_s"], count_text, "per CPU s"),
        NumberColumn("Instructions", lambda told: told.get("instructions_per_packet"), count_text, "per packet"),
        NumberColumn("Scaling", lambda told: told.get("scaling_efficiency"), fixed(3)),
        NumberColumn("Recording", lambda told: told.get("recording_ratio"), fixed(2), "times"),
    )
    print_rows(documents, columns)


def _print_store(document: dict[str, Any]) -> None:
    """What the store takes, what the plainest SQLite code for the same blobs takes, and how many times as much."""
    workload, store, reference, ratio = (document[part] for part in ("workload", "store", "reference", "ratio"))
    columns: tuple[Column[str], ...] = (
        Column("Operation", str),
        NumberColumn("Store", store.get, fixed(3)),
        NumberColumn("Plain SQLite", reference.get, fixed(3)),
        NumberColumn("Ratio", ratio.get, fixed(2)),
    )
    print_rows(store, columns, f"A run of {count_text(workload['samples'])} samples in {workload['columns']} columns")


def _start_document() -> dict[str, Any]:
    from subflow_app.bench.start import TARGET_S, measure_start

    print_note("measuring the start of the window ...")
    figures = ("wall_s", "best_wall_s", "cpu_s", "best_cpu_s")
    times = {moment: {name: getattr(at, name) for name in figures} for moment, at in measure_start().items()}
    return {**times, "target_s": TARGET_S}


def _print_start(document: dict[str, Any]) -> None:
    moments = {
        "painted": "it is painted",
        "usable": "it can be used",
        "listed": "stored runs are listed",
        "plain": "a window with an empty plot alone",
    }
    columns: tuple[Column[str], ...] = (
        Column("From the command until", moments.__getitem__),
        NumberColumn("Time", lambda moment: document[moment]["wall_s"], fixed(2), "s"),
        NumberColumn("Best time", lambda moment: document[moment]["best_wall_s"], fixed(2), "s"),
        NumberColumn("CPU", lambda moment: document[moment]["cpu_s"], fixed(2), "s"),
        NumberColumn("Best CPU", lambda moment: document[moment]["best_cpu_s"], fixed(2), "s"),
    )
    print_rows(moments, columns, f"Start of the window (can be used: target {document['target_s']:g} s)")
