"""``python -m subflow_app`` and the ``subflow`` command."""

from __future__ import annotations

import sys


def main() -> int:
    """Run `carry_out` and return its exit code; Ctrl-C outside of `carry_out` also ends the program as interrupted."""
    try:
        from subflow_app.foundation.surroundings import provide_standard_streams

        provide_standard_streams()
        from subflow_app.foundation.interruption import (
            INTERRUPTED,
            end_interrupted,
            end_on_interrupt,
            notice_interrupts,
        )

        notice_interrupts()
        code = _with_output_told(_carried_out())
        if code == INTERRUPTED:
            end_interrupted()
        end_on_interrupt()
        return code
    except KeyboardInterrupt:
        from subflow_app.foundation.interruption import end_interrupted

        end_interrupted()


def _carried_out() -> int:
    """Run `carry_out`; if memory runs out before the libraries are loaded, print one sentence."""
    try:
        return carry_out()
    except Exception as error:
        from subflow_app.foundation.expected_errors import is_short_of_memory, message_of

        if not is_short_of_memory(error):
            raise
        sys.stderr.write(f"subflow: {message_of(error)}\n")
        return 1


def _with_output_told(code: int) -> int:
    """Flush stdout and return `code`; if stdout could not be written, print the reason and return 1 in place of 0."""
    from subflow_app.foundation.surroundings import output_problem

    sys.stdout.flush()
    problem = output_problem()
    if not problem:
        return code
    sys.stderr.write(f"subflow: standard output could not be written: {problem}\n")
    return code or 1


def carry_out() -> int:
    """Run the command line in ``sys.argv`` and return the exit code."""
    import gc
    import multiprocessing
    import os

    # First, because a frozen program starts its worker processes through this entry point.
    multiprocessing.freeze_support()
    from subflow_app.foundation.surroundings import keep_ascii_case

    keep_ascii_case()
    # By default, NumPy starts one thread per core for matrix products. Our matrices are small, and PyTorch has its own
    # threads.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from subflow_app.foundation.paths import EMULATION_WORKER, SELFTEST_CHECK

    words = sys.argv[1:]
    if words == [EMULATION_WORKER]:
        # Before the commands are loaded, which takes longer than all that this process does until programs start.
        from subflow_app.features.emulation.core.worker import main as be_worker

        return be_worker()
    if words[:1] == [SELFTEST_CHECK]:
        from subflow_app.shell.selftest.worker import be_check

        return be_check(words[1:])
    # Imports create no garbage. Looking for it takes a twentieth of the time of a start.
    gc.disable()
    from subflow_app.shell.window_command import is_for_window, window_of

    if is_for_window(words):
        return window_of(words)
    from subflow_app.shell.commands import main as run_command

    gc.freeze()
    gc.enable()
    return run_command()


if __name__ == "__main__":
    sys.exit(main())
