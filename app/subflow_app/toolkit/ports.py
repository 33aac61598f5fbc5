"""Parts of the window that most features use; a feature names further parts in its ports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from subflow_app.toolkit.action_bar import ActionBar
    from subflow_app.toolkit.database import DatabaseControl
    from subflow_app.toolkit.workers import Workers
    from subflow_app.toolkit.workspaces import Workspaces


class StudyPorts(Protocol):
    """The actions of the window, its database, and its worker threads."""

    bar: ActionBar
    database: DatabaseControl
    workers: Workers


class PanelPorts(StudyPorts, Protocol):
    """The parts of `StudyPorts`, and the workspaces, which bring the panel of a feature to the front."""

    workspaces: Workspaces
