"""The plots of a run: their definitions, and their drawing in the window."""
