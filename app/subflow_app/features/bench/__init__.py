"""`subflow bench` measures the speed of the simulator."""
