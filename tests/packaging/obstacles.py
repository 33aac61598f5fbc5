"""Obstacles that users meet, put in the way of the program: a full disk, a read-only home, no display.

    python -m tests.packaging.obstacles NAME FOLDER PROGRAM ...

Tries the program in its own folder and prints the result. Linux only: this process and its children lose rights of root
or see a private disk. That happens before numpy is imported, because numpy starts threads.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

from subflow_app.foundation.paths import own_command
from subflow_app.shell.selftest import check
from subflow_app.shell.selftest.check import SHORT_RUN, CheckError, NotHereError, Place, last_lines, require

NOT_HERE = 77
"""The exit code where the system does not permit the trial."""

_CLONE_NEWNS, _CLONE_NEWUSER = 0x00020000, 0x10000000
_MS_REC, _MS_PRIVATE = 0x4000, 0x40000
_PR_CAPBSET_DROP = 24
_CAPABILITY_VERSION_3 = 0x20080522
# CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH and CAP_FOWNER, with which root ignores the permissions of files.
_OVER_PERMISSIONS = (1, 2, 3)
_PACKAGING = Path(__file__).resolve().parents[2] / "packaging"
_PATIENCE_S = 60.0
_DISK_BYTES = 3_000_000
# Enough to open the database, too little for a whole run.
_LEFT_BYTES = 200_000
# Message of fontconfig on a system without a font cache; it does not affect the drawing.
_NO_FONT_CACHE = "Fontconfig error: No writable cache directories"
_FOLDERS = ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "HOME")
_DISPLAYS: tuple[dict[str, str | None], ...] = ({"DISPLAY": None}, {"DISPLAY": ":4711"}, {"QT_QPA_PLATFORM": "no-such"})


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Capabilities(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


def obey_permissions() -> None:
    """Makes the permissions of files apply to this process, also as root.

    Raises:
        NotHereError: if the system cannot do that.
    """
    _require_linux()
    if os.geteuid() != 0:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    # The capabilities that a program started as root gets.
    for number in _OVER_PERMISSIONS:
        if libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0) != 0:
            raise NotHereError(f"root cannot be kept from overriding permissions: {_last_error()}")
    header, sets = _Header(_CAPABILITY_VERSION_3, 0), (_Capabilities * 2)()
    if libc.capget(ctypes.byref(header), sets) != 0:
        raise NotHereError(f"the rights of root cannot be read: {_last_error()}")
    kept = ~sum(1 << number for number in _OVER_PERMISSIONS) & 0xFFFFFFFF
    sets[0].effective &= kept
    sets[0].permitted &= kept
    sets[0].inheritable &= kept
    if libc.capset(ctypes.byref(header), sets) != 0:
        raise NotHereError(f"the rights of root cannot be given up: {_last_error()}")


def mount_small_disk(folder: Path, size_bytes: int) -> None:
    """Mounts a disk of that size on a folder; only this process and its children see it, until they end.

    Args:
        folder: an empty folder.
        size_bytes: capacity of the disk.

    Raises:
        NotHereError: if the system does not let this user mount one.
    """
    _require_linux()
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.geteuid(), os.getegid()
    spaces = _CLONE_NEWNS if user == 0 else _CLONE_NEWNS | _CLONE_NEWUSER
    if libc.unshare(spaces) != 0:
        raise NotHereError(f"the system lets this user mount no disk of his own: {_last_error()}")
    if user != 0:
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")
    options = f"size={size_bytes},mode=700".encode("ascii")
    if libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None) != 0:
        raise NotHereError(f"mounts cannot be made private: {_last_error()}")
    if libc.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", 0, options) != 0:
        raise NotHereError(f"no disk can be mounted: {_last_error()}")


def _require_linux() -> None:
    if sys.platform != "linux":
        raise NotHereError("tried on Linux alone")


def _last_error() -> str:
    return os.strerror(ctypes.get_errno())


def low_disk(place: Place) -> str:
    """A disk that fills up during a run: the run is saved elsewhere, and the files on the disk stay intact."""
    disk = place.folder / "disk"
    disk.mkdir()
    mount_small_disk(disk, _DISK_BYTES)
    database = disk / "subflow" / "subflow.db"
    database.parent.mkdir()
    before = _kept_run(place, database)
    filler = disk / "filler"
    _fill(filler)
    said = place.subflow("run", "demo", code=1, may_speak=True, environment={"XDG_DATA_HOME": str(disk)}).err
    require("no space left" in said, f"no message that the disk is full: {last_lines(said)}")
    rescued = list(place.folder.glob("subflow-rescued/*/subflows.csv"))
    require(rescued and rescued[0].stat().st_size > 0, f"the run is lost: {last_lines(said)}")
    require(str(rescued[0].parent) in said, f"no message with the place of the run: {last_lines(said)}")
    filler.unlink()
    after = _kept_run(place, database)
    kept = _finished(place, database)
    require({before, after} <= kept, f"run {before} from before or run {after} from afterwards is not in the database")
    return "the run was saved in another folder, the database is whole"


def _kept_run(place: Place, database: Path) -> int:
    """Number of a run that the program has stored in this database."""
    return int(place.subflow("run", *SHORT_RUN, "--db", database, "--json").document["run_id"])


def _finished(place: Place, database: Path) -> set[int]:
    """Numbers of the finished runs."""
    runs = place.subflow("runs", "--db", database, "--json").document
    return {run["run_id"] for run in runs if run["status"] == "finished"}


def _fill(filler: Path) -> None:
    """Fills the disk except for some room."""
    written = 0
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                written += file.write(bytes(4096))
        except OSError:
            file.truncate(written - _LEFT_BYTES)


def read_only_home(place: Place) -> str:
    """A read-only home: commands that need no file of the user work, the others name the folder."""
    obey_permissions()
    home = place.folder / "home"
    home.mkdir(mode=0o555)
    environment = {name: str(home / name.lower()) for name in _FOLDERS}
    refused = place.subflow("run", *SHORT_RUN, code=1, may_speak=True, environment=environment).err
    require(str(home) in refused and "--db" in refused, f"no message with a remedy: {refused.strip()}")
    place.subflow("run", *SHORT_RUN, "--no-store", environment=environment)
    said = [line for line in _said_by_the_window(place, environment) if line != _NO_FONT_CACHE]
    # Log, settings and database, each once.
    is_expected = 1 <= len(said) <= 3 and all(str(home) in line for line in said)
    require(is_expected, f"output of the window: {' | '.join(said) or 'nothing'}")
    require(not any(home.iterdir()), "something was written")
    return "commands and window work; messages name the folder that cannot be written"


def _said_by_the_window(place: Place, environment: dict[str, str]) -> list[str]:
    """The lines that the program writes until its window appears and is asked to close."""
    sys.path.append(str(_PACKAGING))
    from virtual_screen import ScreenError, VirtualScreen

    with contextlib.ExitStack() as until_it_is_gone:
        try:
            screen = until_it_is_gone.enter_context(VirtualScreen())
            screen.titles()
        except ScreenError as reason:
            raise NotHereError(str(reason)) from reason
        shown_there = {**os.environ, **environment, "QT_QPA_PLATFORM": "xcb", "DISPLAY": screen.display}
        with (place.folder / "said.txt").open("w+", encoding="utf-8") as said:
            program = subprocess.Popen(own_command(), env=shown_there, cwd=place.folder, stderr=said)
            until_it_is_gone.callback(program.kill)
            try:
                screen.wait_for_title("Subflow", program)
            except ScreenError as reason:
                raise CheckError(str(reason)) from reason
            program.terminate()
            code = program.wait(_PATIENCE_S)
            said.seek(0)
            lines = said.read().splitlines()
    require(code == 0, f"the window ended with {code}: {' | '.join(lines)}")
    return lines


def no_display(place: Place) -> str:
    """Without a display, or with an unreachable one, the window is refused in one line, and commands work."""
    for display in _DISPLAYS:
        environment = {"QT_QPA_PLATFORM": None, "WAYLAND_DISPLAY": None, **display}
        said = place.subflow(code=1, may_speak=True, environment=environment).err
        lines = said.splitlines()
        require(len(lines) == 1 and "display" in said, f"{len(lines)} lines were printed: {said.strip()}")
    listed = place.subflow("scenarios", environment={"QT_QPA_PLATFORM": None, "DISPLAY": None}).out
    require("demo" in listed, "no scenario is listed")
    return "refused in one line and exit code 1, also where it cannot be reached; commands work"


CHECKS = {made.__name__: made for made in (low_disk, read_only_home, no_display)}


def main(name: str, folder: str, *program: str) -> int:
    """Tries one obstacle; returns the exit code."""

    def tried(*words: str) -> list[str]:
        return [*program, *words]

    try:
        _require_linux()
        with mock.patch.object(check, "own_command", tried), mock.patch.dict(globals(), own_command=tried):
            told, code = CHECKS[name](Place(Path(folder))), 0
    except NotHereError as reason:
        told, code = str(reason), NOT_HERE
    except CheckError as wrong:
        told, code = str(wrong), 1
    sys.stdout.write(f"{told}\n")
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
