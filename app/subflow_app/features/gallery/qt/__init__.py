"""Gallery in the window: experiments of the papers, beside their published results. Start with `feature`."""
