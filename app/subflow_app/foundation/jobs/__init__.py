"""Work that takes its time, made of many tasks: where it stands, how far it is, and who carries the tasks out."""
