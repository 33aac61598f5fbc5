"""Commands for training runs, the policies that they produce, and learning agents in simulation runs."""
