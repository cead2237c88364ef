"""The page in a real browser, headless Chromium: from dropping a file to the downloaded report."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from odefinder import ODEFormer

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright drives the browser")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium (apt-get install chromium)"),
    pytest.mark.skipif(os.name == "nt", reason="the server is ended by a signal"),
]
LONG = 240_000  # milliseconds: a first fit compiles
EQUATIONS = "#result .equations .katex"
REFUSED = "status of 400"  # what Chromium says of each upload that gets an error message
T = np.linspace(0.0, 4.0, 40)
DECAY = "t,x,y\n" + "\n".join(f"{t:.4f},{3 * np.exp(-t):.8f},{2 * np.exp(-2 * t):.8f}" for t in T)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    command = [sys.executable, "-m", "odefinder", "app", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            assert server.stdout is not None
            found = re.search(r"http://\S+", server.stdout.readline())
            assert found is not None
            yield found[0]
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(timeout=60)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    """The page; at the end nothing may have gone wrong: no error, no request to another host, no dialog."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page, problems = context.new_page(), list[str]()

    def heard(message: Any) -> None:
        if REFUSED not in message.text:
            problems.append(f"console: {message.text}")

    def asked(request: Any) -> None:
        if not request.url.startswith((address, "blob:", "data:")):
            problems.append(f"request: {request.url}")

    page.on("console", heard)
    page.on("pageerror", lambda error: problems.append(f"error: {error}"))
    page.on("dialog", lambda dialog: (problems.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("request", asked)
    page.set_default_timeout(60_000)
    page.goto(address)
    page.wait_for_selector("#options input", state="attached")
    yield page
    context.close()
    assert problems == []


def drop(page: Any, *texts_and_names: str) -> None:
    make = """(given) => {
        const data = new DataTransfer();
        for (let k = 0; k < given.length; k += 2) data.items.add(new File([given[k]], given[k + 1]));
        return data;
    }"""
    page.dispatch_event("#drop", "drop", {"dataTransfer": page.evaluate_handle(make, list(texts_and_names))})


def fit(page: Any, seconds: str = "3") -> None:
    page.fill("[name=time_budget]", seconds)
    page.click("#options summary")
    page.uncheck("[name=network]")
    page.click("#start")


def saved(page: Any, words: str, folder: Path) -> Path:
    with page.expect_download() as download:
        page.click(f"text={words}")
    target = folder / download.value.suggested_filename
    download.value.save_as(target)
    return target


def test_from_a_dropped_file_to_the_report(page: Any, tmp_path: Path) -> None:
    drop(page, DECAY, "decay.csv")
    page.wait_for_selector("#preview table")
    assert page.input_value("select[aria-label='Role of t']") == "time"
    fit(page)
    page.wait_for_selector("#result .equations .katex", timeout=LONG)
    assert page.is_hidden("#live")
    page.wait_for_selector("#result .equations + p + div table")  # errors of the constants

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


def section(page: Any) -> list[float]:
    """The times that the charts of the result show: the same in all of them."""
    own = 'document.querySelector("#result").contains(plot.root)'
    shown = page.evaluate(
        f"""uPlot.sync("odefinder").plots.filter((plot) => {own})
            .map((plot) => [plot.scales.x.min, plot.scales.x.max])"""
    )
    assert all(one == pytest.approx(shown[0]) for one in shown)
    return list(shown[0])


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
