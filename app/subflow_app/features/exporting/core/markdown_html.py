"""The little Markdown of labs as HTML: paragraphs, lists, formulas, emphasis, code and links."""

from __future__ import annotations

import html
import re

from subflow_app.vocabulary.formula_text import split_blocks

_ITEM = re.compile(r"(?:[-*]|(\d+)\.) +")
_CODE = re.compile(r"`([^`]+)`")
_LINK = re.compile(r"\[([^\]]+)\]\((https?://[^)\s]+)\)")
_STRONG = re.compile(r"\*\*(.+?)\*\*")
_EMPHASIS = re.compile(r"\*([^*\s](?:[^*]*[^*\s])?)\*")


def markdown_html(text: str) -> str:
    """A text with paragraphs as HTML; nothing that it says becomes an element of its own accord."""
    parts = []
    for is_block, part in split_blocks(text.strip()):
        if is_block:
            lines = "\n".join(line.strip() for line in part.splitlines())
            parts.append(f'<pre class="formula">{html.escape(lines, quote=False)}</pre>')
        else:
            parts += [_block(each) for each in re.split(r"\n\s*\n", part) if each.strip()]
    return "".join(parts)


def inline_html(text: str) -> str:
    """A text without paragraphs as HTML."""
    pieces = _CODE.split(html.escape(text, quote=False))
    return "".join(f"<code>{piece}</code>" if number % 2 else _words(piece) for number, piece in enumerate(pieces))


def _block(text: str) -> str:
    lines = text.strip().splitlines()
    first = _ITEM.match(lines[0])
    if first is None:
        return f"<p>{inline_html(' '.join(line.strip() for line in lines))}</p>"
    items: list[str] = []
    for line in lines:
        found = _ITEM.match(line)
        if found is None:
            items[-1] += " " + line.strip()
        else:
            items.append(line[found.end() :])
    tag = "ol" if first[1] else "ul"
    return f"<{tag}>{''.join(f'<li>{inline_html(item)}</li>' for item in items)}</{tag}>"


def _words(text: str) -> str:
    text = _LINK.sub(r'<a href="\2" rel="noopener">\1</a>', text)
    return _EMPHASIS.sub(r"<em>\1</em>", _STRONG.sub(r"<strong>\1</strong>", text))
