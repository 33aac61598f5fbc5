"""The part of the window: runs: one from start to end, changed live and stepped through, or many in a queue."""
