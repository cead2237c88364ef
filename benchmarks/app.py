"""The page in a real browser: from a sample to the report, and how fast sliders are.

    pip install playwright; python benchmarks/app.py [--pictures docs/images]

It needs Chromium (`apt-get install chromium`).  It prints what went wrong (messages in the console, requests
to other hosts) and the frames per second while a slider moves, and makes the pictures of the documentation.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path
from typing import Any, Literal

from PIL import Image
from playwright.sync_api import Page, sync_playwright
from served import served

FRAMES = """async () => {
  const slider = document.querySelector(".sliders input");
  const [low, high] = [Number(slider.min), Number(slider.max)];
  let frames = 0;
  const watcher = new MutationObserver(() => { frames += 1; });
  const portrait = document.querySelector("#result svg[aria-label^='Phase']");
  watcher.observe(portrait, { attributes: true, childList: true, subtree: true });
  const begin = performance.now();
  while (performance.now() - begin < 3000) {
    slider.value = String(low + (high - low) * (0.6 + 0.1 * Math.sin(performance.now() / 300)));
    slider.dispatchEvent(new Event("input"));
    await new Promise((next) => requestAnimationFrame(next));
  }
  watcher.disconnect();
  return frames / 3;
}"""
SCROLL = 'document.querySelector("#result").scrollIntoView()'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=Path, help="Write app.png and app_phone.png into this folder.")
    arguments = parser.parse_args()
    with served() as (address, _), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 1150})
        problems = watch(page, address)
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


def walk(page: Page, address: str, pictures: Path | None) -> None:
    """From a sample to the report."""
    page.goto(address)
    page.wait_for_selector("#options input", state="attached")
    page.select_option("#sample", "hare_lynx")
    page.wait_for_selector("#preview table")
    page.click("#start")
    page.wait_for_selector("#result .equations .katex", timeout=300_000)
    page.wait_for_selector("th:text-is('standard error')", timeout=120_000)
    page.wait_for_timeout(3000)  # bands
    if pictures is not None:
        picture(page, pictures / "app.png", 1280, 1240, "light")
        picture(page, pictures / "app_phone.png", 390, 844, "dark")
        page.set_viewport_size({"width": 1280, "height": 900})
    print(f"frames per second while a slider moves: {page.evaluate(FRAMES):.0f}")
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
