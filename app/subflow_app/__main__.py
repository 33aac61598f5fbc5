"""``python -m subflow_app`` and the ``subflow`` command."""

from __future__ import annotations

import multiprocessing
import sys

from subflow_app.cli import main

__all__ = ["main"]

if __name__ == "__main__":
    # A frozen program starts its worker processes through this very entry.
    multiprocessing.freeze_support()
    sys.exit(main())
