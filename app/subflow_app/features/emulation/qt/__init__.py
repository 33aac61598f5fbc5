"""*Run > On this computer*: the dialog that chooses programs, and the panel with their output."""
