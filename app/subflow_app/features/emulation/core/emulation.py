"""Real programs on the network of a scenario: the worker that runs them, and the messages between it and this program.

The worker is a process of its own, with private namespaces for each node. Messages are lines of JSON.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from subflow_app.features.emulation.core.job_text import Program
from subflow_app.foundation.errors import KernelError
from subflow_app.foundation.paths import EMULATION_WORKER, own_command
from subflow_sim.shipped import native_folder

if TYPE_CHECKING:
    from subflow_app.features.emulation.core.network import EmulatedNetwork

SAMPLE_INTERVAL_S = 0.05
MOST_SECONDS = 6 * 3600.0
"""A run ends after this time at the latest, s, so that no forgotten one fills the memory."""

Direction = Literal["both", "forward", "reverse"]
Message = Mapping[str, Any]
"""A message of the worker; its only key is its kind (see `worker`)."""

_MARGIN_S = 60.0
# The worker ends programs with SIGTERM and then with SIGKILL, which takes at most two seconds.
_END_S = 10.0
# Sequences by which programs colour their output or move the cursor, and other control characters.
_SEQUENCES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class EmulationJob:
    """Everything that a worker needs.

    Attributes:
        network: the network, made by `plan_emulation`.
        seed: seed of the links' random losses and delays.
        programs: programs to start, in order; each waits until its predecessor listens, or is idle for half a second.
        seconds: time after which the run ends, s; None: no limit.
        ends_with: position of the program whose end ends the run; None: only `seconds` and `stop` do.
        uses_mptcp: whether TCP sockets of programs become MPTCP sockets.
        uplink: node that reaches the network of this machine; None: none does.
        shell: program of `programs` that gets the terminal `terminal`; None: none does.
        terminal: file descriptor of a terminal for `shell`.
    """

    network: EmulatedNetwork
    seed: int
    programs: tuple[Program, ...] = ()
    seconds: float | None = None
    ends_with: int | None = None
    uses_mptcp: bool = False
    uplink: str | None = None
    shell: int | None = None
    terminal: int | None = None

    @property
    def limit_s(self) -> float:
        """Time after which the run ends at the latest, s."""
        return MOST_SECONDS if self.seconds is None else self.seconds

    @property
    def warmup_s(self) -> float:
        """Time from which results count, s: that of the scenario, unless the run is shorter."""
        warmup_s = self.network.scenario.warmup_s
        return warmup_s if warmup_s < self.limit_s else 0.0


def sockets_library() -> Path:
    """Path of the library that changes the TCP sockets of programs, which is installed beside the core."""
    return native_folder() / "libsubflow-mptcp.so"


def _ignore(message: Message) -> None:
    """Do nothing."""


@dataclass(slots=True)
class _State:
    """State that both threads share."""

    process: subprocess.Popen[str] | None = None
    result: Message | None = None
    error: str | None = None
    last_words: list[str] = field(default_factory=list)


class Emulation:
    """A run of programs on an emulated network. All methods may be called from any thread.

    The kernel ends the worker and all its programs when this process ends, also by SIGKILL.

    Args:
        job: the network and the programs.
        on_message: called with each message of the worker, in a thread of its own.
    """

    def __init__(self, job: EmulationJob, on_message: Callable[[Message], None] = _ignore) -> None:
        self.job = job
        self._on_message = on_message
        self._state = _State()
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        # The parent-death signal of the worker is sent when the thread that started it ends, not the process. So the
        # thread that reads the messages also starts the worker.
        self._thread = threading.Thread(target=self._work, name="subflow-emulation", daemon=True)

    def start(self) -> None:
        """Start the worker. Failures are reported by `result`."""
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """True after the worker has ended."""
        return self._is_over.is_set()

    @property
    def error(self) -> str | None:
        """Reason why the run failed; None if it did not."""
        return self._state.error

    def send_change(
        self,
        link: str,
        direction: Direction = "both",
        *,
        rate_bps: float | None = None,
        delay_s: float | None = None,
        loss: float | None = None,
        up: bool | None = None,
        queue_pkts: int | None = None,
    ) -> None:
        """Change a link now; values that are None do not change. A message `changed` follows.

        Args:
            link: name of the link.
            direction: direction to change.
            rate_bps: new rate, bit/s; infinite: unlimited.
            delay_s: new one-way delay, s.
            loss: new probability of loss.
            up: False: the link goes down, True: it is in service again.
            queue_pkts: new capacity of the queue, packets.
        """
        values = {"rate_bps": rate_bps, "delay_s": delay_s, "loss": loss, "up": up, "queue_pkts": queue_pkts}
        chosen = {key: value for key, value in values.items() if value is not None}
        self._send({"change": {"link": link, "direction": direction, **chosen}})

    def start_program(self, program: Program) -> None:
        """Start a program; a message `started` with its number follows."""
        self._send({"start": program.document()})

    def end_program(self, number: int) -> None:
        """End a program with SIGTERM, and two seconds later with SIGKILL."""
        self._send({"end": number})

    def stop(self) -> None:
        """End all programs and the run, and keep what was measured."""
        self._send({"stop": True})

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for the end of the worker; return False if it still runs after `timeout_s`."""
        return self._is_over.wait(timeout_s)

    def result(self) -> Message:
        """Wait for the end of the run, and return the content of the message `result`.

        Raises:
            KernelError: if this machine refuses an operation, or the worker fails.
        """
        self._is_over.wait()
        if self._state.error is not None or self._state.result is None:
            raise KernelError(self._state.error or "the emulation ended without a result")
        return self._state.result

    def kill(self) -> None:
        """End the worker and all programs at once, without a result."""
        process = self._state.process
        if process is not None and not self.is_over:
            process.kill()

    # ---- the thread of the worker ----

    def _send(self, message: Message) -> None:
        with self._lock:
            process = self._state.process
            if process is None or process.stdin is None or self.is_over:
                return
            with suppress(OSError, ValueError):  # the worker has just ended
                process.stdin.write(json.dumps(message) + "\n")
                process.stdin.flush()

    def _work(self) -> None:
        try:
            self._run_worker()
        except OSError as error:
            self._state.error = f"the worker cannot be started: {error.strerror or error}"
        except Exception as error:
            self._state.error = f"the emulation failed: {type(error).__name__}: {error}"
            raise
        finally:
            self._is_over.set()

    def _run_worker(self) -> None:
        job = self.job
        terminal = () if job.terminal is None else (job.terminal,)
        # In a new session, Ctrl-C does not reach the worker; this process handles it and ends the worker.
        with subprocess.Popen(
            own_command(EMULATION_WORKER),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
            pass_fds=terminal,
        ) as process:
            errors = threading.Thread(target=self._read_errors, args=(process,), daemon=True)
            errors.start()
            with self._lock:
                self._state.process = process
            self._send({"parent": os.getpid(), **job_document(job)})
            try:
                for message in _messages(process):
                    self._take(message)
            finally:
                if self._state.result is None:
                    process.kill()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_END_S)
                process.kill()
            errors.join(1.0)
        if self._state.result is None and self._state.error is None:
            last = self._state.last_words[-1:] or [f"exit code {process.returncode}"]
            self._state.error = f"the emulation ended unexpectedly: {last[0]}"

    def _take(self, message: Message) -> None:
        if "error" in message:
            self._state.error = str(message["error"])
        elif "result" in message:
            self._state.result = message["result"]
        self._on_message(message)

    def _read_errors(self, process: subprocess.Popen[str]) -> None:
        assert process.stderr is not None
        for line in process.stderr:
            self._state.last_words = [*self._state.last_words[-9:], plain_output(line).strip()]


