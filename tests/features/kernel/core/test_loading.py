"""Loading scripts into this machine's kernel: they come and go, and hostile ones do no harm."""

from __future__ import annotations

import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.features.kernel.core.test_kernel_run import machine
from tests.helpers.kernel_loading import needs_kernel, shipped, written
from tests.helpers.members import for_each

from subflow_app.features.kernel.core import kernel_script, loading
from subflow_app.features.kernel.core.compare import Case, run_comparisons
from subflow_app.features.kernel.core.kernel_script import MOST_STEPS, KernelScript
from subflow_app.features.kernel.core.loading import LoadedController, helper_path, loaded_controllers
from subflow_app.foundation.errors import InputError, KernelError
from subflow_sim.scenario import parse_scenario
from subflow_sim.script import compile_script
from subflow_sim.script_reader import read_script

NAMES = ("newreno", "lia", "olia", "balia", "cubic", "vegas", "bdp", "shy")
RENO = """
def on_ack(w, ack):
    w.cwnd += 1 / w.cwnd
"""


@pytest.fixture(autouse=True)
def unchanged_default() -> Iterator[None]:
    """Each test leaves the default of the machine as it was."""
    default = Path("/proc/sys/net/ipv4/tcp_congestion_control")
    before = default.read_text(encoding="ascii") if default.is_file() else ""
    yield
    assert (default.read_text(encoding="ascii") if default.is_file() else "") == before


@pytest.fixture
def word() -> Iterator[str]:
    """A word of this process alone for names: tests of other processes load controllers, too."""
    own = f"t{os.getpid() % 10_000}"
    yield own
    wait_until(lambda: not own_controllers(own))


def own_controllers(word: str) -> list[str]:
    """The loaded controllers with a word in their names."""
    return [name for name in loaded_controllers() if name.startswith(f"sf_{word}_")]


def wait_until(holds: Callable[[], bool], most_s: float = 10.0) -> None:
    end_s = time.monotonic() + most_s
    while not holds():
        assert time.monotonic() < end_s
        time.sleep(0.01)


@for_each("name", NAMES)
def test_a_shipped_script_comes_and_goes(name: str) -> None:
    needs_kernel()
    with LoadedController(shipped(name)) as controller:
        assert controller.name in loaded_controllers()
        assert len(controller.name) <= 15
        assert controller.name.startswith(f"sf_{name[:5]}_")
        assert controller.poll().failures == 0
    assert controller.name not in loaded_controllers()


def test_two_loads_have_different_names() -> None:
    needs_kernel()
    with loading.loaded({1: shipped("lia"), 2: shipped("lia")}) as controllers:
        names = {each.name for each in controllers.values()}
        assert len(names) == 2
        assert names <= set(loaded_controllers())


def kill_after(words: list[str], blob: bytes, delay_s: float) -> None:
    """Starts a process, feeds it, and kills it after a moment."""
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        try:
            process.stdin.write(blob)
            process.stdin.flush()
        except BrokenPipeError:
            pass
        time.sleep(delay_s)
        process.kill()


