"""Colours of scripts: hooks and keywords stand out, fields and functions have one each, comments step back."""

from __future__ import annotations

import keyword
import re

from PySide6.QtGui import QColor, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from subflow_app.toolkit.theme import Tokens, mixed
from subflow_sim.scenario_model import ScriptKind
from subflow_sim.script import vocabulary

_DOCSTRING = re.compile(r'"""|\'\'\'')
_TOKEN = re.compile(
    r"""(?P<comment>\#.*)
      | (?P<string>"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)
      | (?P<number>(?<![\w.])(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
      | (?P<field>(?<=\.)[A-Za-z_]\w*)
      | (?P<word>[A-Za-z_]\w*)""",
    re.VERBOSE,
)
_BOLD = 600


class ScriptHighlighter(QSyntaxHighlighter):
    """Of one document."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._formats: dict[str, QTextCharFormat] = {}
        self._words: dict[str, str] = {}

    def set_kind(self, kind: ScriptKind) -> None:
        """Knows the words of controllers, or of schedulers, from now on."""
        self._words = dict.fromkeys(keyword.kwlist, "keyword")
        self._words |= dict.fromkeys(vocabulary.SETTINGS, "keyword")
        for each in (*vocabulary.FUNCTIONS, *vocabulary.DECLARATIONS):
            self._words[each.name] = "function"
        for hook in vocabulary.HOOKS:
            if hook.kind == kind:
                self._words[hook.name] = "hook"
        self.rehighlight()

    def recolour(self, tokens: Tokens) -> None:
        """Takes the colours of a theme."""
        colours = {
            "comment": tokens.muted_text,
            "string": tokens.ok,
            "number": tokens.warning,
            "keyword": tokens.accent,
            "hook": mixed(tokens.accent, tokens.error, 0.5),
            "function": tokens.link,
            "field": mixed(tokens.text, tokens.link, 0.55),
        }
        for kind, colour in colours.items():
            text_format = QTextCharFormat()
            text_format.setForeground(QColor(colour))
            text_format.setFontItalic(kind == "comment")
            if kind in ("keyword", "hook"):
                text_format.setFontWeight(_BOLD)
            self._formats[kind] = text_format
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        """Colours a line; the state behind it says which quotes are still open."""
        start = 0
        quotes = ("", '"""', "'''")
        self.setCurrentBlockState(0)
        opened = quotes[max(0, self.previousBlockState())]
        while True:
            if opened:
                close = text.find(opened, start)
                end = len(text) if close < 0 else close + 3
                begin = start - 3 if start else 0
                self.setFormat(begin, end - begin, self._formats["string"])
                if close < 0:
                    self.setCurrentBlockState(quotes.index(opened))
                    return
                start, opened = end, ""
            found = self._colour_code(text, start)
            if found is None:
                return
            opened, start = text[found : found + 3], found + 3

    def _colour_code(self, text: str, start: int) -> int | None:
        """Colours up to where long quotes open, if they do."""
        position = start
        while (match := _TOKEN.search(text, position)) is not None:
            if match.lastgroup == "string" and _DOCSTRING.match(text, match.start()):
                return match.start()
            kind = match.lastgroup or ""
            kind = self._words.get(match[0], "") if kind == "word" else kind
            if kind:
                self.setFormat(match.start(), match.end() - match.start(), self._formats[kind])
            position = match.end()
        return None
