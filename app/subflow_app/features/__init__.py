"""Features of the program, a folder each. Importing the package lets databases of runs simulate light runs again."""

from __future__ import annotations

from typing import Any

from subflow_app.foundation.run_databases import provide_simulator


def _simulate_again(*arguments: Any, **named: Any) -> int:
    from subflow_app.features.running.core.again import simulate_again

    return simulate_again(*arguments, **named)


provide_simulator(_simulate_again)
