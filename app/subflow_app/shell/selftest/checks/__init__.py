"""The checks of the self-test, listed in `worker.CHECKS`."""
