"""What `subflow bench` measures of the program: start, canvas, plots, lists, seeking, sweeps and trainings."""
