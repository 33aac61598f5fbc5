"""Commands: guided labs: their files, the checks of their steps, grades of a class."""
