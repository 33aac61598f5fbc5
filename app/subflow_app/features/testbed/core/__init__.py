"""A scenario on the real Linux stack: namespaces, a link emulator, endpoints, and the comparison with the simulator."""
