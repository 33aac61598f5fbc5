"""Controllers and schedulers that people write as text: editor, versions, conformance checks."""
