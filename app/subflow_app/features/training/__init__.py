"""Trainings, their policies, and learning agents in runs."""
