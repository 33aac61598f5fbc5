"""Parts of pictures that know no feature."""
