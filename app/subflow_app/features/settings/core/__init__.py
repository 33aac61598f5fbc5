"""The settings of the program and their dialog."""
