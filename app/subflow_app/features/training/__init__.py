"""Trainings, their policies, and agents at work."""
