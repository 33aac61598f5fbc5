"""Notices of failures, and the failures that need none."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from subflow_app.toolkit.notices import Notices
from subflow_app.toolkit.widgets.banner import Banners
from subflow_store import StoreClosed, StoreError


def test_a_read_from_a_database_that_another_one_replaced_shows_no_notice(qtbot: QtBot) -> None:
    banners = Banners()
    qtbot.addWidget(banners)
    notices = Notices(banners)
    closed = StoreClosed("the store is closed", path="runs.db")
    notices.history_failed(closed)
    notices.list_failed(closed, lambda: None, lambda: None)
    assert list(banners.topics()) == []
    notices.list_failed(StoreError("unreadable", path="runs.db"), lambda: None, lambda: None)
    assert list(banners.topics()) == ["history"]