def _messages(process: subprocess.Popen[str]) -> Iterator[Message]:
    """Messages of the worker, with the output of programs as plain text."""
    assert process.stdout is not None
    for line in process.stdout:
        try:
            message: dict[str, Any] = json.loads(line)
        except ValueError:
            continue  # a broken last line of a worker that was killed
        if "output" in message:
            message["output"]["text"] = plain_output(message["output"]["text"])
        yield message


def job_document(job: EmulationJob) -> dict[str, Any]:
    """The first line for the worker, without the id of this process."""
    from subflow_sim.portable import links_document  # loads the core

    # Links change by themselves as long as the document lasts, so it must last longer than the run.
    scenario = replace(job.network.scenario, duration_s=job.limit_s + _MARGIN_S, warmup_s=job.warmup_s)
    return {
        "network": {**job.network.document(), "document": links_document(scenario, job.seed)},
        "seed": job.seed,
        "programs": [program.document() for program in job.programs],
        "seconds": job.limit_s,
        "ends_with": job.ends_with,
        "mptcp": job.uses_mptcp,
        "library": str(sockets_library()),
        "uplink": job.uplink,
        "shell": job.shell,
        "terminal": job.terminal,
        "sample_interval_s": SAMPLE_INTERVAL_S,
    }


def plain_output(text: str) -> str:
    """A line of a program's output without sequences for terminals and without control characters."""
    return _CONTROLS.sub("", _SEQUENCES.sub("", text)).expandtabs()


def describe(programs: Sequence[Program]) -> str:
    """The programs in one line: "iperf3 on client, iperf3 on server"."""
    return ", ".join(f"{program.name} on {program.node}" for program in programs)
