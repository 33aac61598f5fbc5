"""``subflow compare-kernel``, and ``subflow controllers load`` and ``loaded``: scenarios and scripts in the kernel."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from subflow_app.foundation.errors import InputError
from subflow_app.terminal.options import Database, Json, opened_store
from subflow_app.terminal.progress import progress_bar, stopping_on_signals
from subflow_app.terminal.terminal import print_json, print_line, print_note, print_tables
from subflow_app.vocabulary.number_text import duration_text

if TYPE_CHECKING:
    from subflow_app.features.editor.core.scenario_source import ScenarioSource
    from subflow_app.features.kernel.core.compare import Comparison
    from subflow_app.features.kernel.core.loading import LoadedController
    from subflow_sim.script import Script
    from subflow_store import Store

DEFAULT_SEEDS = 10
DEFAULT_REPETITIONS = 3
_LOOK_S = 0.5


def compare_kernel(
    scenario: Annotated[
        str | None, typer.Argument(metavar="FILE|NAME", help="Scenario file, or the name of a shipped one.")
    ] = None,
    grid: Annotated[
        bool, typer.Option("--grid", help="Instead of a scenario: all built-in cases, in one table.")
    ] = False,
    cases: Annotated[
        Literal["kernel", "scripts", "coupled"],
        typer.Option(help="With --grid: controllers of Linux itself, scripts on one path, or coupled controllers."),
    ] = "kernel",
    only: Annotated[
        str | None, typer.Option(metavar="TEXT", help="With --grid: only cases with this in their name.")
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a value, e.g. links.wifi.loss=1%. Repeatable."),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, metavar="N", help="First seed, instead of the file's.")] = None,
    seeds: Annotated[
        int, typer.Option(min=1, metavar="N", help="Number of simulations, with increasing seeds.")
    ] = DEFAULT_SEEDS,
    repetitions: Annotated[
        int,
        typer.Option(
            min=1, max=100, metavar="N", help="Number of runs on the kernel; side by side where the rate allows."
        ),
    ] = DEFAULT_REPETITIONS,
    duration: Annotated[
        str | None, typer.Option(metavar="TIME", help="Length instead of the file's; the kernel runs in real time.")
    ] = None,
    socket_buffer: Annotated[
        str, typer.Option(metavar="SIZE", help="Upper bound of the kernel's socket buffers.")
    ] = "32MB",
    as_json: Json = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Also write the traces of both sides there, as CSV.")
    ] = None,
    database: Database = None,
    no_store: Annotated[bool, typer.Option("--no-store", help="Do not keep the two runs.")] = False,
) -> None:
    """Run a scenario on this machine's TCP and MPTCP.

    Prints its results next to the simulator's. The kernel runs in network namespaces of its own, over links
    emulated in userspace. Nothing outside is changed, and nothing is left behind. It needs Linux and root, or
    unprivileged user namespaces. The first run of each side is kept in the database, the kernel's with the tag
    "kernel", so you can overlay them in the window. Exit code: 0 when both sides ran, 1 when this machine cannot
    run the kernel's side or a run failed, 2 for bad input.
    """
    if grid == (scenario is not None):
        raise InputError("give either a scenario or --grid")
    if only is not None and not grid:
        raise InputError("--only goes with --grid")
    if cases != "kernel" and not grid:
        raise InputError("--cases goes with --grid")
    changes = [*(overrides or ()), *([] if duration is None else [f"duration={duration}"])]
    buffer_bytes = _socket_buffer_bytes(socket_buffer)
    if scenario is None:
        _compare_grid(changes, cases, only, seed, seeds, repetitions, buffer_bytes, as_json=as_json, out=out)
        return
    from subflow_app.features.catalog.core.uses import Use
    from subflow_app.features.editor.core.scenario_source import open_scenario

    source = open_scenario(scenario, use=Use.KERNEL, overrides=changes, seed=seed)
    for line in source.replaced:
        print_note(line)
    with ExitStack() as stack:
        store = None if no_store else stack.enter_context(opened_store(database))
        _compare_one(source, store, seeds, repetitions, buffer_bytes, as_json=as_json, out=out)


def _compare_one(
    source: ScenarioSource,
    store: Store | None,
    seeds: int,
    repetitions: int,
    buffer_bytes: int,
    *,
    as_json: bool,
    out: Path | None,
) -> None:
    from subflow_app.features.kernel.core.compare import Case, run_comparisons
    from subflow_app.features.kernel.core.comparison_text import comparison_line, comparison_table
    from subflow_app.features.kernel.core.probe import probe_machine
    from subflow_app.features.kernel.core.study import keep_both

    case = Case.of(source.scenario, seed=source.scenario.seed, socket_buffer_bytes=buffer_bytes)
    machine = probe_machine()
    with _progress(source.scenario.name) as progress:
        (comparison,) = run_comparisons([case], machine, seeds=seeds, repetitions=repetitions, progress=progress)
    kept = keep_both(comparison, source.text, machine.release, store, out)
    document = {**comparison.document(), "kernel": _about(comparison), "run_ids": kept.run_ids}
    if as_json:
        print_json(document)
        return
    print_line(str(document["scenario"]))
    print_line(comparison_line(document, machine.release))
    print_line()
    print_tables(comparison_table(document))
    if kept.run_ids is not None:
        print_line(f"kept as run {kept.run_ids['simulated']} (simulated) and {kept.run_ids['kernel']} (kernel)")
    for path in kept.files:
        print_line(f"wrote {path}")


def _compare_grid(
    changes: list[str],
    cases_of: str,
    only: str | None,
    seed: int | None,
    seeds: int,
    repetitions: int,
    buffer_bytes: int,
    *,
    as_json: bool,
    out: Path | None,
) -> None:
    from subflow_app.features.kernel.core.compare import Case, run_comparisons
    from subflow_app.features.kernel.core.comparison_text import grid_table, grid_verdict
    from subflow_app.features.kernel.core.grid import grid_scenarios
    from subflow_app.features.kernel.core.probe import probe_machine
    from subflow_app.features.kernel.core.study import write_traces

    scenarios = grid_scenarios(only, changes, cases=cases_of)
    if not scenarios:
        raise InputError(f'--only = "{only}": no case of the grid has that in its name')
    cases = [
        Case.of(one, seed=one.seed if seed is None else seed, socket_buffer_bytes=buffer_bytes) for one in scenarios
    ]
    machine = probe_machine()
    documents = []
    with _progress(f"{len(cases)} cases") as progress:
        for comparison in run_comparisons(cases, machine, seeds=seeds, repetitions=repetitions, progress=progress):
            documents.append({**comparison.document(), "kernel": _about(comparison)})
            if out is not None:
                write_traces(comparison, out / comparison.case.scenario.name.replace(" ", "_").replace("/", "_"))
    order = {one.name: index for index, one in enumerate(scenarios)}
    documents.sort(key=lambda document: order[document["scenario"]])
    if as_json:
        print_json({"cases": documents})
        return
    print_tables(grid_table(documents))
    print_line(grid_verdict(documents))


def _about(comparison: Comparison) -> dict[str, Any]:
    """Section "kernel" of the JSON document, from the first kernel run."""
    about: dict[str, Any] = comparison.kernel[0].recording.summary()["kernel"]
    return about


def _socket_buffer_bytes(text: str) -> int:
    from subflow_sim.errors import ParamError
    from subflow_sim.units import Dimension, parse_quantity

    try:
        size = parse_quantity(text, Dimension.SIZE)
    except ParamError as error:
        raise InputError(f'--socket-buffer = "{text}": {error}') from error
    if not 64e3 <= size <= 1e9:
        raise InputError(f'--socket-buffer = "{text}": must be 64kB to 1GB')
    return int(size)


@contextmanager
def _progress(name: str) -> Iterator[Callable[[float, float], None]]:
    """Show a progress bar with the remaining time if stderr is a terminal."""
    with progress_bar(f"{name[:25]} on the kernel") as bar:

        def show(elapsed_s: float, total_s: float) -> None:
            if bar is not None:
                left = f"{duration_text(total_s - elapsed_s)} to go"
                bar.update(bar.task_ids[0], completed=elapsed_s / total_s, text=left, refresh=True)

        yield show


def kernel_worker() -> None:
    """Run one job of a kernel run (used by compare-kernel itself)."""
    from subflow_app.features.kernel.core.worker import main

    raise typer.Exit(main())


# ---- controllers in the kernel ----


def load(
    name: Annotated[str, typer.Argument(metavar="NAME|FILE", help="A shipped script, or a script's file.")],
    seconds: Annotated[
        float | None, typer.Option(min=0.1, max=1e6, metavar="N", help="Remove it after N seconds, not at Ctrl-C.")
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="OPTION=VALUE", help="A number for an option of the script. Repeatable."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Load a script into this machine's kernel.

    Prints the name of the congestion controller, which connections can choose (TCP_CONGESTION, iperf3 -C), and holds
    it until Ctrl-C. When this command ends, however it ends, the kernel removes the controller; connections keep it
    until they end. Other connections and the default of the machine stay as they are. Calls of the script that fail
    are reported by line, and change nothing.

    It needs Linux 6.4 (6.10 for w.rate and on_delivery) and a helper with two capabilities; without them, the command
    prints how to give it these. Exit code: 0 when it was loaded, 1 when the kernel refuses it, 2 for bad input.
    """
    from subflow_app.features.kernel.core.kernel_script import kernel_script
    from subflow_app.features.kernel.core.loading import LoadedController

    script = _script(name)
    prepared = kernel_script(script, dict(_option(script, text) for text in overrides or ()))
    stop = _Stop()
    with stopping_on_signals(stop), LoadedController(prepared) as controller:
        if as_json:
            print_json({"name": controller.name, "script": script.name})
        else:
            print_line(controller.name)
        sys.stdout.flush()  # a program that waits for the name reads it from a pipe
        _hold(controller, stop, seconds)


