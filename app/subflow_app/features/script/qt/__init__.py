"""The script editor in the window."""
