"""Commands for trainings, their policies, and learning agents in runs."""
