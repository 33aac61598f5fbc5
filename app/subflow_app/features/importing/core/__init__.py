"""Recognises the files that can be imported. Start reading at `door`."""
