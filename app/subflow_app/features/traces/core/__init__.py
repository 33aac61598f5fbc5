"""The curves and events of a run, stored or live."""
