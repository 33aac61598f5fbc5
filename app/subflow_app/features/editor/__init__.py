"""The scenario as it is edited: text, canvas, forms, topologies in and out, recovery."""
