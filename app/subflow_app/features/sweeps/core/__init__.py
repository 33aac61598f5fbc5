"""The parts of sweeps that do not need Qt: plans, jobs, results and views.

Start reading at `sweep_plan`, then `sweep_job`.
"""
