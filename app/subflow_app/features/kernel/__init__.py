"""`subflow compare-kernel`: compares the real Linux TCP/MPTCP stack with the simulator."""
