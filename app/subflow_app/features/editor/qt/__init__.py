"""The part of the window: the scenario as it is edited: text, canvas, forms, topologies in and out, recovery."""
