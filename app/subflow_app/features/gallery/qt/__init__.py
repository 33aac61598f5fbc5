"""Gallery in the window: experiments of the papers next to the published results. Start with `feature`."""
