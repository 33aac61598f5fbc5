"""Repeats one operation, and makes another call of it fail each time.

    LD_PRELOAD=libfaults.so python -m tests.faults.trial OPERATION KIND WAY EVERY

Prints one JSON document: the number of calls of that kind, the number of trials, the failures, and the calls after
which the process aborted. nanobind converts between Python and C++ in noexcept functions, so that a failed allocation
there ends the program. The files must then be as after kill -9. Each trial is a forked process with its own folder, so
that no trial affects the next.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import json
import os
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import zstandard
from tests.store.examples import COLUMNS, SUMMARY, decisions, figures, ramp, record, reports, start, training

from subflow_app.features.library.core.building import LibraryBuild
from subflow_app.features.running.core import run_task, runs  # noqa: F401 # loaded before the process forks
from subflow_app.shell.commands import main
from subflow_app.terminal.terminal import print_error, print_json
from subflow_sim.simulation import Simulation  # noqa: F401 # likewise
from subflow_store import StoreError, open_store
from subflow_store.older import upgrade_file
from subflow_store.salvage import check, salvage
from subflow_store.upgrade import head
from subflow_store.values import Records

KINDS = {"write": 0, "sync": 1, "rename": 2, "sqlite-malloc": 3, "core-malloc": 3}
CALLERS = {"sqlite-malloc": "libsqlite3", "core-malloc": "subflow_sim/_core"}
VERSIONS = Path(__file__).parents[1] / "store" / "versions"

SCENARIO = """\
format = 1
name = "Two paths"
duration = "2s"

[nodes.client]
[nodes.server]

[links.wifi]
ends = ["client", "server"]
rate = "2Mbit/s"
delay = "25ms"
queue = "20pkt"

[links.lte]
ends = ["client", "server"]
rate = "1Mbit/s"
delay = "50ms"
queue = "20pkt"

