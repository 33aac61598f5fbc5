"""The About dialog and the licences of everything that the program includes."""
