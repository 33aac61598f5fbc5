"""Replay of a run to any time, and explained decisions. Start reading at `replay`."""
