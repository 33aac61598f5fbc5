"""Environment of a process: standard streams, the locale's case rules, and the display.

The process continues if standard input, output or error is closed, or can no longer be written.

Libraries change the case of ASCII identifiers with `toupper` of the C library: PySide derives the setter's name
"setInterval" from the keyword "interval". In Turkish, Azerbaijani and Kurdish locales, the capital of "i" is not "I",
so the setter is not found. Therefore the locale must not determine the case of identifiers.

If no window can be opened, one line in the terminal gives the reason; Qt would print five lines and abort.
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
    """A file that drops data that cannot be written, e.g. on a full disk, and stores the reason instead of raising."""

    def __init__(self, descriptor: int, *, tells_broken_pipe: bool) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self.problem = ""
        self._tells_broken_pipe = tells_broken_pipe

    def write(self, data: Any) -> int | None:  # type: ignore[override] # None: it would block
        """Write or drop the data; raises BrokenPipeError for a closed pipe if `tells_broken_pipe` is set."""
        if not self.problem:
            try:
                return super().write(data)
            except OSError as error:
                if error.errno == errno.EPIPE and self._tells_broken_pipe:
                    raise
                self.problem = error.strerror or str(error)
        return len(data)


def provide_standard_streams() -> None:
    """Provide all three standard streams; later write errors are available from `output_problem`.

    A closed stream is opened on the null device. Otherwise the next opened file, e.g. a database, would get the
    descriptor of the stream and receive all printed text.
    """
    for descriptor, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(descriptor)
        except OSError:
            nothing = os.open(os.devnull, os.O_RDWR)  # gets the lowest free number, i.e. this one
            if nothing != descriptor:
                os.dup2(nothing, descriptor)
                os.close(nothing)
            os.set_inheritable(descriptor, True)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(descriptor, mode, encoding="utf-8", errors="replace", closefd=False))
    sys.stdout = _lenient(sys.stdout, tells_broken_pipe=True)
    sys.stderr = _lenient(sys.stderr, tells_broken_pipe=False)


def take_stdout() -> BinaryIO:
    """Return a binary file that writes to stdout; from now on, all other output to stdout goes to stderr.

    A worker process writes its messages to the file, and text that libraries print does not get between them.
    """
    sys.stdout.flush()
    pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return pipe


def output_problem() -> str:
    """The reason why standard output could not be written completely; empty if it could."""
    return _outputs[0].problem if _outputs else ""


def _lenient(stream: Any, *, tells_broken_pipe: bool) -> Any:
    """The stream on a `_Lenient` file; unchanged if it is not a file (a Windows console, a replacement in a test)."""
    raw: IO[Any] | None = getattr(getattr(stream, "buffer", None), "raw", None)
    if not isinstance(stream, io.TextIOWrapper) or type(raw) is not io.FileIO:
        return stream
    stream.flush()
    file = _Lenient(raw.fileno(), tells_broken_pipe=tells_broken_pipe)
    _outputs.append(file)
    return io.TextIOWrapper(
        io.BufferedWriter(file),
        encoding=stream.encoding,
        errors="replace",  # a character that the encoding lacks becomes a question mark instead of raising an error
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


_NEUTRAL = ("C.UTF-8", "C.utf8", "en_US.UTF-8", "C")


def keep_ascii_case() -> None:
    """Give this process and its children the usual case rules for ASCII letters; the rest of the locale is unchanged.

    This changes environment variables, because Qt and GTK set the locale from the environment again when they start. If
    the user's locale has the usual rules, nothing changes: X11 selects the sequences of dead keys by LC_CTYPE, and
    Portuguese, Greek and other locales define their own sequences.
    """
    before = locale.setlocale(locale.LC_CTYPE)
    try:
        locale.setlocale(locale.LC_CTYPE, "")
    except locale.Error:
        return  # unknown on this system: every library keeps "C"
    if _has_ascii_case():
        locale.setlocale(locale.LC_CTYPE, before)
        return
    everything = os.environ.pop("LC_ALL", "")
    if everything:
        # LC_ALL would override LC_CTYPE. LANG applies to all categories that have no variable of their own.
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
    """True if the current locale pairs ASCII letters as usual; re.LOCALE with bytes uses the C library's rules."""
    small = re.compile(string.ascii_lowercase.encode(), re.IGNORECASE | re.LOCALE)
    return small.fullmatch(string.ascii_uppercase.encode()) is not None


_WAY_ON = "`subflow --help` lists what works without one"
_UNREACHABLE = "could not connect to display"


def no_display_text(said: Sequence[str], environment: Mapping[str, str]) -> str:
    """The message for a missing display, in one line.

    Args:
        said: messages that Qt printed while it looked for a display, oldest first.
        environment: environment variables, including those that name the display.
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
        # A system library is missing, and only Qt's messages name it.
        reasons = " ".join(" ".join(line.split()) for line in said)
        why = f"no window can be opened on the display ({', '.join(named)}): {reasons}"
    return f"{why}; {_WAY_ON}"
