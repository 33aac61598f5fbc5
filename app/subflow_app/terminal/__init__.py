"""Building blocks of commands: options, progress, errors and exit codes."""