[flows.download]
kind = "mptcp"
from = "server"
to = "client"
controller = "lia"
paths = [["wifi"], ["lte"]]
"""


@dataclass(frozen=True)
class Operation:
    """One operation to test.

    Attributes:
        prepare: creates the input in the folder.
        act: performs the operation there; returns the exit code.
    """

    prepare: Callable[[Path], object]
    act: Callable[[Path], int]


def _command(*words: str) -> int:
    sys.argv = ["subflow", *words]
    return main()


def _told(work: Callable[[], object]) -> int:
    """Runs work that is not a command, with the errors and exit codes of commands."""
    try:
        work()
    except StoreError as error:
        print_error(str(error))
        return 1
    return 0


def _scenario(folder: Path) -> None:
    (folder / "s.toml").write_text(SCENARIO)


def _one_run(folder: Path) -> None:
    _scenario(folder)
    with open_store(folder / "runs.db") as store:
        record(store, ramp(200))


def _simulated(folder: Path) -> None:
    _scenario(folder)
    _command("run", str(folder / "s.toml"), "--db", str(folder / "runs.db"), "--decisions")


def _full(folder: Path) -> None:
    with open_store(folder / "runs.db") as store:
        run = store.start_run(start(), COLUMNS)
        run.append(0, ramp(300))
        run.add_marks([(7, "download/1", "loss", 1.5)])
        run.add_events("decision", decisions(50))
        run.finish("finished", SUMMARY | {"run_id": run.run_id}, "signature")
        record(store, ramp(10))
        learned = store.trainings.add(training())
        store.trainings.append(learned, reports(5), figures(10))
        store.trainings.set_state(learned, "finished")


def _train(folder: Path) -> None:
    with open_store(folder / "runs.db") as store:
        learned = store.trainings.add(training())
        for first in range(0, 60, 20):
            store.trainings.append(learned, reports(20, first), figures(first), reports_read=first)
        store.trainings.set_state(learned, "finished")


def _take(folder: Path) -> None:
    with open_store(folder / "runs.db", read_only=True) as old, open_store(folder / "new.db") as new:
        new.copies.take(old.copies, Records((1, 2), (), (1,)))


def _copy(folder: Path) -> None:
    with open_store(folder / "runs.db", read_only=True) as store:
        store.save_copy(folder / "copy.db")


def _library(folder: Path) -> int:
    outcome = LibraryBuild(folder / "library.db", recipes=(), labs=()).run()
    for problem in outcome.problems:
        print_error(problem)
    return 1 if outcome.problems else 0


def _old(version: int) -> Callable[[Path], None]:
    def prepare(folder: Path) -> None:
        packed = (VERSIONS / f"v{version}.db.zst").read_bytes()
        (folder / "runs.db").write_bytes(zstandard.ZstdDecompressor().decompress(packed))

    return prepare


def _nothing(_folder: Path) -> None:
    pass


def _sweep(folder: Path) -> int:
    axis = ("--axis", "links.wifi.loss=0%,1%", "--jobs", "1")
    return _command("sweep", str(folder / "s.toml"), *axis, "--db", str(folder / "runs.db"))


def _export(kind: str) -> Callable[[Path], int]:
    def export(folder: Path) -> int:
        out = ("--out", str(folder / "out"), "--format", kind)
        return _command("export", "1", "--db", str(folder / "runs.db"), *out)

    return export


OPERATIONS = {
    "create": Operation(_nothing, lambda folder: _told(lambda: open_store(folder / "runs.db").close())),
    "run": Operation(_one_run, lambda folder: _command("run", str(folder / "s.toml"), "--db", str(folder / "runs.db"))),
    "sweep": Operation(_one_run, _sweep),
    "train": Operation(_one_run, lambda folder: _told(lambda: _train(folder))),
    "copy": Operation(_full, lambda folder: _told(lambda: _copy(folder))),
    "take": Operation(_full, lambda folder: _told(lambda: _take(folder))),
    "salvage": Operation(_full, lambda folder: _told(lambda: salvage(folder / "runs.db", folder / "new.db"))),
    "export": Operation(_simulated, _export("csv")),
    "bundle": Operation(_simulated, _export("bundle")),
    "library": Operation(_nothing, _library),
    **{
        f"migrate-{version}": Operation(_old(version), lambda folder: _told(lambda: upgrade_file(folder / "runs.db")))
        for version in range(1, head())
    },
}


class Trials:
    """The trials of one operation and one kind of fault."""

    def __init__(self, operation: str, kind: str, way: str, root: Path) -> None:
        self._operation = OPERATIONS[operation]
        self._kind = kind
        self._way = way
        self._root = root
        self._faults = ctypes.CDLL(os.environ["LD_PRELOAD"])
        self.aborted: list[int] = []
        self._pattern = root / "pattern"
        self._pattern.mkdir()
        self._child(self._prepare, self._pattern, 0)
        self._whole: dict[str, bytes] = {}
        self._pattern_runs = {
            name: check(path).runs for name, path in _files(self._pattern).items() if name.endswith(".db")
        }

    def _prepare(self) -> int:
        self._operation.prepare(self._pattern)
        return 0

    def count(self) -> int:
        """Number of calls of the kind, in a run without failures."""
        folder, told = self._try(0)
        assert told["code"] == 0, told
        self._whole = {name: path.read_bytes() for name, path in _files(folder).items()}
        shutil.rmtree(folder)
        return int(told["count"])

    def problems(self, at: int) -> list[str]:
        """Problems after the failure of the N-th call."""
        folder, told = self._try(at)
        if self._kind == "core-malloc" and told["code"] == -signal.SIGABRT:
            self.aborted.append(at)
        try:
            return list(self._wrong(folder, told))
        finally:
            shutil.rmtree(folder)

    def _try(self, at: int) -> tuple[Path, dict[str, Any]]:
        folder = Path(tempfile.mkdtemp(dir=self._root))
        shutil.copytree(self._pattern, folder, dirs_exist_ok=True)
        return folder, self._child(lambda: self._operation.act(folder), folder, at)

    def _child(self, work: Callable[[], int], folder: Path, at: int) -> dict[str, Any]:
        """Runs the work in a forked process with the fault armed; returns its result."""
        read_end, write_end = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(read_end)
            told = self._carry_out(work, folder, at)
            os.write(write_end, json.dumps(told).encode())
            os._exit(0)
        os.close(write_end)
        with os.fdopen(read_end, "rb") as answer:
            text = answer.read()
        _, status = os.waitpid(pid, 0)
        return json.loads(text) if text else {"code": -os.WTERMSIG(status), "err": "", "count": 0}

    def _carry_out(self, work: Callable[[], int], folder: Path, at: int) -> dict[str, Any]:
        err = io.StringIO()
        self._faults.fault_folder(str(folder).encode())
        if self._kind in CALLERS:
            assert self._faults.fault_caller(CALLERS[self._kind].encode())
        kind = KINDS[self._kind]
        code = 1
        with contextlib.redirect_stderr(err), contextlib.redirect_stdout(io.StringIO()):
            self._faults.fault_arm(kind, at, self._way == "later", self._way == "kill")
            try:
                code = work()
            except BaseException:
                traceback.print_exc()
            count = self._faults.fault_count(kind)
            self._faults.fault_arm(-1, 0, 0, 0)
        return {"code": code, "err": err.getvalue(), "count": count}

    def _wrong(self, folder: Path, told: dict[str, Any]) -> Iterator[str]:
        code, err = told["code"], told["err"]
        is_killed = code == -signal.SIGKILL or (self._kind == "core-malloc" and code == -signal.SIGABRT)
        if self._way == "kill" and not is_killed:
            yield f"not killed: {code}"
        # A simulation that needs too much memory is refused before it starts.
        expected = (0, 1, 2) if self._kind == "core-malloc" else (0, 1)
        if not is_killed and code not in expected:
            yield f"exit code {code}"
        if "Traceback" in err or "bug of Subflow" in err:
            yield f"traceback: {err[-1500:]}"
        elif code > 0 and not err.strip():
            yield "no message"
        for name, path in _files(folder).items():
            if name.endswith(("-wal", "-shm", "-journal")):
                continue
            if ".part" in name:
                if not is_killed:
                    yield f"{name} is left"
            elif name.endswith(".db"):
                yield from self._wrong_database(path, name)
            elif name in self._whole and path.read_bytes() != self._whole[name]:
                yield f"{name} is not whole"
        if code == 0:
            missing = {name for name in self._whole if not name.endswith(("-wal", "-shm"))} - set(_files(folder))
            if missing:
                yield f"reported success without {', '.join(sorted(missing))}"

    def _wrong_database(self, path: Path, name: str) -> Iterator[str]:
        if path.stat().st_size == 0 and name not in self._pattern_names():
            return  # SQLite creates an empty file first; the next opening continues from there
        try:
            if path.stat().st_size > 0:
                # Opened as by the next program, which recovers it.
                with open_store(path) as store:
                    stuck = [row.id for row in store.runs(include_deleted=True) if row.status == "running"]
                    if stuck:
                        yield f"{name}: runs {stuck} are listed as running"
                    lost = set(self._pattern_runs.get(name, ())) - {row.id for row in store.runs(include_deleted=True)}
                    if lost:
                        yield f"{name}: runs {sorted(lost)} are lost"
                damage = check(path).damage
                if damage:
                    yield f"{name}: {damage[0]}"
        except StoreError as error:
            yield f"{name} cannot be opened: {error}"

    def _pattern_names(self) -> set[str]:
        return set(_files(self._pattern))


def _files(folder: Path) -> dict[str, Path]:
    return {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()}


def trial(operation: str, kind: str, way: str, every: int) -> dict[str, Any]:
    """Runs all trials, or every N-th."""
    with tempfile.TemporaryDirectory(prefix="subflow-faults-") as root:
        trials = Trials(operation, kind, way, Path(root).resolve())
        count = trials.count()
        numbers = list(range(1, count + 1, every))
        found = {number: problems for number in numbers if (problems := trials.problems(number))}
    counts = {"count": count, "tried": len(numbers), "aborted": trials.aborted}
    return {"operation": operation, "kind": kind, "way": way, **counts, "problems": found}


if __name__ == "__main__":
    print_json(trial(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])))
