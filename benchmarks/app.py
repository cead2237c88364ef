"""The page in a real browser: from a sample to the report, and how fast sliders are.

    pip install playwright; python benchmarks/app.py [--pictures docs/images] [--gallery]

It needs Chromium (`apt-get install chromium`).  It prints what went wrong (messages in the console, requests
to other hosts) and the frames per second while a slider moves, and makes the pictures of the documentation.
With --gallery, it fits every sample and prints the frames per second of each.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any, Literal

from PIL import Image
from playwright.sync_api import Page, sync_playwright
from served import served

from odefinder.data.files import SAMPLES

FRAMES = """async () => {
  const slider = document.querySelector(".sliders input");
  slider.scrollIntoView({ block: "center" });
  await new Promise((next) => setTimeout(next, 1000));
  const [low, high] = [Number(slider.min), Number(slider.max)];
  const inSight = ({ root }) => {
    const { top, bottom } = root.getBoundingClientRect();
    return document.querySelector("#result").contains(root) && bottom > 0 && top < window.innerHeight;
  };
  const plot = uPlot.sync("odefinder").plots.find(inSight);
  const draw = plot.setData;
  let frames = 0;
  plot.setData = (...given) => { frames += 1; return draw(...given); };
  const begin = performance.now();
  while (performance.now() - begin < 3000) {
    slider.value = String(low + (high - low) * (0.5 + 0.05 * Math.sin(performance.now() / 300)));
    slider.dispatchEvent(new Event("input"));
    await new Promise((next) => requestAnimationFrame(next));
  }
  plot.setData = draw;
  return frames;
}"""
SECONDS = 3  # that FRAMES takes
SCROLL = 'document.querySelector("#result").scrollIntoView()'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=Path, help="Write app.png and app_phone.png into this folder.")
    parser.add_argument("--gallery", action="store_true", help="Frames per second of every sample.")
    arguments = parser.parse_args()
    with served() as (address, _), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 1150})
        problems = watch(page, address)
        if arguments.gallery:
            gallery(page, address)
        else:
            walk(page, address, arguments.pictures)
        print("problems:", problems or "none")
        browser.close()


def watch(page: Page, address: str) -> list[str]:
    """What should not happen."""
    problems: list[str] = []

    def foreign(request: Any) -> None:
        if not request.url.startswith((address, "blob:", "data:")):
            problems.append(f"request to {request.url}")

    page.on("console", lambda message: problems.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: problems.append(f"error: {error}"))
    page.on("request", foreign)
    return problems


def fit(page: Page, address: str, name: str) -> None:
    """A sample, from the beginning to its bands."""
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector("#options input", state="attached")
    page.select_option("#sample", name)
    page.wait_for_selector("#preview table")
    page.click("#start")
    page.wait_for_selector("#result .equations .katex", timeout=300_000)
    page.wait_for_selector("th:text-is('standard error')", timeout=120_000)
    page.wait_for_timeout(3000)  # bands


def gallery(page: Page, address: str) -> None:
    """How fast the sliders of every sample are."""
    for name in SAMPLES:
        fit(page, address, name)
        print(f"{name}: {speed(page)}", flush=True)


def speed(page: Page) -> str:
    """Frames per second while a slider moves, and what they cost: that hardly depends on other work."""
    assert page.context.browser is not None
    session = page.context.browser.new_browser_cdp_session()

    def used() -> float:
        """Seconds of processor time of all processes of the browser."""
        return sum(one["cpuTime"] for one in session.send("SystemInfo.getProcessInfo")["processInfo"])

    before = used()
    frames = page.evaluate(FRAMES)
    cost = 1000.0 * (used() - before) / frames
    load = os.getloadavg()[0]
    return f"{frames / SECONDS:.0f} frames per second, {cost:.0f} ms of processor time each (load {load:.1f})"


def walk(page: Page, address: str, pictures: Path | None) -> None:
    """From a sample to the report."""
    fit(page, address, "hare_lynx")
    if pictures is not None:
        picture(page, pictures / "app.png", 1280, 1560, "light")
        picture(page, pictures / "app_phone.png", 390, 844, "dark")
        page.set_viewport_size({"width": 1280, "height": 900})
    print(f"while a slider moves: {speed(page)}")
    page.click("text=Back to the result")
    page.click(".candidates tbody tr >> nth=1")
    page.wait_for_selector(".candidates tbody tr:nth-child(2).chosen")
    with tempfile.TemporaryDirectory() as folder:
        for words in ("Model (JSON)", "Report (HTML)", "Portrait (SVG)"):
            with page.expect_download(timeout=120_000) as download:
                page.click(f"text={words}")
            target = Path(folder) / download.value.suggested_filename
            download.value.save_as(target)
            print(f"{target.name}: {target.stat().st_size} bytes")
    page.set_viewport_size({"width": 360, "height": 800})
    page.wait_for_timeout(1000)
    print("width of the page at 360 px:", page.evaluate("document.documentElement.scrollWidth"))


def picture(page: Page, path: Path, width: int, height: int, scheme: Literal["light", "dark"]) -> None:
    """The result as a window of this size shows it."""
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": height})
    page.wait_for_timeout(1000)
    page.evaluate(SCROLL)
    page.wait_for_timeout(1000)
    page.screenshot(path=path)
    Image.open(path).convert("RGB").quantize(128).save(path, optimize=True)  # a third of the size


if __name__ == "__main__":
    main()
