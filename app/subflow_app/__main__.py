"""``python -m subflow_app`` and the ``subflow`` command."""

from __future__ import annotations

import multiprocessing
import os
import sys


def main() -> int:
    """Runs the command line on ``sys.argv``; returns the exit code."""
    # First of all: a frozen program starts its worker processes through this very entry.
    multiprocessing.freeze_support()
    # NumPy would begin with a thread per core for products of matrices; ours are small, and PyTorch has its own.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from subflow_app.cli.window import is_for_window, window_of
    from subflow_app.core.own_program import SELFTEST_CHECK

    words = sys.argv[1:]
    if words[:1] == [SELFTEST_CHECK]:
        from subflow_app.selftest.worker import be_check

        return be_check(words[1:])
    if is_for_window(words):
        return window_of(words)
    from subflow_app.cli.commands import main as run_command

    return run_command()


if __name__ == "__main__":
    sys.exit(main())
