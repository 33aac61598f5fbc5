"""What leaves the program for print: figures and reports. Start reading at `figure_plan`, `figures` and `report`."""
