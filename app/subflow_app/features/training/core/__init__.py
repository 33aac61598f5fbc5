"""Trainings, policies, and what agents did. Start reading at `training_setup`, then `training`."""
