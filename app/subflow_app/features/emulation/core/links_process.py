"""The process that carries packets over the emulated links, in real time and with high priority.

Its only imports beyond the standard library are those of the link emulator. It answers by lines of JSON.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from subflow_app.features.kernel.core import namespaces

_PRIORITY = 20
_HEAD_START_NS = 50_000_000


def wire_fields(network: Mapping[str, Any]) -> list[tuple[str, str, int]]:
    """For each link direction: the interface at which packets arrive, that at which they leave, and its number."""
    found = []
    for number in range(len(network["links"])):
        first, second = f"a{number}", f"b{number}"
        found += [(first, second, 2 * number), (second, first, 2 * number + 1)]
    return found


def carry_packets(job: Mapping[str, Any], orders: int, output: int) -> None:
    """Emulate links until an order to stop.

    Args:
        job: the job of the worker.
        orders: file descriptor with lines of JSON: ``{"change": {...}}`` and ``{"stop": true}``.
        output: file descriptor for the answers: ``{"start_ns"}``, ``{"rows"}``, ``{"changed"}``, ``{"refused"}``, and
            ``{"result"}`` in the end.

    Raises:
        OSError: if the kernel refuses an operation.
        SimulationError: if a link cannot be emulated.
    """
    from subflow_sim.errors import SimulationError
    from subflow_sim.link_emulator import LinkEmulator, Wire

    network = job["network"]
    interval_s = job["sample_interval_s"]
    wires = [Wire(first, second, (link,)) for first, second, link in wire_fields(network)]
    start_ns = time.monotonic_ns() + _HEAD_START_NS
    document = (network["document"], job["seed"])
    emulator = LinkEmulator([document], wires, start_ns, interval_s, network["mtu_bytes"])
    lock = threading.Lock()

    def write(message: Mapping[str, Any]) -> None:
        with lock:
            data = (json.dumps(message) + "\n").encode()
            while data:
                data = data[os.write(output, data) :]

    def obey() -> None:
        with os.fdopen(orders, encoding="utf-8") as lines:
            for line in lines:
                order = json.loads(line)
                if "stop" in order:
                    break
                change = order["change"]
                values = {key: value for key, value in change.items() if key not in ("links", "link", "direction")}
                try:
                    for link in change["links"]:
                        emulator.change(0, link, **values)
                except SimulationError as error:
                    write({"refused": {**change, "reason": str(error)}})
                else:
                    write({"changed": {**change, "t_s": (time.monotonic_ns() - start_ns) / 1e9}})
        is_over.set()
        emulator.stop()

    def report() -> None:
        while not is_over.wait(interval_s / 2):
            write_rows()

    def write_rows() -> None:
        rows = [[round(row.time_s, 9), row.links] for row in emulator.take_samples()]
        if rows:
            talks = [
                [
                    *(each.wire, each.source, each.source_port, each.destination, each.destination_port),
                    *(each.counts.offered, each.counts.lost, each.counts.delivered_bytes),
                ]
                for each in emulator.conversations()
            ]
            write({"rows": rows, "udp": talks})

    is_over = threading.Event()
    threads = [threading.Thread(target=work, daemon=True) for work in (obey, report)]
    for thread in threads:
        thread.start()
    write({"start_ns": start_ns})
    priority = namespaces.hurry(_PRIORITY)
    emulator.run()
    is_over.set()
    threads[1].join()
    with suppress(OSError):
        write_rows()
        results = emulator.results()
        (measured,) = results.pop("networks")
        write({"result": {**results, **measured, "priority": priority}})
