"""Qt-free services: everything the window and the command line do, they do through these modules."""
