"""Errors, files, paths, settings, crash reports and jobs: the base of all other parts of the program, without Qt."""
