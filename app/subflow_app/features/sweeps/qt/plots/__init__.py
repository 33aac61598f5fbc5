"""Pictures of a sweep, drawn with pyqtgraph and loaded when the first is looked at. Start reading at `study_plot`."""
