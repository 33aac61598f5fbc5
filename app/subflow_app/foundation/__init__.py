"""Errors, files, paths, settings, expressions and crash reports: the base of all other parts, without Qt."""
