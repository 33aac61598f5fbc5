"""The views of a sweep.

To add one, write a file beside these that ends in its ``VIEW``, and list it in `choice`. A view with two axes is a
`picture`, which the window draws and writes. Start with `view`, then `lines`.
"""
