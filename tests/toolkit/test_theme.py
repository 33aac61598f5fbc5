"""Tokens are readable in both sets, and switching updates the palette and all listeners."""

from __future__ import annotations

import dataclasses

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication, QLabel
from tests.helpers.members import for_each

from subflow_app.toolkit import app_theme, theme
from subflow_app.toolkit.app_theme import Theme
from subflow_app.toolkit.theme import CONTRAST, DARK, LIGHT, Tokens, contrast_ratio

SETS = [LIGHT, DARK, CONTRAST]
# (text colour, background); WCAG AA requires 4.5:1 for text of normal size.
TEXT_PAIRS = [
    (text, ground)
    for text in ("text", "muted_text", "link", "error", "warning", "ok", "accent")
    for ground in ("window", "base", "alternate_base")
] + [
    ("text", "button"),
    ("text", "button_hover"),
    ("text", "node_fill"),
    ("highlighted_text", "highlight"),
    ("accent_text", "accent"),
    ("text", "error_fill"),
    ("text", "warning_fill"),
    ("text", "info_fill"),
    ("error", "error_fill"),
    ("warning", "warning_fill"),
    ("link", "info_fill"),
]
# Lines and outlines with a meaning: 3:1 (WCAG 1.4.11).
SHAPE_PAIRS = [("node_border", "base"), ("link_line", "base"), ("accent", "window")]


@for_each("tokens", SETS, ids=lambda t: t.name)
@for_each(("text", "ground"), TEXT_PAIRS)
def test_text_is_readable(tokens: Tokens, text: str, ground: str) -> None:
    # WCAG AA; AAA if the person prefers high contrast.
    wanted = 7.0 if tokens is CONTRAST else 4.5
    assert contrast_ratio(getattr(tokens, text), getattr(tokens, ground)) >= wanted


@for_each("tokens", SETS, ids=lambda t: t.name)
@for_each(("shape", "ground"), SHAPE_PAIRS)
def test_shapes_stand_out(tokens: Tokens, shape: str, ground: str) -> None:
    assert contrast_ratio(getattr(tokens, shape), getattr(tokens, ground)) >= 3.0


def test_contrast_ratio_known_values() -> None:
    # The WCAG extremes, and #767676 on white, the lightest grey that passes 4.5:1.
    assert contrast_ratio("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast_ratio("#123456", "#123456") == pytest.approx(1.0)
    assert contrast_ratio("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("tokens", SETS, ids=lambda t: t.name)
def test_every_token_is_a_colour(tokens: Tokens) -> None:
    for field in dataclasses.fields(tokens):
        if field.name != "name":
            assert QColor(getattr(tokens, field.name)).isValid(), field.name


def test_switching_reaches_palette_and_listeners(qapp: QApplication) -> None:
    applied = Theme(qapp, "light")
    label, painted = QLabel(), QLabel()
    theme.set_style(label, lambda t: f"color: {t.error};")
    theme.muted(painted).show()
    assert label.styleSheet() == f"color: {LIGHT.error};"
    assert qapp.palette().color(QPalette.ColorRole.Base).name() == LIGHT.base

    applied.set_mode("dark")
    qapp.processEvents()

    assert label.styleSheet() == f"color: {DARK.error};"
    assert painted.palette().color(painted.foregroundRole()).name() == DARK.muted_text
    painted.close()
    assert theme.current_tokens() is DARK
    assert qapp.palette().color(QPalette.ColorRole.Base).name() == DARK.base
    applied.set_mode("light")
    assert theme.current_tokens() is LIGHT


def test_unknown_mode_is_refused(qapp: QApplication) -> None:
    with pytest.raises(ValueError, match="light, dark, contrast, system"):
        Theme(qapp).set_mode("sepia")  # type: ignore[arg-type]


@pytest.mark.parametrize("ground", ["window", "base", "alternate_base", "button"])
def test_edges_are_seen_in_high_contrast(ground: str) -> None:
    # Otherwise the fill of panels distinguishes them.
    assert contrast_ratio(CONTRAST.border, getattr(CONTRAST, ground)) >= 3.0


def test_high_contrast_of_the_desktop_is_followed(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    applied = Theme(qapp, "system")
    assert theme.current_tokens() is LIGHT

    monkeypatch.setattr(app_theme, "system_wants_contrast", lambda: True)
    app_theme._accessibility()[1].contrastPreferenceChanged.emit(Qt.ContrastPreference.HighContrast)

    assert theme.current_tokens() is CONTRAST
    applied.set_mode("dark")
    assert theme.current_tokens() is DARK
