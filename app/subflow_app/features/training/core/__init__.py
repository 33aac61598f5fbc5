"""Training runs, policies, and decisions of agents. Start reading at `training_setup`, then `training`."""