class _Stop:
    """Ends the holding at a signal."""

    def __init__(self) -> None:
        self.event = threading.Event()

    def stop(self) -> None:
        """Ends it."""
        self.event.set()


def _hold(controller: LoadedController, stop: _Stop, seconds: float | None) -> None:
    end_s = float("inf") if seconds is None else time.monotonic() + seconds
    printed = 0
    while not stop.event.wait(max(0.0, min(_LOOK_S, end_s - time.monotonic()))) and time.monotonic() < end_s:
        report = controller.poll()
        if report.failures > printed:
            print_note(report.text)
            printed = report.failures


def _script(name: str) -> Script:
    """The compiled script with this name or in this file.

    Raises:
        InputError: if it is missing or has mistakes, with all of them.
    """
    from subflow_app.features.editor.core.scripts import open_script, script_problems
    from subflow_sim.errors import ParamError
    from subflow_sim.scenario_model import ScriptFile
    from subflow_sim.script import ScriptError, compile_script, kind_of
    from subflow_sim.script_reader import SUFFIX, read_script

    if name.endswith(SUFFIX):
        file = open_script(Path(name))
    else:
        try:
            text = read_script(name, None)
        except ParamError as error:
            raise InputError(f'"{name}": {error}') from error
        file = ScriptFile(name, kind_of(text), text, name)
    try:
        return compile_script(file.text, file.name, file.kind)
    except ScriptError as error:
        raise InputError("\n".join(script_problems(Path(name), error.problems))) from error


