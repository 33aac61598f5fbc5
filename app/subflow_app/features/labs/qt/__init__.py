"""The guided labs in the window."""
