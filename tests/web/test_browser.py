"""The page in a real browser, headless Chromium: from dropping a file to the downloaded report."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from odefinder import ODEFormer
from tests.web.browsing import DECAY, EQUATIONS, LONG, NEEDS_BROWSER, drop, fit, saved

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright drives the browser")
pytestmark = NEEDS_BROWSER


def test_from_a_dropped_file_to_the_report(page: Any, tmp_path: Path) -> None:
    drop(page, DECAY, "decay.csv")
    page.wait_for_selector("#preview table")
    assert page.input_value("select[aria-label='Role of t']") == "time"
    fit(page)
    page.wait_for_selector("#result .equations .katex", timeout=LONG)
    assert page.is_hidden("#live")
    page.wait_for_selector("[aria-label='Constants'] table")  # errors of the constants

    first = page.inner_text("#result .equations")
    page.click(".candidates tbody tr >> nth=1")
    page.wait_for_selector(".candidates tbody tr:nth-child(2).chosen")
    sync_api.expect(page.locator("#result .equations")).not_to_have_text(first)

    before = page.inner_text("#result .equations")
    slider = page.locator(".sliders input").first
    slider.focus()
    for _ in range(20):
        page.keyboard.press("ArrowRight")
    sync_api.expect(page.locator("#result .equations")).not_to_have_text(before)
    page.click("text=Back to the result")

    for form in ("julia", "sbml", "latex"):
        page.select_option("select[aria-label='Form to copy']", form)
    sync_api.expect(page.locator(".source").last).to_contain_text("aligned")
    page.click("button:text-is('Copy')")
    page.wait_for_selector("text=Copied")
    assert "aligned" in page.evaluate("navigator.clipboard.readText()")

    report = saved(page, "Report (HTML)", tmp_path).read_text(encoding="utf-8")
    assert "<svg" in report
    assert "src=" not in report  # nothing comes from elsewhere
    assert "<svg" in saved(page, "Portrait (SVG)", tmp_path).read_text(encoding="utf-8")
    assert saved(page, "Figure (PNG)", tmp_path).read_bytes().startswith(b"\x89PNG")
    model = saved(page, "Model (JSON)", tmp_path)
    assert ODEFormer.load(model).chosen_ == 1

    page.reload()
    page.wait_for_selector("#options input", state="attached")
    assert page.locator(".candidates tbody tr:nth-child(1).chosen").count() == 1  # the result is still there
    drop(page, model.read_text(encoding="utf-8"), "model.json")
    page.wait_for_selector(".candidates tbody tr:nth-child(2).chosen")


def test_a_poor_fit_offers_what_may_help_and_a_mistake_is_shown_at_its_field(page: Any) -> None:
    swing = "t,x\n" + "\n".join(f"{t:.3f},{np.cos(2 * t):.8f}" for t in np.linspace(0.0, 6.0, 60))
    drop(page, swing, "swing.csv")
    page.wait_for_selector("#preview table")
    page.fill("[name=operators]", "cosh")
    fit(page, "2")
    page.wait_for_selector("#error-operators", timeout=LONG)
    assert "cosh" in page.inner_text("#error-operators")
    page.fill("[name=operators]", "")
    page.click("#start")
    page.wait_for_selector("text=Fit with order 2", timeout=LONG)
    page.click("text=Fit with order 2")
    sync_api.expect(page.locator("#result .equations")).to_contain_text(r"\ddot{x}", timeout=LONG)
    assert page.input_value("[name=order]") == "2"
    assert page.locator("text=Fit with order 2").count() == 0


def test_roles_and_mistakes(page: Any) -> None:
    drop(page, DECAY, "decay.csv")
    page.wait_for_selector("#preview table")
    page.select_option("select[aria-label='Role of y']", "input")
    page.wait_for_selector("text=y (input)")
    page.select_option("select[aria-label='Role of x']", "ignore")
    sync_api.expect(page.locator("#data-error")).to_have_text("no column is observed; choose at least one")
    assert page.is_hidden("#fit")
    page.click("#paste")
    page.fill("#pasted", "t,x\n0,1\n1,two\n")
    page.click("#use-pasted")
    sync_api.expect(page.locator("#data-error")).to_contain_text("pasted.csv")
    drop(page, "t,x\n0,1\n1,2\n2,3\n3,4\n", "slow.csv", "t,x\n0,1\n1,3\n2,5\n3,7\n", "fast.csv")
    page.wait_for_selector("text=2 trajectories")
    page.select_option("select[aria-label='Unit of time']", "hours")
    page.wait_for_selector("text=t (hours) from 0 to 3")


def test_inputs_on_times_of_their_own(page: Any) -> None:
    drop(page, DECAY, "decay.csv")
    page.wait_for_selector("#preview table")
    force = "t,u\n" + "\n".join(f"{t:.2f},{np.sin(t):.6f}" for t in np.linspace(0.0, 4.0, 100))
    file = {"name": "force.csv", "mimeType": "text/csv", "buffer": force.encode()}
    page.set_input_files("#preview input[type=file]", file)
    page.wait_for_selector("text=Inputs with times of their own: force.csv")
    assert page.locator("#preview .u-title:text-is('u (input)')").count() == 1
    page.set_input_files("#preview input[type=file]", {**file, "buffer": b"a,b\n1,2\n"})
    sync_api.expect(page.locator("#data-error")).to_contain_text("force.csv: it has no column of times")
    page.click("text=Remove it")
    page.wait_for_selector("text=Inputs with times of their own: none")
    assert page.is_hidden("#data-error")


def test_stop_keeps_the_best_so_far(page: Any) -> None:
    page.select_option("#sample", "hare_lynx")
    page.wait_for_selector("#preview table")
    fit(page, "120")
    page.wait_for_selector(f"#live .katex, {EQUATIONS}", timeout=LONG)  # the best so far, or it was quick
    if page.is_visible("#stop"):
        page.click("#stop")
    page.wait_for_selector("#result .equations .katex", timeout=LONG)
    assert page.locator(".candidates tbody tr").count() > 0


def test_a_phone_in_the_dark(page: Any) -> None:
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.emulate_media(color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    page.set_viewport_size({"width": 360, "height": 740})
    page.select_option("#sample", "pendulum")
    page.wait_for_selector("#preview .uplot")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    page.keyboard.press("Tab")  # something has the focus, and shows it
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"


def test_a_hostile_file(page: Any) -> None:
    evil = "<script>alert(1)</script>"
    image = "<img src=x onerror=alert(2)>"
    header = f't,"{evil}","{image}"'
    rows = "\n".join(f"{k},{k * k % 7},{k % 5}" for k in range(12))
    drop(page, f"{header}\n{rows}\n", f"{image}.csv")
    page.wait_for_selector("#preview table")
    assert evil in page.inner_text("#preview")
    assert page.locator("#preview img").count() == 0
    assert page.locator("#preview script").count() == 0
    drop(page, "\x00\x01", "a.bin")
    sync_api.expect(page.locator("#data-error")).to_contain_text("a.bin")
