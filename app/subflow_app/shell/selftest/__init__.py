"""The self-test of an installation: `registry.CHECKS` is the list, `runner.run_checks` carries it out."""
