"""The checks of the self-test, in the order in which they are told."""

from __future__ import annotations

from subflow_app.selftest.check import Check
from subflow_app.selftest.checks import (
    core_signature,
    figures,
    lab,
    learning_library,
    policies,
    reports,
    store,
    sweep,
    tables,
    training,
)

CHECKS: tuple[Check, ...] = (
    core_signature.CHECK,
    store.CHECK,
    tables.CHECK,
    figures.CHECK,
    reports.CHECK,
    lab.CHECK,
    training.CHECK,
    learning_library.CHECK,
    policies.CHECK,
    sweep.CHECK,
)
