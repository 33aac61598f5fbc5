"""The time that all views of a run show: transport bar, moving parts of the canvas, and list of events."""
