"""Controllers in the kernel of this machine: the dialog that tries one beside the simulator."""
