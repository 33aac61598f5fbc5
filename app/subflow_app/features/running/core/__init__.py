"""Runs: one from start to end, changed live and stepped through, or many in a queue. Start reading at `runs`."""
