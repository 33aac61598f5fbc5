"""Surroundings of a process that could break its work: standard streams, the locale's case rules, and the display.

Work continues without standard input, output or errors that are closed, or cannot be written any more.

Libraries change the case of ASCII identifiers with `toupper` of the C library: PySide makes "setInterval" out of the
keyword "interval". Locales of Turkish, Azerbaijani and Kurdish have another capital for "i", and the setter is not
found. So the C library's rules for upper and lower case must not decide the names of a library.

If no window can be opened, one line in the terminal gives the reason: Qt prints five, and then aborts.
"""

from __future__ import annotations

import errno
import io
import locale
import os
import re
import string
import sys
from collections.abc import Mapping, Sequence
from typing import IO, Any, BinaryIO

_outputs: list[_Lenient] = []


class _Lenient(io.FileIO):
    """A file that takes everything: what it cannot write, on a full disk say, is lost, and the reason is remembered."""

    def __init__(self, descriptor: int, *, tells_broken_pipe: bool) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self.problem = ""
        self._tells_broken_pipe = tells_broken_pipe

    def write(self, data: Any) -> int | None:  # type: ignore[override] # None: not now
        """Writes it, or not; a reader of stdout that goes away ends the program all the same, as with every other."""
        if not self.problem:
            try:
                return super().write(data)
            except OSError as error:
                if error.errno == errno.EPIPE and self._tells_broken_pipe:
                    raise
                self.problem = error.strerror or str(error)
        return len(data)


def provide_standard_streams() -> None:
    """Give this process all three; what fails later on is kept for `output_problem`.

    One that is closed is opened on nothing: the next file to be opened, a database perhaps, would else get its number,
    and with it all that anybody prints.
    """
    for descriptor, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(descriptor)
        except OSError:
            nothing = os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free, which is this one
            if nothing != descriptor:
                os.dup2(nothing, descriptor)
                os.close(nothing)
            os.set_inheritable(descriptor, True)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(descriptor, mode, encoding="utf-8", errors="replace", closefd=False))
    sys.stdout = _lenient(sys.stdout, tells_broken_pipe=True)
    sys.stderr = _lenient(sys.stderr, tells_broken_pipe=False)


def take_stdout() -> BinaryIO:
    """Returns the pipe of stdout; from now on, texts that libraries print go to stderr, and not between messages."""
    sys.stdout.flush()
    pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return pipe


def output_problem() -> str:
    """Why not all of standard output could be written; empty: it could."""
    return _outputs[0].problem if _outputs else ""


def _lenient(stream: Any, *, tells_broken_pipe: bool) -> Any:
    """The same stream on a lenient file; what is no file (a console of Windows, a test's own) stays as it is."""
    raw: IO[Any] | None = getattr(getattr(stream, "buffer", None), "raw", None)
    if not isinstance(stream, io.TextIOWrapper) or type(raw) is not io.FileIO:
        return stream
    stream.flush()
    file = _Lenient(raw.fileno(), tells_broken_pipe=tells_broken_pipe)
    _outputs.append(file)
    return io.TextIOWrapper(
        io.BufferedWriter(file),
        encoding=stream.encoding,
        errors="replace",  # a terminal or file that cannot hold an arrow gets a question mark, not a traceback
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


_NEUTRAL = ("C.UTF-8", "C.utf8", "en_US.UTF-8", "C")


def keep_ascii_case() -> None:
    """Give this process, and those that it starts, the usual case of ASCII letters; all else of the locale stays.

    The variables of the environment change, not the setting alone: Qt and GTK set the locale from the environment
    anew when they begin. Where the user's locale has the usual rules, nothing changes: X11 chooses the sequences of
    dead keys by LC_CTYPE, and Portuguese, Greek and others have sequences of their own.
    """
    before = locale.setlocale(locale.LC_CTYPE)
    try:
        locale.setlocale(locale.LC_CTYPE, "")
    except locale.Error:
        return  # not on this system: every library stays with "C"
    if _has_ascii_case():
        locale.setlocale(locale.LC_CTYPE, before)
        return
    everything = os.environ.pop("LC_ALL", "")
    if everything:
        # It would win over LC_CTYPE. LANG says the same of all categories that no variable of their own decides.
        for name in [name for name in os.environ if name.startswith("LC_")]:
            del os.environ[name]
        os.environ["LANG"] = everything
    for name in _NEUTRAL:
        try:
            locale.setlocale(locale.LC_CTYPE, name)
        except locale.Error:
            continue
        os.environ["LC_CTYPE"] = name
        return


def _has_ascii_case() -> bool:
    """True if the current locale pairs the letters of ASCII; a pattern of bytes with re.LOCALE asks the C library."""
    small = re.compile(string.ascii_lowercase.encode(), re.IGNORECASE | re.LOCALE)
    return small.fullmatch(string.ascii_uppercase.encode()) is not None


_WAY_ON = "`subflow --help` lists what works without one"
_UNREACHABLE = "could not connect to display"


def no_display_text(said: Sequence[str], environment: Mapping[str, str]) -> str:
    """The line.

    Args:
        said: what Qt said while it looked for a display, oldest first.
        environment: the variables that name the display.
    """
    platform = environment.get("QT_QPA_PLATFORM", "")
    named = [f"{name}={environment[name]}" for name in ("WAYLAND_DISPLAY", "DISPLAY") if environment.get(name)]
    if platform:
        why = f"no window can be opened on the display that QT_QPA_PLATFORM={platform} selects"
    elif not named:
        why = "no window can be opened: neither DISPLAY nor WAYLAND_DISPLAY names a display"
    elif any(line.startswith(_UNREACHABLE) for line in said):
        why = f"no window can be opened: the display cannot be reached ({', '.join(named)})"
    else:
        # A library of the system is missing: which one, only Qt knows.
        reasons = " ".join(" ".join(line.split()) for line in said)
        why = f"no window can be opened on the display ({', '.join(named)}): {reasons}"
    return f"{why}; {_WAY_ON}"
