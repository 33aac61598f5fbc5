"""Long jobs of many tasks: their state and progress, and the executors that carry out the tasks."""
