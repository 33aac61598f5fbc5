"""Commands: trainings, their policies, and agents at work."""
