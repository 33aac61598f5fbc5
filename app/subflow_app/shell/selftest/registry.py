"""The checks of the self-test, in the order in which they are told."""

from __future__ import annotations

from subflow_app.shell.selftest.check import Check
from subflow_app.shell.selftest.checks import (
    core_signature,
    crash_report,
    figures,
    guide,
    imports,
    lab,
    languages,
    learning_library,
    licences,
    own_locale,
    policies,
    qt_platform,
    refused_files,
    scripts,
    store,
    strange_path,
    sweep,
    tables,
    training,
    window,
)

CHECKS: tuple[Check, ...] = (
    imports.CHECK,
    core_signature.CHECK,
    qt_platform.CHECK,
    window.CHECK,
    languages.CHECK,
    own_locale.CHECK,
    guide.CHECK,
    licences.CHECK,
    store.CHECK,
    tables.CHECK,
    figures.CHECK,
    lab.CHECK,
    training.CHECK,
    learning_library.CHECK,
    policies.CHECK,
    scripts.CHECK,
    sweep.CHECK,
    refused_files.CHECK,
    strange_path.CHECK,
    crash_report.CHECK,
)
