"""The parts of a page, pages with other parts, and a page of the guide that embeds a figure."""

from __future__ import annotations

import base64
import gzip
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.helpers.browsers import Browser, wait_until

from subflow_app.features.exporting.core.live_figure import LiveFigure
from subflow_app.features.exporting.core.web_page import dense_text, script_text, shared_parts

_STATIC = Path(__file__).parents[2] / "docs" / "_static"
READY = "document.body.dataset.ready === 'yes'"
_OWN = ("format", "version", "change", "language")
_DATA = re.compile(r'(<script type="application/json" id="data">)(.*?)(</script>)', re.DOTALL)


def packed_text(text: str, name: str) -> str:
    """A packed part of a page, unpacked like in a browser."""
    ((size, packed),) = re.findall(f'id="{name}" data-size="([0-9]+)">(.*?)</script>', text)
    return gzip.decompress(base64.b85decode(packed.replace(",", "<"))[: int(size)]).decode()


def data_of(text: str) -> Any:
    """The document of a page of runs: the data of this page, merged with the packed description of the runs."""
    (found,) = (match[2] for match in _DATA.finditer(text))
    return {**json.loads(found), **json.loads(packed_text(text, "told"))}


def with_data(text: str, data: Any) -> str:
    """The page with another document."""
    own = {key: data[key] for key in _OWN if key in data}
    packed = gzip.compress(json.dumps({key: data[key] for key in data if key not in own}).encode())
    text = _DATA.sub(lambda match: f"{match[1]}{script_text(own)}{match[3]}", text)
    told = f'id="told" data-size="{len(packed)}">{dense_text(packed)}</script>'
    return re.sub(r'id="told" data-size="[0-9]+">.*?</script>', lambda _: told, text)


def state(browser: Browser) -> str:
    """Text about the run on the page."""
    return str(browser.run("document.getElementById('state').textContent"))


def set_input(browser: Browser, label: str, value: str) -> None:
    """Sets a field of "What if"."""
    place = f"document.querySelector('[aria-label=\"{label}\"]')"
    browser.run(f"(({place}).value = '{value}', ({place}).dispatchEvent(new Event('change', {{bubbles: true}})), 0)")


def move_to(browser: Browser, time_s: float) -> None:
    """Move the cursor."""
    bar = "document.getElementById('time')"
    browser.run(f"({bar}.value = '{time_s}', {bar}.dispatchEvent(new Event('input')), 0)")


def submit(browser: Browser) -> None:
    """Simulates the changes."""
    browser.run("(document.querySelector('#whatif_place form').requestSubmit(), 0)")
    time.sleep(0.1)
    wait_until(browser, READY)


def page_of_guide(folder: Path, figure: LiveFigure) -> Path:
    """Writes a page that embeds a figure, with the script and the styles of the guide; returns its path."""
    (folder / "live").mkdir(parents=True)
    (folder / "live" / "shared.js").write_text(shared_parts(), encoding="utf-8")
    (folder / "live" / figure.file).write_text(figure.page, encoding="utf-8")
    for name in ("live.js", "guide.css"):
        (folder / name).write_bytes((_STATIC / name).read_bytes())
    caption = "<figcaption><span>A run</span> <button hidden>Run</button></figcaption>"
    place = f'<figure class="live" data-live="live/{figure.file}"><div class="live-picture">{figure.picture}</div>'
    path = folder / "guide.html"
    path.write_text(
        '<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="guide.css"><script src="live.js"></script>'
        f"<body>{place}{caption}</figure>",
        encoding="utf-8",
    )
    return path


@contextmanager
def served(folder: Path, on_request: Callable[[str], object] = lambda _path: None) -> Iterator[str]:
    """A server of a folder, as `python3 -m http.server` starts it; yields its address, and calls with each path."""

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *_words: object) -> None:
            on_request(self.path)

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
    thread.join()
