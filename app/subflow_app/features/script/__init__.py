"""Controllers and schedulers as scripts: editor, versions, conformance checks."""
