"""Charts under the mouse, the keyboard and fingers."""

from typing import Any

import numpy as np
import pytest

from tests.web.browsing import DECAY, EQUATIONS, LONG, NEEDS_BROWSER, drop, fit, section

pytestmark = NEEDS_BROWSER


def test_charts_zoom_move_and_show_values(page: Any) -> None:
    drop(page, DECAY, "decay.csv")
    page.wait_for_selector("#preview table")
    fit(page)
    page.wait_for_selector(EQUATIONS, timeout=LONG)
    chart = page.locator("#result .u-over").first
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    middle = box["y"] + box["height"] / 2

    page.mouse.move(box["x"] + 0.5 * box["width"], middle)
    texts = page.locator("#result .u-legend").first.locator(".u-value").all_inner_texts()
    time, value, *_ = (float(text) for text in texts if text)
    assert (time, value) == pytest.approx((2.0, 3 * np.exp(-2)), rel=0.1)

    def dragged(begin: float, end: float) -> list[float]:
        page.mouse.move(box["x"] + begin * box["width"], middle)
        page.mouse.down()
        page.mouse.move(box["x"] + end * box["width"], middle, steps=4)
        page.mouse.up()
        return section(page)

    assert section(page) == pytest.approx([0.0, 4.0])
    assert dragged(0.25, 0.75) == pytest.approx([1.0, 3.0], abs=0.05)
    page.keyboard.down("Shift")
    assert dragged(0.75, 0.25) == pytest.approx([2.0, 4.0], abs=0.1)
    page.keyboard.up("Shift")
    page.mouse.dblclick(box["x"] + 0.5 * box["width"], middle)
    assert section(page) == pytest.approx([0.0, 4.0])
    page.click("button[aria-label='Zoom in']")
    assert section(page) == pytest.approx([0.6, 3.4])
    page.locator("#result .chart").first.focus()
    page.keyboard.press("0")
    assert section(page) == pytest.approx([0.0, 4.0])


def touch(page: Any, *moves: list[tuple[float, float]]) -> None:
    """Fingers that go from the first places to the last ones, and leave the screen."""
    session = page.context.new_cdp_session(page)
    for kind, places in zip(["touchStart", *["touchMove"] * (len(moves) - 1)], moves, strict=True):
        points = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(places)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_two_fingers_zoom_and_one_moves(phone: Any) -> None:
    drop(phone, DECAY, "decay.csv")
    phone.wait_for_selector("#preview table")
    fit(phone)
    phone.wait_for_selector(EQUATIONS, timeout=LONG)
    assert "two zoom" in phone.inner_text("#result")
    chart = phone.locator("#result .u-over").first
    chart.scroll_into_view_if_needed()
    phone.wait_for_timeout(1000)  # the page has come to rest
    box = chart.bounding_box()
    middle = box["y"] + box["height"] / 2

    def across(*shares: float) -> list[tuple[float, float]]:
        return [(box["x"] + share * box["width"], middle) for share in shares]

    assert section(phone) == pytest.approx([0.0, 4.0])
    touch(phone, across(0.4, 0.6), across(0.35, 0.65), across(0.3, 0.7))
    assert section(phone) == pytest.approx([1.0, 3.0], abs=0.05)  # twice as far apart: half of the time
    touch(phone, across(0.7), across(0.5), across(0.2))
    assert section(phone) == pytest.approx([2.0, 4.0], abs=0.05)
    values = phone.locator("#result .u-legend").first.locator(".u-value").all_inner_texts()
    assert float(values[0]) == pytest.approx(2.4, abs=0.1)  # the time under the finger
    phone.wait_for_timeout(1000)  # a finger that comes at once only ends the swipe
    phone.locator("button[aria-label='Show all times']").tap()
    assert section(phone) == pytest.approx([0.0, 4.0])


def test_a_finger_turns_a_portrait_of_three_variables(phone: Any) -> None:
    rows = [f"{t:.3f},{np.cos(t):.6f},{np.sin(t):.6f},{np.exp(-t):.6f}" for t in np.linspace(0.0, 6.0, 50)]
    drop(phone, "t,x,y,z\n" + "\n".join(rows), "spiral.csv")
    phone.wait_for_selector("#preview table")
    fit(phone, "2")
    phone.wait_for_selector(EQUATIONS, timeout=LONG)
    portrait = phone.locator("svg[aria-label^='Phase']")
    portrait.scroll_into_view_if_needed()
    phone.wait_for_timeout(1000)
    box = portrait.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    before = portrait.locator("polyline").first.get_attribute("points")
    touch(phone, [(x, y)], [(x + 20, y)], [(x + 60, y)])
    assert portrait.locator("polyline").first.get_attribute("points") != before


def test_the_nearest_of_many_trajectories_is_named(page: Any) -> None:
    rows = [f"{k},{t:.2f},{k * np.exp(-t):.6f}" for k in range(1, 9) for t in np.linspace(0.0, 3.0, 12)]
    drop(page, "run,t,x\n" + "\n".join(rows), "runs.csv")
    page.wait_for_selector("text=8 trajectories")
    fit(page, "2")
    page.wait_for_selector(EQUATIONS, timeout=LONG)
    chart = page.locator("#result .u-over").first
    chart.scroll_into_view_if_needed()
    page.wait_for_timeout(1000)
    box = chart.bounding_box()
    page.mouse.move(box["x"] + 2, box["y"] + 2)  # the highest curve at the beginning
    text = page.locator("#result .chart p").first.inner_text()
    assert text in ("t: 0, data 8: 8", "t: 0, system 8: 8")
