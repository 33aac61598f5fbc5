"""Errors, files, paths, settings, crash reports and jobs: what every part of the program rests on, without Qt."""
