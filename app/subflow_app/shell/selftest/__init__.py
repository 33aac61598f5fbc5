"""The self-test of an installation: `worker.CHECKS` lists the checks, and `runner.run_checks` carries them out."""
