"""Requirements of a kernel run on this machine, with a reason and a remedy for each missing requirement."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from subflow_app.features.kernel.core.network_plan import CONGESTION_CONTROLS, ECN_MODES, NetworkPlan
from subflow_app.features.kernel.core.worker_process import ask_worker
from subflow_app.foundation.errors import KernelError

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
    """Capabilities of a machine.

    Attributes:
        release: release of its Linux kernel; empty on other systems.
        congestion_controls: congestion controls that the kernel has loaded, by the kernel's names.
        missing: missing requirements, each with the reason. Keys are "namespace", "packet sockets", "veth", "AccECN",
            "mptcp" and "congestion control NAME".
    """

    release: str
    congestion_controls: tuple[str, ...]
    missing: Mapping[str, str]

    def reasons_against(self, plans: Iterable[NetworkPlan] = ()) -> list[str]:
        """Reasons why these networks cannot run here, as sentences; without networks, reasons that prevent any run."""
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
    """Test all requirements in a temporary namespace, which takes about 0.3 s."""
    if not sys.platform.startswith("linux"):
        return Machine("", (), {"namespace": f"this takes a Linux kernel; this system is {sys.platform}"})
    try:
        answer = ask_worker({"probe": list(CONGESTION_CONTROLS.values())}, timeout_s=_PROBE_TIMEOUT_S)
    except KernelError as error:
        return Machine("", (), {"namespace": _NO_NAMESPACE.format(reason=error)})
    return machine_from(answer)


def machine_from(answer: Mapping[str, Any]) -> Machine:
    """Read a worker's answer to a probe."""
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
