"""Time that work takes on this machine, with whatever else runs here, and the cost of runs beside their simulation."""

from __future__ import annotations

from subflow_app.foundation.jobs.executors import core_count

# Processor time, measured on scenarios of 2 to 9 nodes: of a run where it is made and where it is stored, of a column
# and of a byte of its traces, and of a process that is started to make runs.
RUN_MADE_S = 3e-3
RUN_STORED_S = 8e-3
COLUMN_STORED_S = 1.5e-4
TRACE_S_PER_BYTE = 2e-8
WORKER_STARTED_S = 0.9
# Memory of a program that simulates and nothing else, and what storing adds: at all, for each column, and for each byte
# of the traces.
PROGRAM_BYTES = 55e6
STORE_BYTES = 8e6
COLUMN_BYTES = 20e3
BYTES_PER_TRACE_BYTE = 2.2
# Disk space of a run, of a column, and of a byte of traces, packed.
RUN_DISK_BYTES = 40e3
PACKED = 0.6

# A machine with a free core is not exactly as fast as its clock.
_FREE = 1.15


def speed(processes: int, slowness: float = 1.0) -> float:
    """Processor seconds that so many processes of ours get together in a second.

    Args:
        processes: that compute all the time.
        slowness: wall-clock time of a process of this machine by its processor time, before they are started.
    """
    cores = core_count()
    # Processes of others that want a core each, as far as one process can see them.
    others = cores * slowness - 1 if slowness > _FREE else 0.0
    return min(float(processes), cores * processes / max(processes + others, cores))


def storing_s(columns: int, trace_bytes: float) -> float:
    """Processor time for storing a run with these traces, s."""
    return RUN_STORED_S + COLUMN_STORED_S * columns + TRACE_S_PER_BYTE * trace_bytes
