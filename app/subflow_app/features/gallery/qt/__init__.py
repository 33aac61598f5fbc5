"""Gallery in the window: experiments of the papers, with our results beside the published ones. Start with `feature`.
"""
