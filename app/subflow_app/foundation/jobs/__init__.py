"""Long work made of many tasks: its state, its progress, and the executors that carry the tasks out."""
