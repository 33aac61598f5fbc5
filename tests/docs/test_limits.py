"""The page of limits: each limit equals that of the code, and the code refuses the next larger input."""

from __future__ import annotations

import csv
import json
import logging
import struct
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from tests.fuzz.examples import SMALL_SCENARIO
from tests.helpers.members import for_each
from tests.helpers.printed_code import ROOT
from tests.helpers.scripts import CONTROLLER

from subflow_app.features.editor.core import graph_files, graph_formats, recovery
from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.exporting.core import verification
from subflow_app.features.gallery.core import axis
from subflow_app.features.gallery.core.recipe_reader import load_recipe
from subflow_app.features.history.core import run_query
from subflow_app.features.labs.core import progress, result_file
from subflow_app.features.measured.core import measured_table, pcap_files, pcap_reader
from subflow_app.features.measured.core.csv_reader import read_csv
from subflow_app.features.measured.core.measured_run import make_run, read_trace
from subflow_app.features.measured.core.measured_table import ReadingOptions
from subflow_app.features.measured.core.text_lines import text_lines
from subflow_app.features.sweeps.core import plan_file
from subflow_app.features.sweeps.core.sweep_estimate import SweepEstimate, SweepLimits
from subflow_app.foundation import crash_reports, expressions, settings, toml_files
from subflow_app.foundation.errors import AppError
from subflow_app.foundation.expected_errors import is_expected
from subflow_app.foundation.expressions import Expression
from subflow_sim import (
    gate,
    limits,
    link_params,
    parameter,
    params,
    policy_library,
    recording,
    scenario_model,
    script_reader,
)
from subflow_sim.gate import json_tree, toml_tree
from subflow_sim.scenario import load_scenario, parse_scenario
from subflow_sim.script import MAX_SCRIPT_BYTES

PAGE = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Limit:
    """A row of the page.

    Attributes:
        what: text of the first cell.
        most: the limit, as a whole number.
        attempt: reads an input of this size.
        refusal: words of the error beyond the limit.
        shown: the second cell; left out: the limit in groups of three digits.
    """

    what: str
    most: int
    attempt: Callable[[Path, int], object]
    refusal: str
    shown: str = ""


def of_file(what: str, most: int, read: Callable[[Path], object], refusal: str, name: str = "file") -> Limit:
    """Limit of the bytes of a file; the file is sparse and takes no room on the disk."""

    def attempt(folder: Path, size: int) -> None:
        path = folder / name
        with path.open("wb") as file:
            file.truncate(size)
        read(path)

    shown = f"{most >> 20} MiB" if most % (1 << 20) == 0 else gate.size_text(most)
    return Limit(what, most, attempt, refusal, shown)


def load_with_recording(folder: Path, size: int) -> None:
    path = folder / "a.toml"
    path.write_bytes(b'# "packed:'.ljust(size - 1, b"A") + b'"')
    load_scenario(path)


def with_value(key: str, value: Callable[[int], str]) -> Callable[[Path, int], object]:
    """Reads the small scenario with another value of a key."""
    return lambda _folder, size: parse_scenario(SMALL_SCENARIO, overrides=[f"{key}={value(size)}"])


def read_recipe_text(path: Path) -> None:
    toml_files.read_text(path, AppError, "a recipe")  # type: ignore[arg-type]


def read_settings(path: Path) -> None:
    if settings.load_settings(path) == settings.Settings() and not path.with_name(f"{path.name}.damaged").exists():
        raise AppError("not read, and not set aside as damaged")
    path.with_name(f"{path.name}.damaged").unlink()


def read_progress(path: Path) -> None:
    kept = progress.ProgressFolder(path.parent).read(path.stem)
    assert kept.progress is None
    raise AppError(kept.notice)


def read_recovery(path: Path) -> None:
    told: list[str] = []
    watch = logging.Handler()
    watch.emit = lambda record: told.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger(recovery.__name__).addHandler(watch)
    try:
        assert recovery.find_orphans(path.parent) == ()
    finally:
        logging.getLogger(recovery.__name__).removeHandler(watch)
    raise AppError(*told)


def write_graph(folder: Path, nodes: int, edges: int) -> Path:
    path = folder / "graph.gml"
    body = "".join(f"node [ id {k} ]\n" for k in range(nodes))
    body += "edge [ source 0 target 1 ]\n" * edges
    path.write_text(f"graph [\n{body}]\n", encoding="utf-8")
    return path


def write_csv(folder: Path, text: str) -> Path:
    path = folder / "table.csv"
    path.write_text(text, encoding="utf-8")
    return path