@pytest.mark.timeout(300)
def test_nothing_is_left_of_killed_processes(request: pytest.FixtureRequest, word: str, tmp_path: Path) -> None:
    """Kills the helper, and the command that holds it, at random moments; 200 times with --full."""
    needs_kernel()
    draws = random.Random(1)
    blob = shipped("bdp").blob
    times = 200 if request.config.getoption("--full") else 20
    for _ in range(times):
        kill_after([str(helper_path()), "load", word], blob, draws.uniform(0, 0.3))
    path = tmp_path / f"{word}.py"
    path.write_text(RENO, encoding="utf-8")
    command = [sys.executable, "-m", "subflow_app", "controllers", "load", str(path)]
    for _ in range(times // 10):
        kill_after(command, b"", draws.uniform(0.3, 2.5))
    wait_until(lambda: not own_controllers(word))


def test_a_stopped_command_removes_its_controller() -> None:
    needs_kernel()
    command = [sys.executable, "-m", "subflow_app", "controllers", "load", "newreno"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        name = process.stdout.readline().strip()
        assert name in loaded_controllers()
        process.send_signal(signal.SIGINT)
        process.wait(10)
    assert process.returncode == 0
    wait_until(lambda: name not in loaded_controllers())


# ---- privileges ----


@pytest.fixture
def helper_for_all(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the helper that every user may start."""
    needs_kernel()
    if os.geteuid() != 0:
        pytest.skip("starting a program as another user takes root")
    folder = Path("/tmp", f"subflow-helper-{os.getpid()}")
    folder.mkdir(mode=0o755)
    yield Path(shutil.copy(helper_path(), folder / "helper"))
    shutil.rmtree(folder)


def as_nobody(helper: Path, blob: bytes) -> subprocess.CompletedProcess[bytes]:
    words = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", str(helper), "load", "lia"]
    return subprocess.run(words, input=blob, capture_output=True, check=False, timeout=60)


def test_a_user_without_privileges_loads_with_the_helper_alone(helper_for_all: Path) -> None:
    blob = shipped("lia").blob
    refused = as_nobody(helper_for_all, blob)
    assert (refused.returncode, refused.stderr) == (1, b"loading needs CAP_BPF and CAP_PERFMON\n")

    granted = subprocess.run(["setcap", "cap_bpf,cap_perfmon+ep", helper_for_all], capture_output=True, check=False)
    if granted.returncode != 0:
        pytest.skip(f"setcap: {granted.stderr.decode().strip()}")
    loaded = as_nobody(helper_for_all, blob)
    assert loaded.returncode == 0, loaded.stderr
    assert loaded.stdout.startswith(b"name sf_lia_")


def test_without_privileges_one_sentence_says_how(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(loading, "_attributes", lambda _path: [])
    with pytest.raises(KernelError) as refused:
        LoadedController(KernelScript("lia", b"", True, False))
    assert str(refused.value).endswith(f"sudo setcap cap_bpf,cap_perfmon+ep {helper_path()}")
    assert "\n" not in str(refused.value)


def test_a_missing_helper_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(loading, "helper_path", lambda: tmp_path / "helper")
    assert str(tmp_path / "helper") in str(loading.reason_against())


# ---- refused scripts ----


@for_each(
    ("name", "kind", "lines"),
    [("pcc", "controller", (38, 56)), ("minrtt", "scheduler", (11,)), ("roundrobin", "scheduler", None)],
)
def test_what_the_kernel_cannot_do_is_refused_with_its_line(
    name: str, kind: str, lines: tuple[int, ...] | None
) -> None:
    text = read_script(name, None)
    with pytest.raises(InputError) as refused:
        kernel_script.kernel_script(compile_script(text, name, kind))
    for number in lines or ():
        assert f"{name} line {number}: " in str(refused.value)
        assert text.splitlines()[number - 1].startswith("def ")


def test_a_script_that_takes_too_long_is_refused() -> None:
    body = "\n".join(f"            total += s.cwnd * t.cwnd * {number}" for number in range(60))
    text = (
        "def on_ack(w, ack, siblings):\n    total = 0\n    for s in siblings:\n        for t in siblings:\n"
        f"{body}\n    w.cwnd += 1 / (1 + total)\n"
    )
    with pytest.raises(InputError, match=rf"line 1: on_ack takes up to \d+ steps .* at most {MOST_STEPS}"):
        written(text)


@for_each(
    ("where", "value", "said"),
    [
        (0, struct.pack("<I", 1), "another version"),
        (4, struct.pack("<I", 5000), "5000 instructions"),
        (4, struct.pack("<I", 0), "0 instructions"),
        (8, struct.pack("<I", 251), "251 cells"),
        (12, struct.pack("<I", 2), "its flags"),
        (20, struct.pack("<i", 4000), "a function without code"),
        (20, struct.pack("<i", -2), "a function without code"),
        (2096, struct.pack("<4Bi", 200, 0, 0, 0, 0), "an unknown operation"),
        (2096, struct.pack("<4Bi", 0, 250, 0, 0, 0), "a cell beyond its frame"),
        (2096, struct.pack("<4Bi", 25, 0, 0, 0, 0), "a jump to an invalid target"),  # an endless loop
        (2096 + 8, struct.pack("<4Bi", 25, 0, 0, 0, 0), "a jump to an invalid target"),
        (2096, struct.pack("<4Bi", 33, 2, 0, 0, 9), "loops are nested too deep"),
        (2096, struct.pack("<4Bi", 34, 0, 0, 0, 0), "a loop without its beginning"),
        (2096, struct.pack("<4Bi", 32, 0, 0, 0, 99), "an unknown field"),
        (2096, struct.pack("<4Bi", 36, 0, 0, 0, 99), "an unknown field"),
        (2096, struct.pack("<4Bi", 46, 20, 0, 0, 4), "a filter beyond its frame"),
    ],
)
def test_the_helper_refuses_a_damaged_script(where: int, value: bytes, said: str) -> None:
    needs_kernel()
    script = shipped("bdp")
    blob = script.blob[:where] + value + script.blob[where + len(value) :]
    with pytest.raises(KernelError, match=f"the script is invalid: .*{said}"):
        LoadedController(replace(script, blob=blob))


@for_each("size", (0, 100, 43_055))
def test_the_helper_refuses_a_part_of_a_script(size: int) -> None:
    needs_kernel()
    done = subprocess.run(
        [helper_path(), "load", "reno"], input=written(RENO).blob[:size], capture_output=True, check=False
    )
    assert done.returncode == 2
    assert b"must be 43056" in done.stderr


@for_each("word", ("", "toolong", "A", "a b", "../x"))
def test_the_helper_refuses_other_names(word: str) -> None:
    needs_kernel()
    done = subprocess.run([helper_path(), "load", word], input=b"", capture_output=True, check=False)
    assert done.returncode == 2
    assert b"1 to 5 of the characters" in done.stderr


@for_each("words", ((), ("load",), ("load", "a", "b"), ("unload", "a"), ("check", "a")))
def test_the_helper_does_nothing_else(words: tuple[str, ...]) -> None:
    needs_kernel()
    done = subprocess.run([helper_path(), *words], input=b"", capture_output=True, check=False)
    assert done.returncode == 2


# ---- scripts that misbehave ----

SCENARIO = """\
format = 1
name = "{name}"
duration = "2s"
[nodes.a]
[nodes.b]
[links.wire]
ends = ["a", "b"]
rate = "5Mbit/s"
delay = "10ms"
queue = "30pkt"
loss = "1%"
[flows.bulk]
kind = "tcp"
from = "a"
to = "b"
controller = "tried"
paths = [["wire"]]
[controllers.tried]
script = "newreno"
"""

HOSTILE = {
    "zero": ("def on_ack(w, ack):\n    w.cwnd = 0\n", 0),
    "negative": ("def on_ack(w, ack):\n    w.cwnd = -1e6\n    w.ssthresh = -1\n", 0),
    "huge": ("def on_ack(w, ack):\n    w.cwnd = 1e300\n", 0),
    "nan": ("def on_ack(w, ack):\n    w.cwnd = inf - inf\n", 2),
    "divides": ("def on_ack(w, ack):\n    x = w.cwnd - w.cwnd\n    w.cwnd += 1 / x\n", 3),
    "root": ("def on_every_ack(w, ack):\n    w.cwnd = sqrt(-w.cwnd)\n", 2),
    "rate": ("def on_ack(w, ack):\n    w.rate = 0 - 5 * w.cwnd / ack.rtt\n", 2),
    "slow": ("def on_ack(w, ack):\n    w.rate = 1e-3\n    w.cwnd = 10\n", 0),
    "loss": ("def on_ack(w, ack):\n    w.cwnd += 1\ndef on_loss(w, loss):\n    w.ssthresh = inf\n", 4),
}


def test_hostile_scripts_fail_by_their_line_and_do_no_harm() -> None:
    needs_kernel()
    if reasons := machine().reasons_against():
        pytest.skip("; ".join(reasons))
    cases = {}
    for name, (text, _) in HOSTILE.items():
        case = Case.of(parse_scenario(SCENARIO.format(name=name)), seed=1, socket_buffer_bytes=8 << 20)
        (mark,) = case.scripts
        cases[name] = replace(case, scripts={mark: written(text)})
    comparisons = list(run_comparisons(list(cases.values()), machine(), seeds=0, repetitions=1))
    assert {each.case.scenario.name for each in comparisons} == set(HOSTILE)
    for comparison in comparisons:
        name = comparison.case.scenario.name
        summary = comparison.kernel[0].recording.summary()
        told = summary["kernel"]["scripts"]["bulk"]
        assert told["line"] == HOSTILE[name][1], (name, told)
        assert (told["failures"] > 0) == (told["line"] > 0), (name, told)
        # The connection continues, with the window of the last call that succeeded; only a rate of 0.001 packets per
        # second stops it, as it asks for.
        assert summary["flows"][0]["packets_acked"] > (10 if name != "slow" else 0), name


@pytest.mark.timeout(600)
def test_the_helper_survives_random_scripts(request: pytest.FixtureRequest) -> None:
    """Damaged bytes are refused, or run as a script that does no harm; 1000 with --full."""
    needs_kernel()
    draws = random.Random(2)
    script = shipped("olia")
    head = 2096 + 8 * 90  # the fields, the cells, and the instructions of the script
    codes = set()
    for _ in range(1000 if request.config.getoption("--full") else 40):
        blob = bytearray(script.blob)
        for _ in range(draws.randint(1, 4)):
            blob[draws.randrange(48 if draws.random() < 0.2 else 2096, head)] = draws.randrange(256)
        done = subprocess.run([helper_path(), "load", "fuzz"], input=blob, capture_output=True, check=False, timeout=60)
        assert done.returncode in (0, 2), (done.returncode, done.stderr)
        assert done.stderr.startswith(b"the script is invalid: ") == (done.returncode == 2)
        codes.add(done.returncode)
    assert codes == {0, 2}
