"""Sweeps in the window: the dialog, the list and the views. Start reading at `feature`, then `session`."""
