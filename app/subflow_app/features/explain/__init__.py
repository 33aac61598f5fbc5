"""Replay of a run to any time, and the decisions of its controllers and schedulers."""
