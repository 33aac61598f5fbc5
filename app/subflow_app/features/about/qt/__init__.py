"""The part of the window: the About dialog and the licences of everything that the program includes."""
