"""The plots of a run: required columns, computation with numpy, axis with unit, and drawing."""
