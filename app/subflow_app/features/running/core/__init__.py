"""Single runs with live changes and steps, and a queue for many runs; independent of Qt. Start reading at `runs`."""
