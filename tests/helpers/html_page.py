"""The structure of a page, without a browser."""

from __future__ import annotations

from html.parser import HTMLParser

_VOID = ("meta", "link", "br", "img")
_NO_ICON = "data:,"  # an empty icon, which leads nowhere


class HtmlPage(HTMLParser):
    """Tags, anchors, links, classes and words of a page; fails if elements are not closed in their order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.classes: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.tags.append(tag)
        self.ids += [values["id"]] if values.get("id") else []
        self.classes += [values["class"]] if "class" in values else []
        found = (values[name] for name in ("href", "src", "xlink:href") if name in values)
        self.links += [link for link in found if link != _NO_ICON]
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)
