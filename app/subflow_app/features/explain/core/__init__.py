"""Runs gone through again: any state of one, and why it came to be. Start reading at `replay`."""
