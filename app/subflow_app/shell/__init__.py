"""Assembly of the window and the command line from features."""
