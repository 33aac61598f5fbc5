"""Real programs on the network of a scenario: the plan, the worker with its namespaces, and the recording."""
