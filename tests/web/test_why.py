"""Why: clicks, keys, menus and events of a page lead to the cause, which is visible and in words."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from guide_live import DEMO_PAGE, demo_figure
from tests.helpers.browsers import Browser, Chromium, wait_until
from tests.helpers.hands import Hands
from tests.helpers.pages import READY, move_to, set_input, submit

pytestmark = pytest.mark.full("two browsers start and simulate")

WHY = "document.getElementById('why_answer').textContent"
THROUGHPUT, CWND, QUEUE = 0, 1, 3  # places of charts
DROPS = {"21.746 s": (21.746, 0.6), "34.041 s": (34.041, 0.6), "10.791 s": (10.791, 0.85)}  # time, share of the height


def opened_in(browser: Browser, path: Path, width: int = 1366, height: int = 768) -> Browser:
    if isinstance(browser, Chromium):
        browser.look(width, height)
    browser.open(path.as_uri())
    wait_until(browser, READY)
    if browser.run("document.documentElement.lang") != "en":
        browser.run("(document.getElementById('language').click(), 0)")
    return browser


@pytest.fixture(scope="module")
def demo_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("why") / DEMO_PAGE
    path.write_text(demo_figure().page, encoding="utf-8")
    return path


@pytest.fixture
def demo(browser: Browser, demo_path: Path) -> Browser:
    return opened_in(browser, demo_path)


@pytest.fixture
def run(browser: Browser, page: Path) -> Browser:
    return opened_in(browser, page)


def place_of(browser: Browser, chart: int, time_s: float, share: float) -> tuple[float, float]:
    """Window coordinates of a time and a share of the height of a chart, after scrolling to the chart."""
    canvas = f"document.querySelectorAll('.chart canvas')[{chart}]"
    browser.run(f"({canvas}.scrollIntoView({{block: 'nearest'}}), 0)")
    box = f"(({canvas}).getBoundingClientRect())"
    left, top, width, height = browser.run(
        f"(() => {{ const b = {box}; return [b.left, b.top, b.width, b.height]; }})()"
    )
    end = float(browser.run("document.getElementById('time').max"))
    return left + 56 + (width - 64) * time_s / end, top + 6 + (height - 26) * share


def click(browser: Browser, chart: int, time_s: float, share: float, aside_px: int = 0) -> str:
    """Clicks into a chart; returns the line above it after its change."""
    line = f"document.querySelectorAll('.answer')[{chart}].textContent"
    browser.run(f"(document.querySelectorAll('.answer')[{chart}].replaceChildren(), 0)")
    x, y = place_of(browser, chart, time_s, share)
    Hands(browser).draw([(x + aside_px, y)])
    wait_until(browser, f"{line} !== '' && !{line}.startsWith('Click a drop')")
    return str(browser.run(line))


def press_w(browser: Browser, place: str) -> None:
    event = "new KeyboardEvent('keydown', {key: 'w', bubbles: true, cancelable: true})"
    browser.run(f"({place}.focus(), {place}.dispatchEvent({event}), 0)")


def is_in_sight(browser: Browser, place: str) -> bool:
    box = f"document.querySelector({json.dumps(place)}).getBoundingClientRect()"
    return bool(browser.run(f"{box}.top >= 0 && {box}.top < innerHeight - 20"))


def test_a_click_near_a_drop_means_the_loss_of_that_subflow(demo: Browser) -> None:
    scrolled = demo.run("(document.querySelectorAll('.chart canvas')[1].scrollIntoView({block: 'nearest'}), scrollY)")
    for told, (time_s, share) in DROPS.items():
        for aside_px in (-5, 0, 5):
            assert click(demo, CWND, time_s, share, aside_px).startswith(f"{told}: Loss, fast retransmit, ssthresh = ")
            assert demo.run("document.getElementById('now').textContent") == told
    # The line is visible, and the page has not scrolled.
    assert is_in_sight(demo, ".chart + .chart .answer")
    assert abs(demo.run("scrollY") - scrolled) <= 2


def test_a_click_far_from_a_drop_means_its_time(demo: Browser) -> None:
    assert click(demo, CWND, 18.0, 0.5).partition(": ")[2].startswith("An acknowledgement came, cwnd ")


def test_the_line_leads_to_the_numbers(demo: Browser) -> None:
    click(demo, CWND, 18.0, 0.5)
    assert not is_in_sight(demo, "#why_answer")
    demo.run("(document.querySelectorAll('.answer')[1].firstChild.click(), 0)")
    end = time.monotonic() + 5
    while not is_in_sight(demo, "#why_answer") and time.monotonic() < end:
        time.sleep(0.1)
    assert is_in_sight(demo, "#why_answer")
    # With numbers in place of symbols, and the names of units.
    worked = demo.run("document.querySelector('#why_answer .worked').textContent")
    assert worked.startswith("cwnd = ")
    assert " · min(" in worked
    assert worked.endswith(" pkt")
    rows = demo.run("[...document.querySelectorAll('#why_answer tr')].map((row) => row.innerText.split('\\t'))")
    units = {name.strip(): value.split()[-1] for name, value, *_ in rows}
    assert (units["best"], units["total rate"], units["acked"]) == ("pkt/s²", "pkt/s", "pkt")


def test_a_drop_has_a_picture_of_its_queue_and_a_change_to_try(demo: Browser) -> None:
    click(demo, CWND, 21.746, 0.6)
    wait_until(demo, "document.querySelector('#why_answer .queue svg')")
    picture = "document.querySelector('#why_answer .queue')"
    assert demo.run(f"{picture}.getAttribute('aria-label')").startswith("Queue of lte: 100 packets at 21.6")
    assert demo.run(f"{picture}.querySelector('text').textContent") == "full: 100"
    assert demo.run(f"{picture}.previousElementSibling.textContent").startswith("21.6")
    # The cross lies on the line of the limit.
    limit = demo.run(f"{picture}.querySelector('.limit').getAttribute('d')").split()[1].partition("h")[0]
    assert demo.run(f"{picture}.querySelector('.drop').getAttribute('transform')").endswith(f" {limit})")

    assert demo.run("document.querySelector('[data-try]').textContent") == "Try a longer queue at lte"
    Hands(demo).click("[data-try]")
    wait_until(demo, "document.getElementById('changed').textContent.includes('lte: Queue 100 → 200 pkt')")
    wait_until(demo, READY)
    assert demo.run("document.getElementById('differences').children.length") > 0
    # The run with a change of its own offers no further change.
    wait_until(demo, "document.querySelector('#why_answer [data-try]') === null")
    demo.run("(document.querySelector('#whatif_place button[type=button]').click(), 0)")
    wait_until(demo, "document.querySelector('#why_answer [data-try]') !== null")


def test_an_outage_names_the_command_that_leaves_it_out(demo: Browser) -> None:
    click(demo, CWND, 25.576, 0.9)
    wait_until(demo, f"{WHY}.includes('Try it without the outage of wifi')")
    assert "subflow fork RUN --at 25.001s --set links.wifi." in demo.run(WHY)


def test_w_answers_while_a_control_has_the_focus(run: Browser) -> None:
    for time_s, place in enumerate(("#play", "#speed", "#why_owner", "#time", "#theme"), 2):
        move_to(run, time_s)
        press_w(run, f"document.querySelector('{place}')")
        line = "parseFloat(document.querySelectorAll('.answer')[1].textContent)"
        wait_until(run, f"{line} > {time_s - 0.5} && {line} <= {time_s}")


def test_w_is_a_letter_in_a_text(run: Browser) -> None:
    for place in ("#whatif_place input[type=text]", "#filter"):
        press_w(run, f"document.querySelector('{place}')")
    time.sleep(0.5)
    assert run.run(WHY) == ""


def test_another_subflow_is_answered_at_once(run: Browser) -> None:
    move_to(run, 3)
    line = "document.querySelectorAll('.answer')[1].textContent"
    found: list[str] = []
    for owner in ("1", "0"):
        run.run(f"(why_owner.value = '{owner}', why_owner.dispatchEvent(new Event('change')), 0)")
        wait_until(run, f"{line}.includes(' s: ') && {line} !== {json.dumps(found[-1] if found else '')}")
        found.append(run.run(line))
    assert found[0] != found[1]


def test_an_event_chooses_its_subflow_and_time(demo: Browser) -> None:
    rows = "[...document.querySelectorAll('#events tbody tr')]"
    row = f"{rows}.find((each) => each.innerText.includes('25.576'))"
    demo.run(f"({row}.querySelector('button').id = 'wanted', why_owner.value = '1', 0)")
    Hands(demo).click("#wanted")
    wait_until(demo, f"{WHY}.includes('25.576 s')")
    assert demo.run("why_owner.value") == "0"
    assert demo.run("document.getElementById('now').textContent") == "25.576 s"
    line = demo.run("document.querySelectorAll('.answer')[1].textContent")
    assert line == "25.576 s: Retransmission timeout, ssthresh = 20 pkt (50 % of cwnd), cwnd 40.3 → 1 pkt"
    assert is_in_sight(demo, "#why_answer") or is_in_sight(demo, ".chart + .chart .answer")


def test_other_curves_name_what_lies_there_and_offer_the_window(demo: Browser) -> None:
    told = click(demo, THROUGHPUT, 15.05, 0.5)
    assert "wifi: rate 12 → 4 Mbit/s at 15 s" in told
    told = click(demo, THROUGHPUT, 32.0, 0.06)
    assert told.startswith(("No change or loss near 31.9", "No change or loss near 32"))
    assert "This page explains congestion windows." in told
    offer = "document.querySelectorAll('.answer')[0].querySelector('[data-subflow]')"
    assert demo.run(f"{offer}.textContent") == "Congestion window of download/2 (backhaul–lte)"
    demo.run(f"({offer}.click(), 0)")
    wait_until(demo, f"{WHY}.includes('Cause: ')")
    assert demo.run("why_owner.value") == "1"


def test_a_curve_of_a_link_names_its_changes(run: Browser) -> None:
    # At any height of the click, the chart names the changes of the link whose queue is nearer.
    told = {click(run, QUEUE, 6.0, share) for share in (0.05, 0.35, 0.65, 0.98)}
    # The two directions differed before, so each is named.
    assert any("lte →: rate 4 → 2 Mbit/s at 6 s; lte ←: rate 1 → 2 Mbit/s at 6 s" in each for each in told), told


def test_events_say_what_has_changed(demo: Browser) -> None:
    rows = demo.run("[...document.querySelectorAll('#events tbody tr')].map((row) => row.innerText.split('\\t'))")
    values = {(row[1].split(" ", 1)[1], row[0]): row[3] for row in rows}
    assert values["Link changes", "15 s"] == "rate 12 → 4 Mbit/s"
    assert values["Link changes", "36 s"] == "rate 4 → 12 Mbit/s"
    assert values["Link down", "25 s"] == ""
    assert values["Loss, fast retransmit", "21.746 s"] == "ssthresh 97.32 pkt"
    # Causes made by a reader behave in the same way.
    move_to(demo, 40)
    demo.run("(document.querySelector('input[name=from][value=cursor]').checked = true, 0)")
    set_input(demo, "lte: Delay (ms)", "50")
    submit(demo)
    wait_until(demo, "document.getElementById('events').innerText.includes('delay 25 → 50 ms')")
    demo.run("(document.getElementById('language').click(), 0)")
    wait_until(demo, "document.getElementById('events').innerText.includes('Rate 12 → 4 Mbit/s')")


def test_an_answer_follows_the_language_and_the_run(run: Browser) -> None:
    line = "document.querySelectorAll('.answer')[1].textContent"
    click(run, CWND, 3.0, 0.5)
    english = run.run(line)
    run.run("(document.getElementById('language').click(), 0)")
    wait_until(run, f"{line} !== {json.dumps(english)} && {line}.includes(' s: ')")
    assert "Anlass: " in run.run(WHY)


def test_the_legend_shows_the_last_sample(run: Browser) -> None:
    values = (
        f"[...document.querySelectorAll('.chart')[{THROUGHPUT}].querySelectorAll('.key')].map((key) => key.textContent)"
    )
    canvas = f"document.querySelectorAll('.chart canvas')[{THROUGHPUT}]"
    clock = f"document.querySelectorAll('.chart')[{THROUGHPUT}].querySelector('.readout b').textContent"
    for sample in (3.0, 5.2):
        move_to(run, sample)
        wait_until(run, f"{clock} === '{sample:g} s'")
        at_sample = run.run(values)
        for later in (0.03, 0.07):
            x, y = place_of(run, THROUGHPUT, sample + later, 0.5)
            run.run(f"({canvas}.dispatchEvent(new PointerEvent('pointermove', {{clientX: {x}, clientY: {y}}})), 0)")
            wait_until(run, f"{clock} !== '{sample:g} s' && {clock}.startsWith('{sample:.1f}'.slice(0, 3))")
            assert run.run(values) == at_sample
        run.run(f"({canvas}.dispatchEvent(new PointerEvent('pointerleave')), 0)")


@pytest.mark.parametrize("size", [(1366, 768), (390, 844)])
def test_from_the_page_to_the_cause_of_a_drop_takes_one_click(
    browser: Browser, demo_path: Path, size: tuple[int, int]
) -> None:
    if not isinstance(browser, Chromium):
        pytest.skip("the size of the screen is set in Chromium")
    opened_in(browser, demo_path, *size)
    time_s, share = DROPS["21.746 s"]
    assert "Loss, fast retransmit" in click(browser, CWND, time_s, share)
    assert is_in_sight(browser, ".chart + .chart .answer")
    assert browser.problems == []
