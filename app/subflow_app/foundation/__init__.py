"""Errors, files, paths, settings, expressions and crash reports: the base of all other parts of the program, without
Qt.
"""
