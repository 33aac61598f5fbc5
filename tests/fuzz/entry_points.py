"""All entry points of external input: valid examples, mutators, and readers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import dev
from tests.fuzz import examples, mutators
from tests.fuzz.examples import SMALL_SCENARIO
from tests.fuzz.follow import follow
from tests.fuzz.mutators import Mutator

REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """Entry point of external input.

    Attributes:
        name: name on the command line and of the folder of the corpus.
        examples: makes valid inputs.
        mutate: damages an input.
        call: reads the file at a path and uses its content; raises the errors that the project shows to people, or
            returns `REFUSED` if a reader skips unreadable files.
        file: name of the input in its folder.
        leaves: patterns of other files that may exist in the folder afterwards.
    """

    name: str
    examples: Callable[[], Sequence[bytes]]
    mutate: Mutator
    call: Callable[[Path], str | None]
    file: str
    leaves: tuple[str, ...] = field(default=())


# ---- calls ----


def _read_scenario(path: Path) -> None:
    from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
    from subflow_app.features.editor.core.scenario_source import open_scenario
    from subflow_sim.limits import estimate

    doc = ScenarioDoc.open(path)  # the window shows the problems; nothing is raised
    assert doc.scenario is not None or doc.problems
    estimate(open_scenario(str(path)).scenario)


def _simulate(path: Path) -> None:
    from subflow_app.features.editor.core.scenario_source import open_scenario
    from subflow_app.features.running.core.runs import RunJob
    from subflow_sim.limits import Limits

    source = open_scenario(str(path), overrides=["duration=300ms", "warmup=0s"])
    result = RunJob(source.scenario, source.text, limits=Limits(1e8, 2e4)).run()
    if result.error is not None:
        raise result.error


def _read_policy(path: Path) -> None:
    from subflow_app.features.policies.core import find_policy, policy_document, policy_lines
    from subflow_sim.policy import Policy

    record = find_policy(str(path))
    policy_document(record)
    policy_lines(record)
    policy = Policy.load(path)
    policy.act([[0.5] * policy.width] * 2, [True, True])


def _verify_bundle(path: Path) -> None:
    from subflow_app.features.exporting.core.verification import verify_bundle

    verify_bundle(path)


def _import_graph(path: Path) -> None:
    from subflow_app.features.editor.core.graph_import import import_graph
    from subflow_app.features.editor.core.scenario_doc import ScenarioDoc

    ScenarioDoc(import_graph(path).text)


def _import_trace(kind: str, path: Path) -> None:
    from subflow_app.features.measured.core.measured_run import keep_run, make_run, read_trace
    from subflow_app.features.measured.core.measured_table import ReadingOptions
    from subflow_store import open_store

    size = path.stat().st_size
    options = ReadingOptions(format=kind, interval_s=0.1 if kind == "ss" else None)
    # The choices of a person are derived from the size of the input, so that they are reproducible.
    options.clock = ("sort", "refuse", "drop", "join")[size % 4]
    run = make_run(read_trace(path, options), name="a", path=path, interval_s=0.05 if size % 5 == 0 else None)
    with open_store(":memory:") as store:
        follow(store, keep_run(run, store), path.parent / "out", size)


def _any_files() -> Sequence[bytes]:
    """One example of each file that the one door takes."""
    measured = (examples.tables, examples.ss_logs, examples.captures, examples.qlogs, examples.link_recordings)
    drawn = (examples.graphml, examples.gml, examples.topohub, examples.sndlib, examples.miniedit)
    written = (examples.containerlab, examples.mininet_scripts, examples.tc_scripts)
    return [make()[0] for make in (*measured, *drawn, *written)]


def _import_any(path: Path) -> None:
    from subflow_app.features.importing.core.door import Way, recognise

    found = recognise(path)
    if found.way is Way.RUN:
        _import_trace(found.format, path)
    elif found.way is Way.GRAPH:
        _import_graph(path)
    elif found.way is Way.RECORDING:
        _import_recording(path)


def _import_recording(path: Path) -> None:
    from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
    from subflow_app.features.importing.core.recordings import read_link_recording

    found = read_link_recording(path)
    assert found.summary
    ScenarioDoc(found.text_in(None))


def _read_delivery_trace(path: Path) -> None:
    import numpy as np

    from subflow_sim.delivery_trace import parse_trace
    from subflow_sim.recording import packed_text, read_recording

    text = read_recording(path.name, path.parent, "lte.up")
    times = parse_trace(text)
    assert parse_trace(packed_text(np.frombuffer(times, dtype=np.uint32))) == times


def _read_delay_trace(path: Path) -> None:
    from subflow_sim.delay_trace import parse_delays
    from subflow_sim.recording import read_recording

    parse_delays(read_recording(path.name, path.parent, "delays.txt"), "", 0.01)


def _read_loss_trace(path: Path) -> None:
    from subflow_sim.loss_trace import parse_losses
    from subflow_sim.recording import read_recording

    parse_losses(read_recording(path.name, path.parent, "losses.csv"), None)


def _read_script(path: Path) -> None:
    from subflow_app.features.editor.core.scenario_source import with_contents
    from subflow_app.features.editor.core.scripts import add_script, open_script
    from subflow_sim.scenario import parse_scenario

    kind = open_script(path).kind
    text = add_script(examples.SMALL_SCENARIO, kind, "own", path.name).text
    scenario = parse_scenario(text, folder=path.parent)
    assert parse_scenario(with_contents(text, scenario)).scripts == scenario.scripts


def _read_lab(path: Path) -> None:
    from subflow_app.features.labs.core.lab_file import load_lab

    load_lab(path)


def _verify_result(path: Path) -> None:
    from subflow_app.features.labs.core.lab_file import load_lab
    from subflow_app.features.labs.core.result_file import read_result, verify_result

    verify_result(read_result(path), load_lab("03-two-paths"))


def _read_progress(path: Path) -> str | None:
    from subflow_app.features.labs.core.progress import ProgressFolder

    folder = ProgressFolder(path.parent)
    folder.peek(path.stem)
    kept = folder.read(path.stem)
    assert kept.progress is not None or kept.notice
    return REFUSED if kept.progress is None else None


def _read_plan(path: Path) -> None:
    from subflow_app.features.sweeps.core.plan_file import open_plan, parse_plan, plan_text
    from subflow_app.features.sweeps.core.sweep_plan import check_points
    from subflow_sim.limits import Limits

    plan = open_plan(str(path))
    parse_plan(plan_text(plan))
    done = 0

    def is_enough() -> bool:
        nonlocal done
        done += 1
        return done > 3

    check_points(plan, limits=Limits(), is_cancelled=is_enough)


def _read_recipe(path: Path) -> None:
    from subflow_app.features.gallery.core.recipe_reader import load_recipe

    load_recipe(str(path))


def _read_training_recipe(path: Path) -> None:
    from subflow_app.features.training.core.training_setup import load_recipe, prepare, request_of

    prepare(request_of(load_recipe(str(path))), path.parent)


def _read_training(path: Path) -> None:
    from subflow_app.features.training.core.training_folder import command_of, living_process, read_config, read_reports

    # One file represents each file in the folder of a training.
    content = path.read_bytes()
    others = [path.with_name(name) for name in ("metrics.jsonl", "process.json")]
    for other in others:
        other.write_bytes(content)
    living_process(path.parent)
    read_reports(path.parent)
    for line in content.splitlines()[:50]:
        command_of(line)
    read_config(path.parent)


def _read_checkpoint(path: Path) -> None:
    from subflow_agents.checkpoint import load_checkpoint

    load_checkpoint(path)


def _read_contest(path: Path) -> None:
    from subflow_app.features.arena.core.entrants import load_contest

    load_contest(str(path))


def _read_settings(path: Path) -> str | None:
    from subflow_app.foundation.settings import load_settings, save_settings

    save_settings(load_settings(path), path)
    return REFUSED if path.with_name(f"{path.name}.damaged").is_file() else None


def _recover(path: Path) -> str | None:
    from subflow_app.features.editor.core.recovery import find_orphans

    found = find_orphans(path.parent)
    for orphan in found:
        orphan.differences()
    return None if found else REFUSED


def _paste(path: Path) -> None:
    from subflow_app.features.editor.core.scenario_clipboard import has_parts, paste_parts

    pasted = path.read_bytes().decode("utf-8", "replace")
    has_parts(pasted)
    paste_parts(SMALL_SCENARIO, pasted)


def _search(path: Path) -> None:
    from subflow_app.features.history.core.run_query import Vocabulary, complete_query, parse_query
    from subflow_store import open_store

    text = path.read_bytes().decode("utf-8", "replace")
    complete_query(text, len(text), Vocabulary(("links.wifi.loss",), ("paper",), ("demo",), ("lia",)))
    with open_store(":memory:") as store:
        store.runs(parse_query(text))


def _rank(path: Path) -> str | None:
    from subflow_app.shell.command_palette import rank

    titles = ["Run", "Open scenario …", "Explain at the playhead", "Größe der Schrift", "x" * 300]
    found = rank(path.read_bytes().decode("utf-8", "replace"), titles, lambda title: (title, title[::-1]))
    return None if found else REFUSED


@cache
def _window() -> Any:
    """A window with three panels, and the object that keeps the Qt application alive."""
    from PySide6.QtWidgets import QApplication, QMainWindow, QWidget

    from subflow_app.toolkit.docks import Docks

    application = QApplication.instance() or QApplication([])
    window = QMainWindow()
    docks = Docks(window)
    docks.set_centre("topology", "Topology", QWidget())
    for name in ("plots", "history"):
        docks.add(name, name, QWidget(), icon_name=name)
    return application, window, docks


def _window_states() -> Sequence[bytes]:
    """Made by a separate process: tests of the window must start without other windows."""
    code = "import sys; from tests.fuzz import entry_points as e; sys.stdout.buffer.write(e.window_state())"
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    made = subprocess.run([sys.executable, "-c", code], cwd=dev.ROOT, env=environment, capture_output=True, check=True)
    return [made.stdout]


def window_state() -> bytes:
    """The file in which a window saves its state."""
    import tempfile

    from PySide6.QtCore import QSettings

    from subflow_app.toolkit.docks import LAYOUT_VERSION

    _, window, docks = _window()
    with tempfile.TemporaryDirectory(prefix="subflow-fuzz-") as folder:
        path = Path(folder, "window.ini")
        kept = QSettings(str(path), QSettings.Format.IniFormat)
        values = {"version": LAYOUT_VERSION, "geometry": window.saveGeometry(), "workspaces/study": docks.save_state()}
        for name, value in {**values, "workspace": "study", "folds/study": True, "speed": "8", "history": "{}"}.items():
            kept.setValue(name, value)
        kept.sync()
        return path.read_bytes()


def _read_window_state(path: Path) -> str | None:
    from PySide6.QtCore import QByteArray, QSettings

    from subflow_app.shell.window_state import WindowStateFile

    _, window, docks = _window()
    kept = WindowStateFile(path)
    kept.switches()
    kept.speed_limit(None)
    assert isinstance(kept.history, str)
    written = QSettings(str(path), QSettings.Format.IniFormat)
    geometry, state = written.value("geometry"), written.value("workspaces/study")
    is_placed = isinstance(geometry, QByteArray) and window.restoreGeometry(geometry)
    is_arranged = isinstance(state, QByteArray) and docks.restore_state(state)
    return None if is_placed and is_arranged else REFUSED


def _read_store(path: Path) -> None:
    from subflow_app.features.history.cli import run_document
    from subflow_store import open_store

    with open_store(path, read_only=True) as store:
        store.value_keys()
        store.tags()
        store.sweeps.rows()
        store.trainings.rows()
        for row in store.runs():
            run_document(row, {})
        for row in store.runs(limit=2):
            follow(store, row.id, path.parent / "out", sum(path.read_bytes()[:5000]))


# ---- more mutators ----


def _resigned_result(rng: Any, data: bytes, others: Sequence[bytes]) -> bytes:
    made = mutators.json_of(rng, data, others)
    try:
        document = json.loads(made)
        return examples.sign_result(document) if rng.random() < 0.5 else made
    except (ValueError, AttributeError, RecursionError):
        return made


def _policy(rng: Any, data: bytes, others: Sequence[bytes]) -> bytes:
    """Changes the header of a safetensors file and the document in it, or its bytes."""
    if rng.random() < 0.3:
        return mutators.bytes_of(rng, data, others)
    length = int.from_bytes(data[:8], "little")
    header, rest = data[8 : 8 + length], data[8 + length :]
    try:
        document = json.loads(header)
        metadata = document["__metadata__"]
        key = next(iter(metadata))
        if rng.random() < 0.7:
            metadata[key] = mutators.json_of(rng, metadata[key].encode(), [b"{}"]).decode("utf-8", "replace")
            header = json.dumps(document).encode()
        else:
            header = mutators.json_of(rng, header, [b"{}"])
    except (ValueError, KeyError, StopIteration, AttributeError, TypeError):
        header = mutators.json_of(rng, header, [b"{}"])
    size = len(header) if rng.random() < 0.95 else rng.choice((0, 2**63, 2**64 - 1, 10**9))
    return size.to_bytes(8, "little") + header + rest


def _bundle_member(rng: Any, data: bytes, others: Sequence[bytes]) -> bytes:
    return (mutators.json_of if data[:1] in b"{[" else mutators.toml)(rng, data, others)


_OUT = ("out/**/*",)


def _all() -> tuple[EntryPoint, ...]:
    text, toml, json_of = mutators.text, mutators.toml, mutators.json_of
    return (
        EntryPoint("scenario", examples.scenarios, toml, _read_scenario, "a.toml"),
        EntryPoint("simulate", lambda: [SMALL_SCENARIO.encode()], toml, _simulate, "a.toml"),
        EntryPoint("policy", examples.policies, _policy, _read_policy, "a.safetensors"),
        EntryPoint(
            "bundle",
            examples.bundles,
            mutators.archive(_bundle_member, mutators.sign_bundle),
            _verify_bundle,
            "a.subflow.zip",
        ),
        *(
            EntryPoint(kind, made, text, _import_graph, file)
            for kind, made, file in (
                ("graphml", examples.graphml, "a.graphml"),
                ("gml", examples.gml, "a.gml"),
                ("topohub", examples.topohub, "a.json"),
                ("sndlib", examples.sndlib, "a.xml"),
                ("miniedit", examples.miniedit, "a.mn"),
                ("containerlab", examples.containerlab, "a.clab.yml"),
                ("mininet", examples.mininet_scripts, "a.py"),
                ("tc", examples.tc_scripts, "a.sh"),
            )
        ),
        EntryPoint("csv", examples.tables, mutators.table, partial(_import_trace, "csv"), "a.csv", _OUT),
        EntryPoint("ss", examples.ss_logs, text, partial(_import_trace, "ss"), "a.log", _OUT),
        EntryPoint("pcap", examples.captures, mutators.capture, partial(_import_trace, "pcap"), "a.pcap", _OUT),
        EntryPoint("import", _any_files, text, _import_any, "a", _OUT),
        *(
            EntryPoint(kind, made, text, partial(_import_trace, kind), "a.txt", _OUT)
            for kind, made in (
                ("iperf3", examples.recordings("iperf3*.json", lines=400)),
                ("iperf3-text", examples.recordings("iperf3*.txt")),
                ("qlog", examples.qlogs),
                ("tshark", examples.recordings("tshark*.?sv")),
            )
        ),
        EntryPoint("trace", examples.delivery_traces, text, _read_delivery_trace, "a.up"),
        EntryPoint("delays", examples.delay_traces, text, _read_delay_trace, "a.delays"),
        EntryPoint("losses", examples.loss_traces, text, _read_loss_trace, "a.losses"),
        EntryPoint("recording", examples.link_recordings, text, _import_recording, "a.csv"),
        EntryPoint("script", examples.scripts, text, _read_script, "a.py"),
        EntryPoint("lab", examples.assets("labs/0*.md"), text, _read_lab, "a.md"),
        EntryPoint("lab-result", examples.lab_results, _resigned_result, _verify_result, "a.json"),
        EntryPoint(
            "lab-progress", examples.progress_files, json_of, _read_progress, "lab.json", ("lab.damaged-1.json",)
        ),
        EntryPoint("sweep", examples.plans, toml, _read_plan, "a.sweep.toml"),
        EntryPoint("recipe", examples.assets("experiments/*.toml"), toml, _read_recipe, "a.toml"),
        EntryPoint("training-recipe", examples.assets("agents/recipes/*.toml"), toml, _read_training_recipe, "a.toml"),
        EntryPoint(
            "training",
            examples.training_configs,
            json_of,
            _read_training,
            "config.json",
            ("metrics.jsonl", "process.json"),
        ),
        EntryPoint("checkpoint", examples.checkpoints, _policy, _read_checkpoint, "a.safetensors"),
        EntryPoint("contest", examples.assets("arena/*.toml"), toml, _read_contest, "a.toml"),
        EntryPoint("settings", examples.settings, json_of, _read_settings, "settings.json", ("settings.json.damaged",)),
        EntryPoint("recovery", examples.recovery_files, json_of, _recover, "a.json"),
        EntryPoint("clipboard", examples.clipboards, toml, _paste, "a.txt"),
        EntryPoint("query", examples.queries, text, _search, "a.txt"),
        EntryPoint("palette", lambda: [b"run", b"open scen", "größe".encode()], text, _rank, "a.txt"),
        EntryPoint("window", _window_states, text, _read_window_state, "window.ini"),
        EntryPoint("store", examples.store_files, mutators.database, _read_store, "a.subflow", _OUT),
    )


ENTRY_POINTS = {each.name: each for each in _all()}


def _misbehave(path: Path) -> None:
    """Follows the input, like a reader with a bug."""
    import logging
    import time
    import warnings

    from subflow_app.foundation.errors import InputError

    match path.read_bytes().strip():
        case b"told":
            raise InputError("refused")
        case b"raise":
            raise LookupError("a bug")
        case b"log":
            try:
                raise LookupError("a bug")
            except LookupError:
                logging.getLogger("any").exception("survived")
        case b"warn":
            warnings.warn("careful", RuntimeWarning, stacklevel=2)
        case b"leave":
            path.with_name("left").touch()
        case b"memory":
            bytearray(600_000_000)
        case b"too much memory":
            bytearray(10**12)
        case b"slow":
            while True:
                pass
        case b"hang":
            time.sleep(3600)
        case b"die":
            os.abort()


ITSELF = EntryPoint("itself", lambda: [b"fine"], mutators.text, _misbehave, "a.txt")
"""Entry point for tests of the harness."""

# Limits of a run where an entry point simulates: the harness tests the reader, not the simulator.
ENVIRONMENT = {"SUBFLOW_MAX_MEMORY": "100MB", "SUBFLOW_MAX_EVENTS": "20000"}


def corpus(name: str) -> Path:
    """The folder of the inputs of an entry point that failed once."""
    return Path(__file__).parent / "corpus" / name


def private_folders(home: Path) -> dict[str, str]:
    """An environment in which no file of the user is read or written."""
    names = ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR")
    folders = {name: str(home / name.lower()) for name in names}
    screen = {"QT_QPA_PLATFORM": "offscreen", "LC_ALL": "C.UTF-8"}
    return {**os.environ, **folders, **ENVIRONMENT, **screen, "HOME": str(home), "TMPDIR": str(home / "tmp")}
