"""Guided labs in the window: list of labs, pages of steps, and grading of a class."""
