"""The checks of the self-test: a file for each, listed in `registry`."""
