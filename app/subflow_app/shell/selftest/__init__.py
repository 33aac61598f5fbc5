"""The self-test of an installation: `worker.CHECKS` lists the checks, `runner.run_checks` carries them out."""
