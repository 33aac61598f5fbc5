"""The part of the window: the settings of the program and their dialog."""
