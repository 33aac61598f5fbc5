"""The About dialog and the licences of all parts of the program."""
