"""Starts the worker, waits for its answer, and sees to it that nothing of it is left.

What this machine allows of what a kernel run needs, with a reason and a way on for each thing that is missing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from subflow_app.features.kernel.core.network_plan import CONGESTION_CONTROLS, ECN_MODES, NetworkPlan
from subflow_app.foundation.errors import KernelError
from subflow_app.foundation.paths import own_command

WORKER_COMMAND = "kernel-worker"
_UPDATE_S = 0.2


def worker_words() -> list[str]:
    """The command that starts a worker: this very program, frozen or not."""
    return own_command(WORKER_COMMAND)


def ask_worker(
    job: Mapping[str, Any], *, timeout_s: float, progress: Callable[[float], None] | None = None
) -> dict[str, Any]:
    """Have a worker do a job.

    Args:
        job: see `worker.main`.
        timeout_s: wall time after which it is killed.
        progress: called some times a second with the wall time so far, s.

    Returns:
        Its answer.

    Raises:
        KernelError: if the machine refuses something, or the worker fails or takes too long.
    """
    # A session of its own: Ctrl-C reaches this process alone, which then ends the worker in its own way.
    with subprocess.Popen(
        worker_words(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        start_new_session=True,
    ) as process:
        try:
            output, errors = _wait(process, json.dumps({**job, "parent": os.getpid()}), timeout_s, progress)
        finally:
            # Its two children go with it: the kernel kills them when their parent ends.
            process.kill()
            process.wait()
    try:
        answer = json.loads(output)
    except ValueError:
        last = errors.strip().splitlines()[-1:] or [f"exit code {process.returncode}"]
        raise KernelError(f"the kernel worker failed: {last[0]}") from None
    if "error" in answer:
        raise KernelError(f"the kernel worker failed: {answer['error']}")
    return dict(answer)


def _wait(
    process: subprocess.Popen[str], text: str, timeout_s: float, progress: Callable[[float], None] | None
) -> tuple[str, str]:
    """What the process wrote to stdout and stderr, once it has ended."""
    started = time.monotonic()
    unsent: str | None = text
    while True:
        try:
            return process.communicate(unsent, timeout=_UPDATE_S)
        except subprocess.TimeoutExpired:
            unsent = None  # it goes on with what the first call was given
            elapsed_s = time.monotonic() - started
            if elapsed_s > timeout_s:
                raise KernelError(f"the kernel run was stopped: it took more than {timeout_s:.0f} s") from None
            if progress is not None:
                progress(elapsed_s)


_PROBE_TIMEOUT_S = 20.0

_NO_NAMESPACE = (
    "this machine allows no network namespace of our own: {reason}. Run as root, or allow unprivileged user namespaces"
    " (sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0; containers often"
    " forbid both: docker run --privileged)"
)
_WAYS_ON = {
    "packet sockets": "packet sockets are not allowed ({reason}): CAP_NET_RAW or CONFIG_PACKET is missing",
    "veth": "virtual cables cannot be made ({reason}): the kernel module veth is missing (modprobe veth as root)",
    "AccECN": "the kernel has no AccECN ({reason}): it takes Linux 6.18 or newer",
    "mptcp": "the kernel has no MPTCP ({reason}): it takes Linux 5.16 or newer with CONFIG_MPTCP",
}


@dataclass(frozen=True, slots=True)
class Machine:
    """What a machine can do.

    Attributes:
        release: of its kernel; empty where there is none of Linux.
        congestion_controls: that the kernel has loaded, by its names.
        missing: reasons by what is missing: "namespace", "packet sockets", "veth", "AccECN", "mptcp",
            "congestion control NAME".
    """

    release: str
    congestion_controls: tuple[str, ...]
    missing: Mapping[str, str]

    def reasons_against(self, plans: Iterable[NetworkPlan] = ()) -> list[str]:
        """Why these networks cannot run here, a sentence each; none if they can. Without networks: why nothing can."""
        needed = ["namespace", "packet sockets", "veth"]
        for plan in plans:
            if plan.ecn == ECN_MODES["accecn"]:
                needed.append("AccECN")
            for flow in plan.flows:
                needed.append(f"congestion control {flow.congestion_control}")
                if flow.is_mptcp:
                    needed.append("mptcp")
        return [self.missing[what] for what in dict.fromkeys(needed) if what in self.missing]


def probe_machine() -> Machine:
    """Try everything once, in a namespace that is gone afterwards; takes some 0.3 s."""
    if not sys.platform.startswith("linux"):
        return Machine("", (), {"namespace": f"this takes a Linux kernel; this system is {sys.platform}"})
    try:
        answer = ask_worker({"probe": list(CONGESTION_CONTROLS.values())}, timeout_s=_PROBE_TIMEOUT_S)
    except KernelError as error:
        return Machine("", (), {"namespace": _NO_NAMESPACE.format(reason=error)})
    return machine_from(answer)


def machine_from(answer: Mapping[str, Any]) -> Machine:
    """The answer of a worker that was asked to probe."""
    available = tuple(answer["congestion_controls"])
    missing = {}
    for what, reason in answer["missing"].items():
        if what in _WAYS_ON:
            missing[what] = _WAYS_ON[what].format(reason=reason)
        else:
            name = what.rpartition(" ")[2]
            missing[what] = (
                f"the kernel has no congestion control {name} ({reason}); it has {', '.join(available)}"
                f" (modprobe tcp_{name} as root loads more where the module is installed)"
            )
    return Machine(str(answer["release"]), available, missing)
