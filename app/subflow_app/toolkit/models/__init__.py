"""Item models over core objects; views and delegates draw them."""
