"""Commands of guided labs: doing a lab in the terminal, checking lab files, and grading a class."""
