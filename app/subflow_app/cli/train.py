"""``subflow train``: an agent learns in a child process, told live; Ctrl-C stops it with a checkpoint."""

from __future__ import annotations

import typer

TRAIN_WORKER_COMMAND = "train-worker"


def train_worker() -> None:
    """Carry out one training (used by train and by the window)."""
    from subflow_app.core.training_worker import main

    raise typer.Exit(main())
