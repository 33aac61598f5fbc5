"""The import in the window: a dialog for measurements, and the choice of the way for each dropped file."""