def _option(script: Script, text: str) -> tuple[str, float]:
    """Key and value of OPTION=VALUE.

    Raises:
        InputError: if the script lacks the option, or its value is invalid.
    """
    from subflow_sim.units import Dimension

    key, _, value = (part.strip() for part in text.partition("="))
    param = next((each for each in script.algorithm.options if each.key == key), None)
    if param is None:
        known = ", ".join(each.key for each in script.algorithm.options) or "none, as it has no options"
        raise InputError(f'--set "{text}": {script.name} has no option "{key}"; allowed: {known}')
    low, high = param.minimum, param.maximum
    if param.dimension is Dimension.FLAG:
        if value in ("true", "false"):
            return key, float(value == "true")
        raise InputError(f'--set "{text}": must be true or false')
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if (low is not None and not number >= low) or (high is not None and not number <= high) or math.isnan(number):
        raise InputError(f'--set "{text}": must be {low:g} to {high:g}, in SI units')
    return key, number


def loaded(as_json: Json = False) -> None:
    """List the loaded controllers of Subflow.

    These are in the kernel of this machine, by any process.
    """
    from subflow_app.features.kernel.core.loading import loaded_controllers

    names = loaded_controllers()
    if as_json:
        print_json(names)
        return
    for name in names:
        print_line(name)
    if not names:
        print_note("No controller of Subflow is in the kernel.")
