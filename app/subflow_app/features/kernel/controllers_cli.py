"""``subflow controllers load`` and ``loaded``: scripts as congestion controllers of this machine's kernel."""

from __future__ import annotations

import math
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from subflow_app.foundation.errors import InputError
from subflow_app.terminal.options import Json
from subflow_app.terminal.progress import stopping_on_signals
from subflow_app.terminal.terminal import print_json, print_line, print_note
from subflow_sim.units import Dimension

if TYPE_CHECKING:
    from subflow_app.features.kernel.core.loading import LoadedController
    from subflow_sim.script import Script

_LOOK_S = 0.5


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
    """Load a script as a congestion controller of this machine's kernel.

    Prints its name, which connections can choose (TCP_CONGESTION, iperf3 -C), and holds it until Ctrl-C. When this
    command ends, however it ends, the kernel removes the controller; connections keep it until they end. Other
    connections and the default of the machine stay as they are. Calls of the script that fail are reported by line,
    and change nothing.

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
    told = 0
    while not stop.event.wait(max(0.0, min(_LOOK_S, end_s - time.monotonic()))) and time.monotonic() < end_s:
        report = controller.poll()
        if report.failures > told:
            print_note(report.text)
            told = report.failures


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
    """List the controllers that Subflow has loaded into this machine's kernel, in any process."""
    from subflow_app.features.kernel.core.loading import loaded_controllers

    names = loaded_controllers()
    if as_json:
        print_json(names)
        return
    for name in names:
        print_line(name)
    if not names:
        print_note("No controller of Subflow is in the kernel.")
