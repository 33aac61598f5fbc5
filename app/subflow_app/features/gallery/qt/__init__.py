"""The gallery of experiments: what the papers show, run here, beside what they print. Start with `feature`."""
