"""The part of the window: rescues databases of runs that are damaged."""
