"""Single runs with live changes and steps, and a queue for many runs, without the window. Start reading at `runs`."""
