"""Entry point of the frozen program: the window, a command, or a child process of either."""

import sys
from pathlib import Path

import dataclass_code

dataclass_code.use(Path(__file__).with_name(dataclass_code.FILE))

from subflow_app.__main__ import main  # noqa: E402 - after the line above, for its data classes

if __name__ == "__main__":
    sys.exit(main())
