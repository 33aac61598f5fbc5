"""A crash of the program leaves a report for the user to look at, without his name or his folders."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

from subflow_app.foundation.paths import crash_directory, own_command
from subflow_app.shell.selftest.check import Check, CheckError, NotHereError, Place, require

_PATIENCE_S = 30.0


def check(place: Place) -> str:
    """Has a run die of a damaged memory access, and reads what is left."""
    if sys.platform == "win32":
        raise NotHereError("no process can be made to crash here")
    import resource

    from subflow_app.foundation.crash_reports import collect_crashes

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the picture of its memory is of no use to anybody
    words = ("run", "t-2link", "--set", "duration=1e6", "--sample-interval", "1000s", "--no-store")
    with subprocess.Popen(
        own_command(*words), cwd=place.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        deadline = time.monotonic() + _PATIENCE_S
        while not any(file.stat().st_size for file in crash_directory().glob("*")):
            if process.poll() is not None or time.monotonic() > deadline:
                process.kill()
                raise CheckError(f"a running process is not watched: nothing in {crash_directory()}")
            time.sleep(0.02)
        process.send_signal(signal.SIGSEGV)
        process.wait(_PATIENCE_S)
    reports = collect_crashes()
    require(len(reports) == 1, f"{len(reports)} reports were made")
    text = reports[0].text()
    require("Segmentation fault" in text and "run" in text, f"the report does not describe the crash: {text[:200]}")
    require(str(Path.home()) not in text, "the report names the user's folder")
    return f"{reports[0].title}; without the user's folders"


CHECK = Check("crash report", check)
