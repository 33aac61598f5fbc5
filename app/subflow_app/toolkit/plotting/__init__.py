"""Parts of plots that are independent of features."""
