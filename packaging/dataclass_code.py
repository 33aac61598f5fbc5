"""Code of data classes, compiled when the program is frozen.

Python compiles the methods of each data class from their source when the class is defined. The window defines 250 such
classes, and compiling their 1 200 methods took an eighth of the processor time of a start.

    python packaging/dataclass_code.py FILE

writes the compiled code of all classes that a start defines; the frozen program reads it by `use`. The file is a part
of the program, like the compiled modules beside it.
"""

from __future__ import annotations

import builtins
import dataclasses
import importlib
import marshal
import sys
from pathlib import Path
from types import CodeType
from typing import Any

FILE = "dataclass_code.bin"
"""Name of the file in the bundle."""

_LOADED_AT_START = (
    "subflow_app.shell.app",
    "subflow_app.shell.actions",
    "subflow_app.shell.main_window",
    "subflow_app.features.plots.qt.fed_plots",
)


def use(file: Path) -> None:
    """Lets `dataclasses` take the code in a file in place of equal source text; other text is compiled as before.

    Raises:
        OSError: if the file cannot be read.
    """
    codes: dict[str, CodeType] = marshal.loads(file.read_bytes())

    def run(source: str, *names: Any) -> None:
        builtins.exec(codes.get(source, source), *names)

    # The module looks up `exec` in its own names first.
    dataclasses.exec = run  # type: ignore[attr-defined]


def code_at_start() -> dict[str, CodeType]:
    """The code of all data classes that a start of the window defines, by its source text."""
    codes: dict[str, CodeType] = {}

    def run(source: str, *names: Any) -> None:
        codes[source] = compile(source, "<string>", "exec")
        builtins.exec(codes[source], *names)

    dataclasses.exec = run  # type: ignore[attr-defined]
    try:
        for name in _LOADED_AT_START:
            importlib.import_module(name)
    finally:
        del dataclasses.exec  # type: ignore[attr-defined]
    return codes


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(marshal.dumps(code_at_start()))
