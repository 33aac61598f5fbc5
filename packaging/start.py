"""Entry point of the frozen program: the window, a command, or a child process of either."""

import sys

from subflow_app.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