def read_gap(folder: Path, traces: int, last_s: int) -> None:
    """Two samples of each trace, at the largest distance in time that is accepted."""
    headings = "".join(f",download/{k + 1}:cwnd_pkts" for k in range(traces))
    path = write_csv(folder, f"time_s{headings}\n1{',1' * traces}\n{last_s}{',2' * traces}\n")
    make_run(read_csv(path, ReadingOptions()), name="a", path=path, interval_s=1.0)


def read_interval(folder: Path, tenths: int) -> None:
    path = write_csv(folder, "time_s,cwnd_pkts\n0,1\n1e-9,2\n2e-9,3\n")
    make_run(read_csv(path, ReadingOptions()), name="a", path=path, interval_s=(12 - tenths) / 10 * 1e-9)


def write_capture(folder: Path, connections: int, record: int = 60) -> Path:
    """A capture with one packet per connection; its first record claims a length of `record` bytes."""
    path = folder / "capture.pcap"
    packets = []
    for k in range(connections):
        tcp = struct.pack(">HHIIBBHHH", 1000 + k, 80, 1, 1, 0x50, 0x10, 1000, 0, 0)
        head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 50, 0, 0, 64, 6, 0, b"\x0a\0\0\1", b"\x0a\0\0\2")
        packets.append(bytes(12) + b"\x08\0" + head + tcp + bytes(10))
        back = struct.pack(">HHIIBBHHH", 80, 1000 + k, 1, 11, 0x50, 0x10, 1000, 0, 0)
        packets.append(bytes(12) + b"\x08\0" + head[:2] + b"\0\x28" + head[4:12] + head[16:] + head[12:16] + back)
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 1 << 30, 1))
        for packet in packets:
            file.write(struct.pack("<IIII", 1_690_000_000, 0, len(packet), len(packet)) + packet)
        if record > 60:
            file.write(struct.pack("<IIII", 1_690_000_000, 0, record, record))
            file.truncate(file.tell() + record)
    return path


def read_connections(folder: Path, count: int) -> None:
    table = read_trace(write_capture(folder, count), ReadingOptions(format="pcap"))
    if any("left out" in notice for notice in table.notices):
        raise AppError("left out")


def read_record(folder: Path, size: int) -> None:
    table = read_trace(write_capture(folder, 1, size), ReadingOptions(format="pcap"))
    if any("damaged" in notice for notice in table.notices):
        raise AppError("damaged")


def write_bundle(folder: Path, files: int, size: int, name: str = "traces/a") -> Path:
    path = folder / "a.subflow.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for k in range(files - 1):
            archive.writestr(f"traces/{k}", b"")
        archive.writestr(name, b"")
    # Uncompressed size of the last file, in the directory at the end of the archive.
    content = bytearray(path.read_bytes())
    struct.pack_into("<I", content, content.rindex(b"PK\1\2") + 24, size)
    path.write_bytes(content)
    return path


def nested(depth: int, opening: str, closing: str) -> str:
    return opening * depth + closing * depth


def read_points(folder: Path, count: int) -> None:
    path = folder / "recipe.toml"
    text = (ROOT / "assets/experiments/mplibra-fig9a.toml").read_text(encoding="utf-8")
    before, _, rest = text.partition("[axis]")
    values = ", ".join(f'"{k / 10_000:g}%"' for k in range(count))
    _, _, after = rest.partition("values = [")
    path.write_text(f"{before}[axis]{rest.partition('values = [')[0]}values = [{values}]{after.partition(']')[2]}")
    load_recipe(str(path))


def read_seeds(_folder: Path, count: int) -> None:
    plan_file.read_seeds(f"0..{count - 2},{2**40}")


def with_flow(count: int) -> str:
    return "[" + ", ".join(['["wifi"]'] * count) + "]"


def with_scripts(count: int) -> str:
    table = f"{{ script = 'a.py', content = {json.dumps(CONTROLLER)} }}"
    return f"{{ {', '.join(f'c{number} = {table}' for number in range(count))} }}"


def run_takes(memory_bytes: float = 0.0, link_crossings: float = 0.0) -> None:
    told = limits.estimate(parse_scenario(SMALL_SCENARIO))
    limits.Limits().check(replace(told, memory_bytes=memory_bytes, link_crossings=link_crossings))


def sweep_takes(runs: int, crossings: float) -> None:
    SweepLimits().check(SweepEstimate(runs, crossings, 1e7, 0.0, 0.0, seeds=runs))


