"""The command `subflow bench`, which measures the speed of the simulator."""
