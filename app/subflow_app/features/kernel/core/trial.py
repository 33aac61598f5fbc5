"""A controller tried in the kernel of this machine: a small network for it, and the requirements of the machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from subflow_app.features.catalog.core.uses import Use
from subflow_app.features.editor.core.scenario_source import ScenarioSource, source_of
from subflow_app.features.editor.core.scripts import add_script
from subflow_app.features.kernel.core import loading, probe
from subflow_app.features.kernel.core.case_text import case_text, flow_text
from subflow_app.features.kernel.core.compare import Case
from subflow_app.features.kernel.core.grid import PathLayout
from subflow_app.features.kernel.core.kernel_script import kernel_script
from subflow_app.foundation.errors import InputError, KernelError
from subflow_app.foundation.toml_edit import render_text
from subflow_app.vocabulary.language import tr, translatable
from subflow_sim.scenario_model import ScriptFile
from subflow_sim.script import ScriptError
from subflow_sim.script_reader import SUFFIX, compiled, read_script, shipped_scripts

_SOCKET_BUFFER_BYTES = 32_000_000


@dataclass(frozen=True, slots=True)
class TrialNetwork:
    """A network for a trial.

    Attributes:
        title: its name, in English.
        paths: the link of each path.
    """

    title: str
    paths: tuple[PathLayout, ...]


NETWORKS: Mapping[str, TrialNetwork] = {
    "path": TrialNetwork(translatable("One path of 10 Mbit/s"), (PathLayout(10, 20, 0.0, 34),)),
    "lossy": TrialNetwork(translatable("One path that loses 1 %"), (PathLayout(10, 20, 1.0, 34),)),
    "paths": TrialNetwork(translatable("Two paths, MPTCP"), (PathLayout(8, 20, 0.0, 40), PathLayout(4, 40, 0.0, 40))),
}
"""Networks by key."""

DURATION_S = 20
"""Length of a trial; the kernel runs in real time."""

_WARMUP_S = 3


def kernel_controllers() -> dict[str, ScriptFile]:
    """The shipped scripts of controllers that the kernel can run, by name."""
    found = {}
    for name in shipped_scripts():
        script = ScriptFile(name, "controller", read_script(name, None), name)
        try:
            kernel_script(compiled(script))
        except (InputError, ScriptError):
            continue
        found[name] = script
    return found


def trial_source(script: ScriptFile, network: str) -> ScenarioSource:
    """The scenario of a trial.

    Args:
        script: a controller.
        network: a key of `NETWORKS`.

    Raises:
        ScenarioError: if the script has mistakes.
    """
    chosen = NETWORKS[network]
    paths = {f"path{number}": path for number, path in enumerate(chosen.paths, start=1)}
    # A script of the user has a name that no built-in controller has; the names of shipped ones may be taken.
    name = script.name if script.file.endswith(SUFFIX) else f"{script.name}-text"
    links = "".join(path.text(link) for link, path in paths.items())
    flow = flow_text("tried", render_text(name), [[link] for link in paths], is_mptcp=len(paths) > 1)
    text = case_text(f"{script.name}: {chosen.title}", DURATION_S, _WARMUP_S, links, flow)
    whole = add_script(text, "controller", name, f"{script.name}.py", script.text).text
    return source_of(Use.KERNEL, whole)


@dataclass(frozen=True, slots=True)
class Requirement:
    """Something that a trial needs.

    Attributes:
        text: its name, in the language of the user.
        lacks: reason why it is missing here, with the remedy; empty if it exists.
    """

    text: str
    lacks: str = ""


def requirements(source: ScenarioSource) -> tuple[Requirement, ...]:
    """Requirements of a trial, each with the missing part; takes about a second, and starts a process.

    Raises:
        InputError: if the script needs something that the kernel lacks, with the lines.
    """
    case = Case.of(source.scenario, seed=1, socket_buffer_bytes=_SOCKET_BUFFER_BYTES)
    return tuple(_requirements(case))


def _requirements(case: Case) -> Iterator[Requirement]:
    machine = probe.probe_machine()
    yield Requirement(
        tr("Network namespaces of Linux, in which the connection runs apart from this machine's own"),
        "; ".join(machine.reasons_against([case.plan])),
    )
    yield Requirement(
        tr("The helper that loads controllers, with the capabilities CAP_BPF and CAP_PERFMON"),
        loading.reason_against() or "",
    )
    lacks = ""
    try:
        loading.check_kernel()
    except KernelError as error:
        lacks = str(error)
    yield Requirement(tr("A kernel that takes controllers from programs: Linux 6.4, 6.10 for pacing rates"), lacks)