LIMITS = (
    Limit(
        "a scenario, with the recordings in it",
        gate.MOST_OWN_BYTES,
        load_with_recording,
        "larger than 64 MB",
        shown=gate.size_text(gate.MOST_OWN_BYTES),
    ),
    of_file("its text without the recordings", gate.MOST_TEXT_BYTES, load_scenario, "larger than 4 MB"),
    of_file("the same in the window", gate.MOST_TEXT_BYTES, ScenarioDoc.open, "larger than 4 MB"),
    of_file(
        "a recording of rates or delays",
        gate.MOST_OWN_BYTES,
        lambda path: recording.read_recording(path.name, path.parent, "lte.up"),
        "too large",
    ),
    of_file(
        "a controller or scheduler written as a script",
        MAX_SCRIPT_BYTES,
        lambda path: script_reader.read_script(path.name, path.parent),
        "too large",
        name="a.py",
    ),
    of_file("a trained policy", policy_library.MAX_POLICY_BYTES, policy_library.read_policy_file, "larger than"),
    of_file(
        "a lab, a recipe of an experiment or a training, a contest",
        toml_files.MOST_BYTES,
        read_recipe_text,
        "too large",
    ),
    of_file(
        "a plan of a sweep, and its file of points",
        plan_file.MAX_BYTES,
        lambda path: plan_file.open_plan(str(path)),
        "too large",
        name="a.sweep.toml",
    ),
    of_file("a graph (GraphML, GML)", graph_files.MAX_BYTES, graph_formats.read_graph, "is too large"),
    of_file("a result of a lab", result_file.MAX_BYTES, result_file.read_result, "too large for a result"),
    of_file("the progress in a lab", progress.MOST_BYTES, read_progress, "larger than", name="lab.json"),
    of_file("the settings", settings.MOST_BYTES, read_settings, "not read", name="settings.json"),
    of_file("unsaved changes that are offered again", recovery.MOST_BYTES, read_recovery, "larger than", name="a.json"),
    of_file("a crash report", crash_reports.MOST_REPORT_BYTES, crash_reports.text_in, "larger than"),
    Limit(
        "levels of a document (tables in lists in tables)",
        gate.MOST_DEPTH,
        lambda _, n: json_tree(nested(n, "[", "]")),
        "too deeply",
    ),
    Limit(
        "names of a dotted key in TOML",
        gate.MOST_KEY_PARTS,
        lambda _, n: toml_tree(f"{'.'.join('a' * n)} = 1"),
        "more than",
    ),
    Limit("a whole number", gate.MAX_INTEGER, lambda _, n: json_tree(f"[{n}]"), "beyond 64 bits", shown="2⁶³ - 1"),
    Limit(
        "characters of a name (node, link, flow)",
        parameter.MAX_NAME_LENGTH,
        lambda _, n: parse_scenario(SMALL_SCENARIO.replace("noise", "n" * n)),
        "at most",
    ),
    Limit("characters of a title", parameter.MAX_TEXT_LENGTH, with_value("name", lambda n: f'"{"n" * n}"'), "too long"),
    Limit("time that a run simulates", 10**6, with_value("duration", lambda n: f'"{n}s"'), "too large", shown="10⁶ s"),
    Limit("rate of a link", 10**12, with_value("links.wifi.rate", str), "too large", shown="1000 Gbit/s"),
    Limit("delay of a link", 1000, with_value("links.wifi.delay", str), "too large", shown="1000 s"),
    Limit("packets in a queue", 10**7, with_value("links.wifi.queue", lambda n: f'"{n}pkt"'), "too large"),
    Limit("paths, and so subflows, of a flow", params.MAX_PATHS, with_value("flows.download.paths", with_flow), "32"),
    Limit("copies of a flow", scenario_model.MAX_COPIES, with_value("flows.noise.count", str), "too large"),
    Limit(
        "controllers, or schedulers, that a scenario brings",
        script_reader.MAX_SCRIPTS,
        with_value("controllers", with_scripts),
        "too many",
    ),
    Limit(
        "packets that a link drops by their numbers",
        link_params.MOST_DROPS,
        with_value("links.wifi.drops", lambda n: json.dumps([f"download/1:{k + 1}" for k in range(n)])),
        "at most 1000 packets",
    ),
    Limit(
        "nodes of a graph",
        graph_files.MAX_NODES,
        lambda at, n: graph_formats.read_graph(write_graph(at, n, 1)),
        "too large",
    ),
    Limit(
        "edges of a graph",
        graph_files.MAX_EDGES,
        lambda at, n: graph_formats.read_graph(write_graph(at, 2, n)),
        "too large",
    ),
    Limit("memory of a run", 4 * 10**9, lambda _, n: run_takes(memory_bytes=n), "limit of 4.0 GB", shown="4 GB"),
    Limit(
        "events of a run (packets that cross a link)",
        2 * 10**10,
        lambda _, n: run_takes(link_crossings=n),
        "limit of 2e+10",
        shown="2·10¹⁰",
    ),
    Limit("runs of a sweep", 100_000, lambda _, n: sweep_takes(n, 1.0), "more than the limit of"),
    Limit("events of a sweep", 10**13, lambda _, n: sweep_takes(1, n), "more than the limit of 1e+13", shown="10¹³"),
    Limit("seeds of a sweep in a list", plan_file.MOST_LISTED_SEEDS, read_seeds, "too many seeds"),
    Limit("points on the axis of an experiment", axis.MOST_POINTS, read_points, "1 to 1000 values"),
    Limit(
        "characters of an expression",
        expressions.MOST_CHARACTERS,
        lambda _, n: Expression(f"1 +{' ' * (n - 4)}1", {}),
        "too long",
    ),
    Limit(
        "characters of a query of runs",
        run_query.MOST_CHARACTERS,
        lambda _, n: run_query.parse_query("a " * (n // 2) + "a" * (n % 2)),
        "too long",
    ),
    Limit("traces of a measured run", measured_table.MOST_TRACES, lambda at, n: read_gap(at, n, 2), "would become"),
    Limit("samples of a measured run", measured_table.MOST_SAMPLES, lambda at, n: read_gap(at, 1, n), "would be"),
    Limit(
        "numbers of a measured run, all traces together",
        measured_table.MOST_CELLS // 20,
        lambda at, n: read_gap(at, 20, n),
        "would be",
        shown="20 000 000",
    ),
    Limit(
        "characters of a line of a measured text",
        measured_table.MOST_LINE_BYTES,
        lambda at, n: list(text_lines(write_csv(at, "x" * n), "utf-8")),
        "longer than 1 MB",
    ),
    Limit(
        "characters of a cell of a table",
        csv.field_size_limit(),
        lambda at, n: read_csv(write_csv(at, f"time_s,cwnd_pkts,note\n1,1,a\n2,2,{'x' * n}\n"), ReadingOptions()),
        "field larger than",
    ),
    Limit(
        "a time in a measured file",
        int(gate.MOST_SECONDS),
        lambda at, n: read_csv(write_csv(at, f"time_s,cwnd_pkts\n{n - 1},1\n{n},2\n"), ReadingOptions(time_unit="s")),
        "allowed: up to",
        shown="9·10⁹ s",
    ),
    Limit("shortest time between samples of a measured file", 2, read_interval, "an interval of", shown="1 ns"),
    Limit("connections of a capture", pcap_reader.MOST_CONNECTIONS, read_connections, "left out"),
    Limit("a packet of a capture", pcap_files.MOST_RECORD_BYTES, read_record, "damaged", shown="16 MiB"),
    Limit(
        "files of a bundle",
        verification.MOST_FILES,
        lambda at, n: verification.verify_bundle(write_bundle(at, n, 0)),
        "10 000 files",
    ),
    Limit(
        "a bundle, unpacked",
        verification.MOST_BYTES,
        lambda at, n: verification.verify_bundle(write_bundle(at, 1, n)),
        "more than 1 GB",
        shown="1 GB",
    ),
    Limit(
        "manifest and summary of a bundle",
        verification.MOST_DOCUMENT_BYTES,
        lambda at, n: verification.verify_bundle(write_bundle(at, 1, n, "manifest.json")),
        "larger than 20 MB",
        shown="20 MB",
    ),
)


def test_the_page_has_each_limit_as_the_code_has_it() -> None:
    rows = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| ") and "---" not in line]
    told = [(cells[0], cells[1]) for cells in rows if cells[1] != "Limit"]
    assert sorted(told) == sorted((limit.what, limit.shown or f"{limit.most:,}".replace(",", " ")) for limit in LIMITS)


@for_each("limit", LIMITS, ids=lambda limit: limit.what)
def test_a_limit_is_where_it_is_said_to_be(limit: Limit, tmp_path: Path) -> None:
    at, beyond = tmp_path / "at", tmp_path / "beyond"
    at.mkdir()
    beyond.mkdir()
    assert limit.refusal not in refusal_of(limit, at, limit.most)
    assert limit.refusal in refusal_of(limit, beyond, limit.most + 1)


def refusal_of(limit: Limit, folder: Path, size: int) -> str:
    """The error for an input of this size; empty if the input is accepted."""
    try:
        limit.attempt(folder, size)
    except (AppError, OSError, ValueError) as error:
        return str(error)
    except Exception as error:
        if not is_expected(error):
            raise
        return str(error)
    return ""
