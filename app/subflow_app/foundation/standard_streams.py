"""Standard input, output and errors that are closed, or cannot be written any more: the work goes on without them."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import IO, Any

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
